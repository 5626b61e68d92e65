"""Contacts and planting of degenerate bodies: all joints in one place, no levers, lying, upside down. Only numbers come out."""

import dataclasses

import numpy as np
import pytest

from twobone_addon.core.contacts.feet import FeetMotion
from twobone_addon.core.contacts.finding import Thresholds, find_story
from twobone_addon.core.contacts.ground import ground_height, ground_velocity
from twobone_addon.core.contacts.points import as_it_rolls, as_it_stands, foot_points, posed_point
from twobone_addon.core.contacts.states import on_ball, on_heel
from twobone_addon.core.planting.blends import Ease
from twobone_addon.core.planting.cycles import round_way, ways_gone
from twobone_addon.core.planting.goals import SAMPLES_PER_FRAME, PutDown, eased_ankles, foot_goals, without_ways
from twobone_addon.core.planting.heels import with_heels_up
from twobone_addon.core.planting.knees import calming_moves, gentler, knee_angles, links_of
from twobone_addon.core.planting.pins import Foot, find_pins
from twobone_addon.core.planting.root_fit import needed_moves, shortest_moves, smooth_moves
from twobone_addon.core.rig.rotations import about_axis

DRAWS = range(40)
DOWN = np.array([0.0, 0.0, -1.0])
SIZES = (0.0, 1e-38, 1e-12, 1e-5, 1.0, 1e5)
"""Lengths of levers, links and moves; mostly of the fourth kind or the fifth."""
TURNS = {"upright": 0.0, "lying": np.pi / 2.0, "upside down": np.pi, "aslant": 1.0}


class Body:
    """Two legs drawn by chance, each part of which may be nothing."""

    def __init__(self, seed):
        self.draw = np.random.default_rng(seed)
        self.frames = int(self.draw.integers(2, 24))
        self.rate = float(self.draw.choice([24.0, 120.0]))
        self.scale = float(self.draw.choice([1e-4, 1.0, 100.0]))
        self.turn = about_axis(np.array([[1.0, 0.0, 0.0]]), np.array([self.draw.choice(list(TURNS.values()))]))[0]

    def size(self):
        return self.scale * float(self.draw.choice(SIZES, p=[0.25, 0.05, 0.1, 0.1, 0.45, 0.05]))

    def vector(self):
        if self.draw.random() < 0.3:  # Exactly along an axis: collinear and coinciding points happen.
            return self.size() * np.eye(3)[self.draw.integers(3)] * self.draw.choice([-1.0, 1.0])
        way = self.draw.normal(size=3)
        return self.size() * way / np.linalg.norm(way)

    def path(self, count):
        """Positions `(count, 3)`: resting, going at one speed, jumping, or anywhere."""
        along = np.linspace(0.0, 1.0, count)[:, None] * self.vector()
        shaken = self.size() * 0.1 * self.draw.normal(size=(count, 3)) * (self.draw.random() < 0.3)
        jump = np.where(np.arange(count)[:, None] > count // 2, self.vector(), 0.0) * (self.draw.random() < 0.2)
        return self.vector() + along + shaken + jump

    def turns(self, count):
        axis = self.draw.normal(size=(1, 3))
        angles = np.linspace(0.0, self.draw.choice([0.0, 0.3, np.pi, 20.0]), count)
        return about_axis(np.tile(axis / np.linalg.norm(axis), (count, 1)), angles) @ self.turn

    def states(self):
        states = self.draw.integers(0, 4, self.frames)
        states[self.frames // 4 : 3 * self.frames // 4] = self.draw.integers(0, 4)
        return states


def are_numbers(*found):
    return all(np.isfinite(np.asarray(each, dtype=float)).all() for each in found)


@pytest.mark.parametrize("seed", DRAWS)
def test_points_and_contacts_of_a_foot_are_numbers(seed):
    body = Body(seed)
    rest, linear = np.eye(4), body.turns(1)[0] * (body.scale if body.draw.random() < 0.3 else 1.0)
    rest[:3, :3], rest[:3, 3] = linear, body.vector()
    toe = np.eye(4)
    toe[:3, 3] = rest[:3, 3] + body.vector()
    points = foot_points(
        foot_rest=rest,
        foot_length=body.size(),
        toe_rest=toe if body.draw.random() < 0.5 else None,
        joints_below=rest[:3, 3] + np.array([body.vector() for _ in range(body.draw.integers(0, 4))]).reshape(-1, 3),
        up_armature=body.turn @ [0.0, 0.0, 1.0],
        leg_length=body.size(),
        leg=np.array([body.vector() for _ in range(3)]),
        seen=rest[:3, 3] + np.array([body.vector() for _ in range(4)]) if body.draw.random() < 0.4 else None,
    )
    poses = np.tile(np.eye(4), (body.frames, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = body.turns(body.frames), body.path(body.frames)
    length = body.size()
    for refined in (points, as_it_stands(points, poses, body.states()), as_it_rolls(points, poses, body.states(), length)):
        assert are_numbers(refined.heel, refined.ball, refined.ball_height, refined.up, refined.ankle_height)
        placed = np.array([[posed_point(point, poses) for point in (refined.heel, refined.ball)] for _ in range(2)])
    hips = np.stack([body.path(body.frames) for _ in range(2)])
    feet = FeetMotion(placed, placed[..., 2], hips, length or body.scale, body.rate)
    velocity, height = ground_velocity(feet), ground_height(feet)
    assert are_numbers(velocity, height, feet.is_over_feet())
    story = find_story(feet.beside(velocity).over(height), Thresholds())
    assert are_numbers(*(dataclasses.astuple(each) for foot in story.stances for each in foot))


@pytest.mark.parametrize("seed", DRAWS)
def test_feet_and_roots_of_planted_legs_are_numbers(seed):
    body = Body(seed)
    samples = (body.frames - 1) * SAMPLES_PER_FRAME + 1
    foot = Foot(body.path(samples), body.turns(samples), body.vector(), body.vector())
    at_frames, length = foot.on(slice(None, None, SAMPLES_PER_FRAME)), body.size() or body.scale
    states = without_ways(at_frames, body.states(), length, body.rate)
    on_floor = PutDown(lambda _place, is_ball, _row: 0.1 * body.scale * is_ball, 1e-4 * length)
    down = on_floor if body.draw.random() < 0.5 else None
    pins = find_pins(at_frames, on_heel(states), on_ball(states), None if down is None else down.heights)
    goals = foot_goals(foot, on_heel(states), on_ball(states), settled=1e-6 * length, down=down)
    joints = np.stack([body.path(samples), body.path(samples), foot.ankles], axis=1)
    links = links_of(joints)
    reaches = links.sum(axis=1)
    raised = with_heels_up(
        foot, goals, on_heel=np.zeros(samples, bool), hips=joints[:, 0], reaches=reaches, window=SAMPLES_PER_FRAME
    )
    ankles, _ = eased_ankles(raised, foot.ankles, Ease(4, 12, 0.1 * length, 2))
    assert are_numbers(raised.turns, ankles, *(pin.place for pin in pins.pins), *(stand.turn for stand in pins.stands))
    ways, wanted = (ankles - joints[:, 0])[None], raised.pinned[None]
    needs = needed_moves(ways, reaches[None], wanted, DOWN, least=-length, most=length)
    assert are_numbers(smooth_moves(needs, 5), shortest_moves(ways, reaches[None], wanted))

    def angles(moves):
        return knee_angles(ways[0] + moves[:, None] * length * DOWN, links)[None]

    bounds = {"low": np.full(samples, -2e-3), "high": np.full(samples, 2e-3)}
    calm = calming_moves(angles, np.zeros(samples), np.array([1e-3]), np.ones((1, samples), bool), **bounds)
    assert are_numbers(angles(calm), calm, gentler(states, np.ones(body.frames, bool)))
    gone = ways_gone(joints, foot.points(foot.heel), foot.points(foot.ball))
    way = round_way(gone, length)
    assert way is None or are_numbers(way)
