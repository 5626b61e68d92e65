"""A rig's controls steered to where its IK does what the limb does: tried, looked at, and put right until it does.

Nothing about the rig between a control and what it moves needs to be understood: offsets, parents, constraints, foot rolls
and pole angles are all in what Blender shows. A control is moved by as much as the IK's target is off, and turned about it by
as much as the end bone is; where the rig in between is rigid, that is exact at once.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....core.rig.bones import BoneChannels
from ....core.rig.rotations import about_axis, unit
from ....core.rig.steering import Relaxation, bends, displacement, hinges, rolled, rolls, rotation_vectors, without_rotation
from ....scene.sampling.quantities import Samples
from .controls import Control
from .goals import Goals, Seen, end_errors, joint_errors, misses, seen_in
from .plans import ControlPlan

TRIAL_STEPS = (2e-3, 5e-2)
"""By how much the base's scale (its logarithm) and pitch (radians) are changed to find out what that does."""

NEAR_STEPS = (1e-4, 2e-3)
"""The same where it is smooth."""

FEW_ROUNDS = ((0.0, False), (0.0, True), (0.0, True))
"""By how much the pitch, radians, is changed before a round, and whether its changes are small."""

KICKS = (0.08, -0.08, 0.16, -0.16, 0.24, -0.24, 0.05, -0.05, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)
SHAPE_ROUNDS = (*FEW_ROUNDS, *(each for kick in KICKS for each in ((kick, False), (0.0, True))))
"""The same where only the base turns the limb: other beginnings for the frames that are not there."""

CHORDS = 2
"""Steps that are taken with what was found out."""

LARGEST_STEPS = (0.02, 0.3)
"""By which scale (its logarithm) and pitch (radians) change in a round."""

SINGULAR = 2e-4
"""Ratio of the effects of two combinations of them below which the weaker one does nothing."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Shapes and turns of a base, targets, and what they lead to."""

    shape: Array
    """`(F, 2)`"""
    turn: Array
    """`(F,)`"""
    beyond: Array
    """`(F, 3)`"""
    off: Array
    """`(F, 4)` errors of the joints."""
    short: Array
    """`(F, 3)` from the tip to its goal, world units."""
    held: dict[str, BoneChannels]
    """What the controls held, by their roles. To be put back as it was: other last bits make the IK's search end elsewhere."""

    def or_better(self, other: Tried) -> Tried:
        """The same with those of the frames at which the other ones are better."""
        better = magnitude(other.off) < magnitude(self.off)
        at = better[:, None]
        shape, off = np.where(at, other.shape, self.shape), np.where(at, other.off, self.off)
        beyond = np.where(at, other.beyond, self.beyond)
        held = {role: _chosen(better, channels, self.held[role]) for role, channels in other.held.items()}
        short = np.where(at, other.short, self.short)
        return Tried(shape, np.where(better, other.turn, self.turn), beyond, off, short, held)


def _chosen(better: Array, channels: BoneChannels, others: BoneChannels) -> BoneChannels:
    at = better[:, None]
    rotation = np.where(at[:, None], channels.rotation, others.rotation)
    return BoneChannels(np.where(at, channels.location, others.location), rotation, np.where(at, channels.scale, others.scale))


def trial_steps(*, near: bool) -> Array:
    """Changes `(2, 2)` of scale and pitch, one of each."""
    return np.diag(NEAR_STEPS if near else TRIAL_STEPS)


def inverse_of(effects: Sequence[Array]) -> Array:
    """From how far the middle joint is off to scale and pitch, `(F, 2, 2)`; effects of each `(F, 2)`."""
    return np.linalg.pinv(np.stack(effects, axis=-1), rcond=SINGULAR)


def step_towards(inverse: Array, off: Array) -> Array:
    """Changes `(F, 2)` of scale and pitch against errors of the joints `(F, 4)`."""
    return np.clip(-(inverse @ off[:, :2, None])[..., 0], -np.array(LARGEST_STEPS), LARGEST_STEPS)


Steering = Generator[None, Samples, None]
"""Wants to see the rig with the channels that it has set, until it is content."""

NEAR = 2e-6
"""Distance from a goal, relative to the limb's length, that is as near as single precision gets."""

TURNED = 5e-6
"""Radians, the same."""

FOLLOWS = 0.05
"""Change of a rotation matrix from which on the end bone turns with a control that is turned by four times as much."""

RIGHT = 2e-5
"""Joints that are off by less, relative to the limb's length, need no further control."""

RESIDUAL = 2e-3
"""Distance of the tip from the IK's target, relative to the limb's length, that is what the IK's search leaves; more is out
of its reach."""

TIP_ROUNDS = 4
"""Of making up for that."""

ROUNDS = 24
"""Of moving the controls; a rigid rig needs two."""

NOISE = 3.0
"""Times what counts as there, below which what a step came to says nothing about the next one."""

FARTHEST = 8.0
"""Times what is missing by which a control is moved at most in a round: a Child Of of little influence takes most of it away."""

WIDEST = 1.5
"""The same for its turns."""


@dataclass(slots=True)
class SteeredLimb:
    """One limb while its controls are on trial."""

    control: ControlPlan
    goals: Goals
    held: dict[str, BoneChannels]
    """What each control holds now, by its role."""
    used: set[str]
    """Roles of the controls that are keyed."""
    seen: Seen | None = None
    turn: Array = field(default_factory=lambda: np.zeros(0))
    """`(F,)` by which the base is turned about the limb's line."""
    shape: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """`(F, 2)` scale (logarithm) and pitch of the base."""
    beyond: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(F, 3)` by how much the IK's target is put beyond its goal, because the IK leaves the tip that much short of it."""
    scales: bool = False
    """Whether the base's scale is keyed."""
    moves: Relaxation = field(default_factory=lambda: Relaxation(1.0, 1.0))
    turns: Relaxation = field(default_factory=lambda: Relaxation(1.0, 1.0))

    def steer(self) -> Steering:
        """Set the controls, round by round."""
        self.beyond = np.zeros((len(self.goals.joints), 3))
        yield from self._look()
        if self.goals.end is not None:
            yield from self._try_turning()
        self._place_pole()
        yield from self._settle()
        yield from self._reach_tip()
        if self.control.base is not None and self.control.ik is not None and self._joint_error() > RIGHT:
            yield from self._use_base()
        yield from self._look()

    def aim_errors(self) -> Array:
        """How far `(F,)` the IK's target is from where it has to be, world units."""
        return magnitude(self.now().aim - self.goals.aim - self.beyond)

    @property
    def tolerance(self) -> float:
        """World units that single precision cannot tell from nothing."""
        far = float(np.abs(self.goals.joints).max())
        return NEAR * (self.goals.length + 0.2 * far)

    def _look(self) -> Steering:
        samples = yield
        self.seen = seen_in(self.control, self.goals, samples)

    def now(self) -> Seen:
        """What was seen last."""
        if self.seen is None:
            raise RuntimeError("nothing has been looked at yet")
        return self.seen

    def _joint_error(self) -> float:
        return float(joint_errors(self.goals, self.now()).max()) / self.goals.length

    def _try_turning(self) -> Steering:
        """Find out whether the end bone turns with the control; if not, the control itself is turned like the end bone."""
        if self.goals.of_control:
            return
        seen, kept = self.now(), self.held["Target"]
        before, turn = seen.end, about_axis(np.array([0.6, 0.0, 0.8]), np.full(len(seen.aim), 0.2))
        self._change(self.control.target, displacement(turn, seen.aim, seen.aim))
        yield from self._look()
        after = self.now().end
        if before is None or after is None or np.abs(after - before).max() < FOLLOWS:
            self.goals = replace(self.goals, end=self.goals.own_end, of_control=True)
        self.held["Target"] = kept
        yield from self._look()

    def _place_pole(self) -> None:
        """Put the pole into the limb's plane, beyond the middle joint."""
        pole, seen = self.control.pole, self.now()
        if pole is not None and seen.pole is not None and self.goals.poles is not None:
            still = np.broadcast_to(np.eye(3), (len(seen.pole), 3, 3))
            self._change(pole, displacement(still, seen.pole, self.goals.poles))

    def _settle(self) -> Steering:
        self.moves, self.turns = Relaxation(FARTHEST, NOISE * self.tolerance), Relaxation(WIDEST, NOISE * TURNED)
        for _ in range(ROUNDS):
            self._correct_target()
            yield from self._look()
            turned = self._correct_roll()
            if not turned and self._is_there():
                return

    def _reach_tip(self) -> Steering:
        """Put the IK's target beyond its goal by what the IK leaves the tip short of it, as far as that is little."""
        for _ in range(TIP_ROUNDS):
            if not self._go_beyond():
                return
            self._correct_target()
            yield from self._look()
            self._correct_roll()

    def _go_beyond(self) -> bool:
        """Whether there is something to make up for."""
        if self.control.ik is None:
            return False
        short = self.goals.joints[:, 2] - self.now().joints[:, 2]
        size = magnitude(short) / self.goals.length
        self.beyond = self.beyond + np.where((size < RESIDUAL)[:, None], short, 0.0)
        return bool(np.any((size > NEAR) & (size < RESIDUAL)))

    def _is_there(self) -> bool:
        there = bool(np.all(self.aim_errors() <= self.tolerance))
        return there and bool(np.all(end_errors(self.goals, self.now()) <= TURNED))

    def _correct_target(self) -> None:
        """Bring the target to its goal, and turn it by what the end bone is off."""
        seen = self.now()
        turn = np.broadcast_to(np.eye(3), (len(seen.aim), 3, 3))
        if seen.end is not None and self.goals.end is not None:
            missing = rotation_vectors(self.goals.end @ np.swapaxes(seen.end, -1, -2))
            wanted = self.turns.factors(missing)[:, None] * missing
            turn = about_axis(unit(wanted), magnitude(wanted))
        away = self.goals.aim + self.beyond - seen.aim
        end = seen.aim + self.moves.factors(away)[:, None] * away
        self._change(self.control.target, displacement(turn, seen.aim, end))

    def _correct_roll(self) -> bool:
        """Turn pole or base about the limb's line by as much as the middle joint is off; whether that was worth it."""
        seen = self.now()
        angles = rolls(self.goals.joints, seen.joints[:, 1])
        heights = magnitude(np.cross(hinges(self.goals.joints), self.goals.joints[:, 1] - self.goals.joints[:, 0]))
        if np.all(np.abs(angles) * heights <= self.tolerance):
            return False
        if "Base" in self.used and not self.control.pole_acts:
            self.turn = self.turn + angles
            self._place_base()
            return True
        if self.control.pole is not None and self.control.pole_acts:
            self._change(self.control.pole, rolled(self.goals.joints, angles))
            return True
        return False

    def _change(self, control: Control, change_world: Array) -> None:
        self.held[control.role] = control.changed(self.now().samples, self.held[control.role], change_world)

    def _use_base(self) -> Steering:
        """Turn the first bone of the IK, from which its search starts, and scale it where the IK stretches."""
        count = len(self.goals.joints)
        self.used.add("Base")
        self.turn, self.shape = np.zeros(count), np.zeros((count, 2))
        self._place_base()
        yield from self._look()
        yield from self._settle()
        if self.control.ik is None or not self.control.ik.stretches:
            return
        self.scales = True
        self.shape = np.stack([np.zeros(count), bends(self.goals.joints)], axis=-1)
        self._place_base()
        yield from self._look()
        yield from self._settle()
        yield from self._right_middle()

    def _right_middle(self) -> Steering:
        """Newton's method, frame by frame, for scale and pitch with which the middle joint comes out where it is.

        Blender's IK stops where it is near enough, so that what it makes of them has steps, and is smooth between them: wide
        changes find where to go, small ones get there, and each frame goes on from the best that it has found.
        """
        best = self._made(self.shape, self.turn, self.beyond)
        for kick, near in FEW_ROUNDS if self.control.pole_acts else SHAPE_ROUNDS:
            bad = magnitude(best.off) > RIGHT / 2.0
            if not bad.any():
                break
            start = best
            if kick:
                start = yield from self._tried(best.shape + np.outer(bad, [0.0, kick]), best.turn, best.beyond)
                best = best.or_better(start)
            best = yield from self._better(start, best, near=near)
        self.shape, self.turn, self.beyond, self.held = best.shape, best.turn, best.beyond, best.held

    def _better(self, start: Tried, best: Tried, *, near: bool) -> Generator[None, Samples, Tried]:
        """The best of one round: what small changes from a start do, and steps taken with that."""
        effects = list[Array]()
        for step in trial_steps(near=near):
            shape = start.shape + step
            tried = yield from self._tried_near(start, shape) if near else self._tried(shape, start.turn, start.beyond)
            effects.append((tried.off - start.off)[:, :2] / step.sum())
            best = best.or_better(tried)
        inverse, last = inverse_of(effects), start
        for _ in range(CHORDS):
            shape = last.shape + step_towards(inverse, last.off)
            last = yield from self._tried_near(last, shape, last.short) if near else self._tried(shape, self.turn, self.beyond)
            best = best.or_better(last)
        return best

    def _tried_near(self, start: Tried, shape: Array, beyond: Array | float = 0.0) -> Generator[None, Samples, Tried]:
        """What a shape leads to with nothing else changed, but for the target, which may be put farther beyond its goal."""
        self.held, self.shape, self.turn, self.beyond = dict(start.held), shape, start.turn, start.beyond + beyond
        still, aim = np.broadcast_to(np.eye(3), (len(shape), 3, 3)), self.now().aim
        if np.any(beyond):
            self._change(self.control.target, displacement(still, aim, aim + beyond))
        self._place_base()
        yield from self._look()
        return self._made(shape, self.turn, self.beyond)

    def _made(self, shape: Array, turn: Array, beyond: Array) -> Tried:
        seen = self.now()
        return Tried(shape, turn, beyond, misses(self.goals, seen), self.goals.joints[:, 2] - seen.joints[:, 2], dict(self.held))

    def _tried(self, shape: Array, turn: Array, beyond: Array) -> Generator[None, Samples, Tried]:
        """What these lead to; then turn and target are put so that the next ones have middle joint and tip nearer."""
        self.shape, self.turn, self.beyond = shape, turn, beyond
        self._correct_target()
        self._place_base()
        yield from self._look()
        made = self._made(shape, turn, beyond)
        self.turn = turn + rolls(self.goals.joints, self.now().joints[:, 1])
        self._go_beyond()
        return made

    def _place_base(self) -> None:
        base, seen = self.control.base, self.now()
        if base is None:
            return
        world = seen.samples.every(base.world)[:, :3, :3]
        carried = world / np.cbrt(np.abs(np.linalg.det(world)))[:, None, None]
        start = without_rotation(base.bone, base.parent_pose(seen.samples), len(self.turn))
        turn = rolled(self.goals.joints, self.turn)[:, :3, :3]
        pitch = about_axis(hinges(self.goals.joints), self.shape[:, 1])
        posed = np.linalg.inv(carried) @ pitch @ turn @ carried @ start
        rotation = np.swapaxes(start, -1, -2) @ posed
        held = self.held["Base"]
        scale = np.exp(self.shape[:, :1]) * base.present_scale()
        self.held["Base"] = BoneChannels(held.location, rotation, scale)
