"""Where a foot's two points are, on feet whose measures are known."""

import numpy as np
import pytest

from twobone_addon.core.contacts.points import as_it_rolls, as_it_stands, foot_points, posed_point

UP = np.array([0.0, 0.0, 1.0])
NOTHING_BELOW = np.zeros((0, 3))


def bone(head, tail, *, roll=0.0):
    """Rest matrix of a bone from head to tail: Y along it, turned about it by roll."""
    head, tail = np.array(head, float), np.array(tail, float)
    y = (tail - head) / np.linalg.norm(tail - head)
    x = np.cross(y, [0.3, 0.1, 0.9])
    x /= np.linalg.norm(x)
    z = np.cross(x, y)
    matrix = np.eye(4)
    matrix[:3, :3] = np.stack([x * np.cos(roll) + z * np.sin(roll), y, np.cross(x * np.cos(roll) + z * np.sin(roll), y)], axis=-1)
    matrix[:3, 3] = head
    return matrix


def at_rest(point, rest):
    return posed_point(point, rest[None])[0]


@pytest.mark.parametrize("roll", [0.0, 1.1, -2.0])
def test_the_heel_is_below_the_ankle_on_the_sole_and_the_ball_at_the_toes(roll):
    foot = bone([0.1, 0.0, 0.1], [0.1, -0.15, 0.02], roll=roll)
    toe = bone([0.1, -0.15, 0.02], [0.1, -0.22, 0.01])
    points = foot_points(
        foot_rest=foot, foot_length=0.17, toe_rest=toe, joints_below=np.array([[0.1, -0.22, 0.01]]), up_armature=3.0 * UP
    )
    assert at_rest(points.heel, foot) == pytest.approx([0.1, 0.0, 0.01])
    assert at_rest(points.ball, foot) == pytest.approx([0.1, -0.15, 0.02])
    assert points.ball_height == pytest.approx(0.01)


@pytest.mark.parametrize("floor", [0.0, 100.0, -100.0])
def test_without_toes_the_ball_is_the_foots_tail(floor):
    foot = bone([0.0, 0.0, 2.0 + floor], [0.0, -3.0, floor])
    points = foot_points(foot_rest=foot, foot_length=np.sqrt(13.0), toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP)
    assert at_rest(points.heel, foot) == pytest.approx([0.0, 0.0, floor], abs=1e-12)
    assert at_rest(points.ball, foot) == pytest.approx([0.0, -3.0, floor], abs=1e-12)
    assert points.ball_height == pytest.approx(0.0, abs=1e-12)


def test_the_ball_is_at_the_toes_wherever_an_import_has_put_the_tail_of_the_foot():
    foot, toe = bone([0.0, 0.0, 0.1], [0.0, 0.0, 0.5]), bone([0.0, -0.15, 0.02], [0.0, -0.2, 0.02])
    points = foot_points(foot_rest=foot, foot_length=0.4, toe_rest=toe, joints_below=NOTHING_BELOW, up_armature=UP)
    assert at_rest(points.ball, foot) == pytest.approx([0.0, -0.15, 0.02])
    assert at_rest(points.heel, foot) == pytest.approx([0.0, 0.0, 0.02])


@pytest.mark.parametrize("lowest, sole", [(0.1, 0.0), (0.3, 0.3), (-0.1, -0.1)], ids=["just above", "far above", "below"])
def test_the_sole_is_on_the_floor_where_that_is_a_little_lower_than_the_joints(lowest, sole):
    """Of a leg of one unit: a joint of 0.1 above the origin's height has some sole below it, one of 0.3 stands on a box."""
    foot, toe = bone([0.0, 0.0, lowest + 0.2], [0.0, -0.2, lowest]), bone([0.0, -0.2, lowest], [0.0, -0.3, lowest])
    points = foot_points(
        foot_rest=foot, foot_length=np.sqrt(0.08), toe_rest=toe, joints_below=NOTHING_BELOW, up_armature=UP, leg_length=1.0
    )
    assert at_rest(points.heel, foot) == pytest.approx([0.0, 0.0, sole], abs=1e-12)
    assert points.ball_height == pytest.approx(lowest - sole)


def test_a_paw_whose_end_an_import_has_guessed_stands_below_its_ankle():
    """As the front paws of a glTF fox: the last bone's tail is up, and before the arm."""
    paw = bone([7.0, -17.8, 6.7], [6.4, -28.3, 22.9])
    points = foot_points(
        foot_rest=paw, foot_length=19.35, toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP, leg_length=39.6
    )
    assert at_rest(points.heel, paw) == pytest.approx([7.0, -17.8, 0.0], abs=1e-9)
    assert at_rest(points.ball, paw) == pytest.approx([7.0, -17.8, 0.0], abs=1e-9)
    assert points.ball_height == pytest.approx(0.0, abs=1e-9)


def test_the_ball_of_such_a_paw_is_where_its_mesh_ends_in_front():
    """From 4 behind the ankle to 9 before it, round in front: it begins to rise at 8."""
    paw = bone([7.0, -17.8, 6.7], [6.4, -28.3, 22.9])
    box = np.array([[7.0, y, z] for y, z in ((-13.8, 0.0), (-25.8, 0.0), (-26.8, 1.0), (-20.0, 9.0))])
    points = foot_points(
        foot_rest=paw,
        foot_length=19.35,
        toe_rest=None,
        joints_below=NOTHING_BELOW,
        up_armature=UP,
        leg_length=39.6,
        seen=box,
        source="MESH",
    )
    assert at_rest(points.ball, paw)[1:] == pytest.approx([-25.8, 0.0], abs=1e-9)
    assert at_rest(points.heel, paw)[1:] == pytest.approx([-13.8, 0.0], abs=1e-9)
    assert points.ball_height == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("sees_mesh", [False, True])
@pytest.mark.parametrize("height", [0.16, 0.05])
def test_both_points_of_a_hind_leg_stay_while_its_hoof_stands_and_the_bone_above_it_leans(height, sees_mesh):
    """Five links: the foot's bone ends at a horse's fetlock, or a wolf's paw, and what is below that stands flat."""
    fetlock, hoof = np.array([0.2, 0.77, height]), np.array([[0.2, 0.74, height / 2.0], [0.2, 0.7, 0.0]])
    foot = bone([0.2, 0.73, 0.53], fetlock)
    points = foot_points(
        foot_rest=foot,
        foot_length=0.37,
        toe_rest=bone(fetlock, hoof[0]),
        joints_below=hoof,
        up_armature=UP,
        leg_length=0.68,
        seen=np.array([[0.2, y, 0.0] for y in (0.66, 0.8)]) if sees_mesh else None,
        source="MESH",
    )
    leaning = []
    for angle in np.linspace(-0.4, 0.4, 9):
        turn = np.eye(4)
        turn[1:3, 1:3] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turn[:3, 3] = fetlock - turn[:3, :3] @ fetlock
        leaning.append(turn @ foot)
    for point in (points.heel, points.ball):
        assert np.ptp(posed_point(point, np.array(leaning)), axis=0).max() < 1e-12
    assert points.ball_height == pytest.approx(height)


def test_a_person_whose_foot_is_lifted_at_rest_keeps_a_heel():
    """As in ozz-animation's runner: ankle and ball are as high over the origin's floor as a paw's."""
    points = foot_points(
        foot_rest=bone([0.0, 0.0, 0.23], [0.0, -0.14, 0.09]),
        foot_length=0.2,
        toe_rest=bone([0.0, -0.14, 0.09], [0.0, -0.2, 0.04]),
        joints_below=np.array([[0.0, -0.2, 0.04]]),
        up_armature=UP,
        leg_length=1.0,
    )
    assert not np.allclose(points.heel, points.ball)


def test_in_an_import_y_may_be_up_and_bones_scaled():
    foot = bone([0.0, 9.0, 0.0], [0.0, 0.0, 15.0])
    foot[:3, :3] *= 2.0
    points = foot_points(
        foot_rest=foot,
        foot_length=1.0,
        toe_rest=None,
        joints_below=np.array([[0.0, -1.0, 3.0]]),
        up_armature=np.array([0, 1.0, 0]),
    )
    assert at_rest(points.heel, foot) == pytest.approx([0.0, -1.0, 0.0], abs=1e-12)


def test_a_leg_without_a_foot_stands_on_its_tip():
    lower = bone([0.0, 0.0, 1.0], [0.0, 0.1, 0.0])
    tip = lower.copy()
    tip[:3, 3] = [0.0, 0.1, 0.0]
    points = foot_points(foot_rest=tip, foot_length=0.0, toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP)
    assert at_rest(points.heel, tip) == pytest.approx([0.0, 0.1, 0.0])
    assert at_rest(points.ball, tip) == pytest.approx([0.0, 0.1, 0.0])


def test_a_point_goes_with_its_bone():
    turned = np.array([[0.0, -1, 0, 5], [1, 0, 0, 6], [0, 0, 1, 7], [0, 0, 0, 1]])
    assert posed_point(np.array([1.0, 2.0, 3.0]), np.stack([np.eye(4), turned])).tolist() == [[1, 2, 3], [3, 7, 10]]


def walking_foot(behind, *, slide=0.0, rise=0.0, spread=0.0):
    """Foot and poses `(F, 4, 4)` of a foot that rolls over a heel `behind` the ankle thrice, and its states; 0.1 high.

    It slides so far with each frame, and each landing is higher by `rise`.
    """
    foot = bone([0.0, 0.0, 0.1], [0.0, -0.14, 0.0])
    generator, poses, states = np.random.default_rng(1), [], []
    for landing in range(3):
        for pitch in (*np.linspace(0.35, 0.02, 8), *np.zeros(8)):
            heel = np.array([0.0, -landing - slide * len(poses), landing * rise + spread * generator.normal()])
            cosine, sine = np.cos(-pitch), np.sin(-pitch)
            turn = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = turn @ foot[:3, :3], heel + turn @ np.array([0.0, -behind, 0.1])
            poses.append(pose)
            states.append(1 if pitch else 3)
    points = foot_points(
        foot_rest=foot, foot_length=np.hypot(0.14, 0.1), toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP
    )
    return foot, points, np.array(poses), np.array(states)


@pytest.mark.parametrize("way", [{}, {"slide": 0.004}, {"rise": 0.2}], ids=["in place", "sliding", "on stairs"])
@pytest.mark.parametrize("behind", [0.03, 0.06])
def test_a_foot_that_rolls_over_its_heel_tells_how_far_behind_the_ankle_that_is(behind, way):
    foot, points, poses, states = walking_foot(behind, **way)
    found = as_it_rolls(points, poses, states, 0.9)
    assert at_rest(found.heel, foot) == pytest.approx([0.0, behind, 0.0], abs=1e-9)
    assert found.ball.tolist() == points.ball.tolist()
    assert found.source == "MOTION"


def test_a_heel_below_the_ankle_and_one_that_nothing_tells_stay_where_they_are():
    """That it rolls right below the ankle is known then."""
    for settings, is_known in (({"behind": 0.0}, True), ({"behind": 0.03, "spread": 0.02}, False)):
        _, points, poses, states = walking_foot(**settings)
        rolled = as_it_rolls(points, poses, states, 0.9)
        assert rolled.is_placed_as(points)
        assert rolled.knows_heel == is_known
    assert as_it_rolls(points, poses, np.full(len(poses), 3), 0.9) is points


def test_a_foot_stands_as_it_does_over_the_take_where_its_rest_is_no_stand():
    foot, points, poses, states = walking_foot(0.0)
    lying = np.eye(4)
    lying[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    rest = lying @ foot
    wrong = foot_points(
        foot_rest=rest, foot_length=np.hypot(0.14, 0.1), toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP
    )
    found = as_it_stands(wrong, poses, states)
    assert at_rest(found.heel, foot) == pytest.approx(at_rest(points.heel, foot), abs=0.005)
    assert found.ball_height == pytest.approx(points.ball_height, abs=0.005)
    assert as_it_stands(points, poses, states) is points


@pytest.mark.parametrize("in_line", [False, True], ids=["bent", "in line"])
def test_half_a_right_angle_off_its_rest_a_foot_stands_otherwise_only_if_its_leg_rests_in_one_line(in_line):
    foot = bone([0.0, 0.0, 0.1], [0.0, -0.14, 0.0])
    ankle, link = foot[:3, 3], np.array([0.0, -0.14, -0.1])
    leg = np.array([ankle - 5.0 * link, ankle - 2.5 * link, ankle] if in_line else [ankle + 0.9 * UP, ankle + 0.45 * UP, ankle])
    points = foot_points(
        foot_rest=foot, foot_length=np.hypot(0.14, 0.1), toe_rest=None, joints_below=NOTHING_BELOW, up_armature=UP, leg=leg
    )
    tilted = np.eye(4)
    tilted[1:3, 1:3] = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])
    poses = np.tile(tilted @ foot, (10, 1, 1))
    found = as_it_stands(points, poses, np.full(10, 3))
    up_world = poses[0, :3, :3] @ found.up
    assert up_world == pytest.approx(UP if in_line else tilted[:3, :3] @ UP)


def test_vertices_tell_where_a_foot_ends_below_and_behind():
    foot = bone([0.0, 0.0, 0.1], [0.0, -0.14, 0.02])
    shoe = np.array([[x, y, z] for x in (-0.04, 0.04) for y in (0.05, -0.2) for z in (-0.01, 0.08)])
    points = foot_points(
        foot_rest=foot,
        foot_length=np.hypot(0.14, 0.08),
        toe_rest=None,
        joints_below=NOTHING_BELOW,
        up_armature=UP,
        seen=shoe,
        source="MESH",
    )
    assert at_rest(points.heel, foot) == pytest.approx([0.0, 0.05, -0.01], abs=1e-9)
    assert points.ball_height == pytest.approx(0.03)
    assert points.source == "MESH"
    assert at_rest(points.below(0.2).heel, foot) == pytest.approx([0.0, 0.05, -0.1], abs=1e-9)
