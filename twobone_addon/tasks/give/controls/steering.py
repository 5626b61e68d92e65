"""Steer a rig's controls until its IK reproduces the limb's motion: set them, evaluate, correct, repeat.

Nothing between a control and what it moves needs to be modelled: offsets, parents, constraints, foot rolls and pole angles
are all in the pose that Blender evaluates. A control is moved by the error of the IK's target, and turned about it by the
error of the end bone's rotation; where the rig in between is rigid, that is exact at once.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np

from ....core.array_types import Array, Mask
from ....core.arrays import magnitude, path_length
from ....core.rig.bones import BoneChannels
from ....core.rig.channels import channel_rotations
from ....core.rig.rotations import about_axis, nearest_rotation, unit
from ....core.rig.steering import Relaxation, bends, displacement, hinges, rolls, rotation_vectors, swung, without_rotation
from ....pipeline.motion.plan_motion import points
from ....pipeline.pose.solving import Surroundings
from ....records import replace
from ....scene.lookup import object_named
from ....scene.sampling.quantities import Quantity, Samples
from ..solve import TargetMotion, angles_between
from .plans import Control, ControlPlan


@dataclass(frozen=True, slots=True)
class Goals:
    """Present motion of a limb, world space, which its IK is to reproduce."""

    joints: Array
    """`(F, 3, 3)` root, middle joint and tip."""
    aim: Array
    """`(F, 3)` goal of the IK's target."""
    end: Array | None
    """`(F, 3, 3)` rotation goal of the visible end bone, or of the control itself; `None` where neither rotates."""
    own_end: Array | None
    """`(F, 3, 3)` present rotation of the chain's end bone."""
    of_control: bool
    """Whether the control itself rotates like the end bone, because nothing visible rotates with it."""
    poles: Array | None
    """`(F, 3)` pole places in the limb's plane; `None` without pole."""

    @property
    def length(self) -> float:
        """Largest length of the limb over the frames, world units."""
        return float(path_length(self.joints).max())


def read_goals(control: ControlPlan, solved: TargetMotion, samples: Samples) -> Goals:
    """Goals from samples of the limb's present motion."""
    plan = control.plan
    samples = samples.on(plan.frames)
    world = samples.every(plan.armature_world)
    joints = np.stack([points(world, solved.joints[:, index]) for index in (0, 1, -1)], axis=1)
    lower = world @ samples.every(control.chain_poses[1])
    aim = joints[:, 2]
    if control.ik is not None:
        lower_from_ik_lower = np.linalg.inv(plan.rest.lower.rest) @ control.ik.lower.rest
        aim = points(lower @ lower_from_ik_lower, control.ik.effector)
    end = own_end = None
    if control.turns and control.plan.end_bone is not None:
        end = own_end = nearest_rotation((world @ samples.every(control.chain_poses[2]))[:, :3, :3])
        if shows_end(control):
            end = own_end @ control.end_turn
    return Goals(joints, aim, end, own_end, of_control=not shows_end(control), poles=solved.poles_world)


def shows_end(control: ControlPlan) -> bool:
    """Whether a visible bone rotates in place of the end bone when the limb is on IK."""
    return len(control.shown) > 2  # noqa: PLR2004 - upper, lower, end


@dataclass(frozen=True, slots=True)
class Seen:
    """The limb as the rig's IK poses it, world space."""

    samples: Samples
    joints: Array
    """`(F, 3, 3)` root, middle joint and tip."""
    aim: Array
    """`(F, 3)` the IK's target."""
    pole: Array | None
    """`(F, 3)` the point that the IK's pole follows; `None` without pole."""
    end: Array | None
    """`(F, 3, 3)` rotation of the visible end bone, else of the control; `None` where it has no goal."""


def seen_in(control: ControlPlan, goals: Goals, samples: Samples) -> Seen:
    """Read the limb from samples of the rig on IK."""
    samples = samples.on(control.plan.frames)
    aim = samples.every(control.aim)[:, :3, 3]
    joints = np.stack([*np.moveaxis(goals.joints[:, :2], 1, 0), aim], axis=1)
    if control.shown:
        # Heads of the visible upper and lower bone, and the tip as the last visible bone carries it.
        upper, lower, last = (samples.every(Quantity("WORLD", control.armature, control.shown[at])) for at in (0, 1, -1))
        rest = np.array(object_named(control.armature).data.bones[control.shown[-1]].matrix_local)
        tip = np.linalg.inv(rest) @ [*control.plan.rest.rest_joints()[-1], 1.0]
        joints = np.stack([upper[:, :3, 3], lower[:, :3, 3], points(last, tip[:3])], axis=1)
    end = None
    if goals.end is not None:
        end_node = control.target.node if goals.of_control else (control.armature, control.shown[2])
        matrices = samples.every(Quantity("WORLD", *end_node))
        end = nearest_rotation(matrices[:, :3, :3])
    pole = None if control.pole_aim is None else samples.every(Quantity("WORLD", *control.pole_aim))[:, :3, 3]
    return Seen(samples, joints, aim, pole, end)


def joint_errors(goals: Goals, seen: Seen) -> Array:
    """Largest distance `(F,)` of a visible joint from its goal, world units."""
    return magnitude(seen.joints - goals.joints).max(axis=1)


def tip_errors(goals: Goals, seen: Seen) -> Array:
    """Distance `(F,)` of the tip from its goal, world units."""
    return magnitude(seen.joints[:, 2] - goals.joints[:, 2])


def end_errors(goals: Goals, seen: Seen) -> Array:
    """Angle `(F,)`, radians, of the end bone from its goal; 0 where it has none."""
    if goals.end is None or seen.end is None:
        return np.zeros(len(goals.joints))
    return angles_between(seen.end, goals.end)


def misses(goals: Goals, seen: Seen) -> Array:
    """Joint errors `(F, 4)`, relative to the limb's length.

    The middle joint's along the limb's line, across it in its plane, and out of the plane; then the tip's distance.
    """
    joints = goals.joints
    along, out = unit(joints[:, 2] - joints[:, 0]), hinges(joints)
    off = (seen.joints[:, 1] - joints[:, 1]) / goals.length
    middle = [np.sum(off * axis, axis=-1) for axis in (along, np.cross(out, along), out)]
    return np.stack([*middle, tip_errors(goals, seen) / goals.length], axis=-1)


def steered_limb(control: ControlPlan, goals: Goals, samples: Samples) -> SteeredLimb:
    """A limb ready to be steered, with its controls' present channels at every frame of the plan."""
    samples = samples.on(control.plan.frames)
    held = {}
    for node in control.controls:
        values = samples.every(node.channels)
        rotation = channel_rotations(node.bone.rotation_mode, values[:, 3:7])
        held[node.role] = BoneChannels(values[:, :3].copy(), rotation, values[:, 7:].copy())
    return SteeredLimb(control, goals, held, {"Target"} | ({"Pole"} if control.pole else set()))


TRIAL_STEPS = (2e-3, 5e-2)
"""Finite-difference steps for the base: log scale and pitch in radians."""

NEAR_STEPS = (1e-4, 2e-3)
"""Smaller finite-difference steps, within which the IK responds smoothly."""

FEW_ROUNDS = ((0.0, False), (0.0, True), (0.0, True))
"""Search rounds: pitch added before the round, radians, and whether it takes the smaller finite-difference steps."""

KICKS = (0.08, -0.08, 0.16, -0.16, 0.24, -0.24, 0.05, -0.05, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)
SHAPE_ROUNDS = (*FEW_ROUNDS, *(pair for kick in KICKS for pair in ((kick, False), (0.0, True))))
"""Search rounds where only the base turns the limb: frames that are not right yet restart from other pitches."""

CHORD_STEPS = 2
"""Steps taken with each finite-difference Jacobian."""

LARGEST_STEPS = (0.02, 0.3)
"""Largest change of log scale and pitch (radians) in one step."""

LONGEST = 3.0
"""Multiple of the last change of shape up to which a restart goes on from it."""

SINGULAR = 2e-4
"""Ratio of the Jacobian's singular values below which the smaller one counts as 0."""


@dataclass(frozen=True, slots=True)
class BaseTrial:
    """Base shapes, base turns and target offsets of one trial, and the resulting errors."""

    shape: Array
    """`(F, 2)` log scale and pitch (radians) of the base."""
    turn: Array
    """`(F,)` turn of the base about the limb's line, radians."""
    beyond: Array
    """`(F, 3)` offset of the IK's target past its goal, world units."""
    off: Array
    """`(F, 4)` errors of the joints, see `misses`."""
    short: Array
    """`(F, 3)` from the tip to its goal, world units."""
    held: dict[str, BoneChannels]
    """Channels of the controls, by role. They are restored bit by bit: other last bits make the IK's search end elsewhere."""

    def or_better(self, other: BaseTrial) -> BaseTrial:
        """Combine the frames of both trials, each taken from the one with the smaller error."""
        better = magnitude(other.off) < magnitude(self.off)
        at = better[:, None]
        shape, off = np.where(at, other.shape, self.shape), np.where(at, other.off, self.off)
        beyond = np.where(at, other.beyond, self.beyond)
        held = {role: _merged_channels(better, channels, self.held[role]) for role, channels in other.held.items()}
        short = np.where(at, other.short, self.short)
        return BaseTrial(shape, np.where(better, other.turn, self.turn), beyond, off, short, held)

    def onward(self, before: BaseTrial, kick: float) -> Array:
        """Changes `(F, 2)` of the shape to restart with: to where the error would vanish if it went on as since `before`.

        Where the shape has not changed since, or that would be far away, only the pitch, by `kick`.
        """
        step, change = self.shape - before.shape, (self.off - before.off)[:, :2]
        size = np.sum(change * change, axis=-1)
        times = np.divide(-np.sum(self.off[:, :2] * change, axis=-1), size, out=np.zeros_like(size), where=size > 0.0)
        is_near = (times > -1.0) & (times < LONGEST) & (times != 0.0) & (np.abs(step[:, 1]) > NEAR_STEPS[1])
        return np.where(is_near[:, None], times[:, None] * step, [0.0, kick])


def _merged_channels(better: Array, channels: BoneChannels, others: BoneChannels) -> BoneChannels:
    at = better[:, None]
    rotation = np.where(at[:, None], channels.rotation, others.rotation)
    return BoneChannels(np.where(at, channels.location, others.location), rotation, np.where(at, channels.scale, others.scale))


Steering = Generator[Array, Samples, None]
"""Generator that sets channels, yields the frames `(N,)` at which it wants to be sent samples of the rig with them, and returns
when it has converged."""

NEAR = 2e-6
"""Distance from a goal, relative to the limb's length, that single precision cannot improve."""

TURNED = 5e-6
"""Angle from a goal, radians, that single precision cannot improve."""

FOLLOWS = 0.05
"""Change of the end bone's rotation matrix from which on it follows the control, which is turned by four times as much."""

RIGHT = 2e-5
"""Joint error, relative to the limb's length, below which no further control is needed."""

RESIDUAL = 2e-3
"""Distance of the tip from its goal, relative to the limb's length, up to which it is the residual of the IK's search; beyond
that the goal is out of reach."""

TIP_ROUNDS = 4
"""Most rounds of aiming past the goal by that residual."""

ROUNDS = 24
"""Most rounds of moving the controls; a rigid rig needs two."""

NOISE = 3.0
"""Multiple of the convergence tolerance; from a smaller change of the error no step factor is learnt."""

FARTHEST = 8.0
"""Largest factor on the position error by which a control is moved in a round: a Child Of of little influence takes most away."""

WIDEST = 1.5
"""Largest factor on the rotation error by which a control is turned in a round."""


MIDDLE_ROUNDS = 4
"""Most rounds of moving the target along a nearly straight limb."""


def heights(joints: Array) -> Array:
    """Distances `(F,)` of the middle joint from the line through root and tip."""
    upper, line = joints[:, 1] - joints[:, 0], unit(joints[:, 2] - joints[:, 0])
    return magnitude(np.cross(upper, line))


def _reaches(links: Array, height: Array) -> Array:
    """Distances `(F,)` from root to tip of limbs with links `(F, 2)` whose middle joint is off the line by `height` `(F,)`."""
    return np.sqrt(np.maximum(links**2 - height[:, None] ** 2, 0.0)).sum(axis=1)


@dataclass(slots=True)
class SteeredLimb:
    """One limb while its controls are on trial."""

    control: ControlPlan
    goals: Goals
    held: dict[str, BoneChannels]
    """Present channels of each control, by role."""
    used: set[str]
    """Roles of the controls that are keyed."""
    seen: Seen | None = None
    """The most recent evaluated samples."""
    turn: Array = field(default_factory=lambda: np.zeros(0))
    """`(F,)` turn of the base about the limb's line, radians."""
    shape: Array = field(default_factory=lambda: np.zeros((0, 2)))
    """`(F, 2)` log scale and pitch (radians) of the base."""
    beyond: Array = field(default_factory=lambda: np.zeros((0, 3)))
    """`(F, 3)` offset of the IK's target past its goal, world units, by as much as the IK leaves the tip short of it."""
    scales: bool = False
    """Whether the base's scale is keyed."""
    moves: Relaxation = field(default_factory=lambda: Relaxation(1.0, 1.0))
    """Step factors for the target's location."""
    turns: Relaxation = field(default_factory=lambda: Relaxation(1.0, 1.0))
    """Step factors for the target's rotation."""
    beside: dict[str, Surroundings] = field(default_factory=dict)
    """Rotations of the controls beside the range, by role, from when they were first keyed."""
    open: Mask | None = None
    """`(F,)` frames that are still worked on: the others keep their channels and are not evaluated; `None` for all."""

    def steer(self) -> Steering:
        """Set and correct the controls round by round until they converge."""
        self.beyond = np.zeros((len(self.goals.joints), 3))
        yield from self._look()
        if self.goals.end is not None:
            yield from self._probe_end_rotation()
        pole, seen = self.control.pole, self.now()
        if pole is not None and seen.pole is not None and self.goals.poles is not None:
            still = np.broadcast_to(np.eye(3), (len(seen.pole), 3, 3))
            self._change(pole, displacement(still, seen.pole, self.goals.poles))
        yield from self._settle()
        yield from self._reach_tip()
        yield from self._reach_middle_joint()
        if self.control.base is not None and self.control.ik is not None:
            error = float(joint_errors(self.goals, self.now()).max())
            # A small rig far from the world's origin: what single precision cannot show is no error.
            if error > max(RIGHT * self.goals.length, NOISE * self.tolerance):
                yield from self._use_base()
        self.open = None
        yield from self._look()

    def aim_errors(self) -> Array:
        """Distances `(F,)` of the IK's target from where it should be, world units."""
        return magnitude(self.now().aim - self.goals.aim - self.beyond)

    @property
    def tolerance(self) -> float:
        """Distance that is 0 in single precision, world units."""
        far = float(np.abs(self.goals.joints).max())
        return NEAR * (self.goals.length + 0.2 * far)

    def _look(self) -> Steering:
        frames = self.control.plan.frames
        if self.open is None:
            samples = yield frames
        else:
            newer = yield frames[self.open]
            samples = self.now().samples.renewed(newer.on(frames[self.open]))
        self.seen = seen_in(self.control, self.goals, samples)

    def now(self) -> Seen:
        """The most recent evaluated samples."""
        if self.seen is None:
            raise RuntimeError("nothing has been looked at yet")
        return self.seen

    def _probe_end_rotation(self) -> Steering:
        """Test whether the end bone turns with the control; if not, the control itself is turned like the end bone."""
        if self.goals.of_control:
            return
        seen, kept = self.now(), self.held["Target"]
        # A turn about an axis that no rig has, so that it shows in any bone that follows.
        before, trial_turn = seen.end, about_axis(np.array([0.6, 0.0, 0.8]), np.full(len(seen.aim), 0.2))
        self._change(self.control.target, displacement(trial_turn, seen.aim, seen.aim))
        yield from self._look()
        after = self.now().end
        if before is None or after is None or np.abs(after - before).max() < FOLLOWS:
            self.goals = replace(self.goals, end=self.goals.own_end, of_control=True)
        self.held["Target"], self.seen = kept, seen_in(self.control, self.goals, seen.samples)

    def _settle(self) -> Steering:
        """Correct target and roll until both have converged."""
        self.moves, self.turns = Relaxation(FARTHEST, NOISE * self.tolerance), Relaxation(WIDEST, NOISE * TURNED)
        for _ in range(ROUNDS):
            self._correct_target()
            yield from self._look()
            if self._correct_roll():
                continue
            is_placed = (self.aim_errors() <= self.tolerance) & (end_errors(self.goals, self.now()) <= TURNED)
            if np.all(is_placed if self.open is None else is_placed[self.open]):
                return

    def _reach_tip(self) -> Steering:
        """Aim the IK's target past its goal by the tip's remaining error, where that is no more than the IK's residual."""
        for _ in range(TIP_ROUNDS):
            if not self._aim_past_goal():
                return
            self._correct_target()
            yield from self._look()
            self._correct_roll()

    def _reach_middle_joint(self) -> Steering:
        """Move the IK's target along a nearly straight limb by what its bend is off; each frame keeps the best that was tried.

        There an error of the tip that nobody sees moves the middle joint by its square root.
        """
        best_error, best_beyond, best_held = self._errors(), self.beyond, dict(self.held)
        intended = heights(self.goals.joints)
        links = magnitude(np.diff(self.goals.joints, axis=1))
        along = unit(self.goals.joints[:, 2] - self.goals.joints[:, 0])
        for _ in range(MIDDLE_ROUNDS if self.control.ik is not None else 0):
            present = heights(self.now().joints)
            missing = _reaches(links, intended) - _reaches(links, present)
            off = np.abs(present - intended) > RIGHT * self.goals.length
            if not np.any(off & (np.abs(missing) < RESIDUAL * self.goals.length)):
                break
            self.beyond = self.beyond + np.where(off, missing, 0.0)[:, None] * along
            self._correct_target()
            yield from self._look()
            error = self._errors()
            better = error < best_error
            best_error = np.where(better, error, best_error)
            best_held = {role: _merged_channels(better, channels, best_held[role]) for role, channels in self.held.items()}
            best_beyond = np.where(better[:, None], self.beyond, best_beyond)
        self.beyond, self.held = best_beyond, best_held

    def _errors(self) -> Array:
        """Errors `(F,)` of joints and end bone together, world units."""
        return joint_errors(self.goals, self.now()) + self.goals.length * end_errors(self.goals, self.now())

    def _aim_past_goal(self) -> bool:
        """Move the aim past the goal by the remaining tip error; return whether any remains."""
        if self.control.ik is None:
            return False
        short = self.goals.joints[:, 2] - self.now().joints[:, 2]
        size = magnitude(short) / self.goals.length
        self.beyond = self.beyond + np.where((size < RESIDUAL)[:, None], short, 0.0)
        return bool(np.any((size > NEAR) & (size < RESIDUAL)))

    def _correct_target(self) -> None:
        """Move the target by its position error, and turn it by the end bone's rotation error."""
        seen = self.now()
        turn = np.broadcast_to(np.eye(3), (len(seen.aim), 3, 3))
        if seen.end is not None and self.goals.end is not None:
            turn_error = rotation_vectors(self.goals.end @ np.swapaxes(seen.end, -1, -2))
            correction = self.turns.factors(turn_error)[:, None] * turn_error
            turn = about_axis(unit(correction), magnitude(correction))
        error = self.goals.aim + self.beyond - seen.aim
        end = seen.aim + self.moves.factors(error)[:, None] * error
        self._change(self.control.target, displacement(turn, seen.aim, end))

    def _correct_roll(self) -> bool:
        """Turn pole or base about the limb's line by the middle joint's error; return whether anything was turned."""
        seen = self.now()
        angles = rolls(self.goals.joints, seen.joints[:, 1])
        # An angle about the line matters by as much as the joint is off the line.
        heights = magnitude(np.cross(hinges(self.goals.joints), self.goals.joints[:, 1] - self.goals.joints[:, 0]))
        if np.all(np.abs(angles) * heights <= self.tolerance):
            return False
        if "Base" in self.used and not self.control.pole_acts:
            self.turn = self.turn + angles
            self._place_base()
            return True
        if self.control.pole is not None and self.control.pole_acts:
            self._change(self.control.pole, swung(self.goals.joints, angles))
            return True
        return False

    def _change(self, control: Control, change_world: Array) -> None:
        self._hold(control.role, control.changed(self.now().samples, self.held[control.role], change_world))

    def _hold(self, role: str, channels: BoneChannels) -> None:
        """Give a control other channels at the frames that are worked on."""
        self.held[role] = channels if self.open is None else _merged_channels(self.open, channels, self.held[role])

    def _use_base(self) -> Steering:
        """Turn the IK's first bone, from which its search starts, and scale it where the IK stretches."""
        count = len(self.goals.joints)
        self.used.add("Base")
        # First it only turns: scale and pitch are searched in a limb that is in its plane already.
        self.turn, self.shape = np.zeros(count), np.zeros((count, 2))
        self._place_base()
        yield from self._look()
        yield from self._settle()
        if self.control.ik is None or not self.control.ik.stretches:
            return
        yield from self._reach_tip()
        yield from self._reach_middle_joint()
        yield from self._look()
        self.scales = True
        plain = self._trial_from_samples(self.shape, self.turn, self.beyond)
        self.open = magnitude(plain.off) > RIGHT / 4.0
        if not self.open.any():
            return
        # Scale and pitch are searched from the limb's bend on.
        self.shape = np.outer(self.open, [0.0, 1.0]) * bends(self.goals.joints)[:, None]
        self._place_base()
        yield from self._look()
        yield from self._settle()
        yield from self._fit_middle_joint(plain)

    def _fit_middle_joint(self, plain: BaseTrial) -> Steering:
        """Newton's method, frame by frame, for the base's scale and pitch that put the middle joint in place.

        Blender's IK stops within a tolerance, so the joint's place is a function of them with jumps, and smooth between them:
        wide finite-difference steps find the direction, small ones converge, and each frame continues from its best trial.
        """
        start = self._trial_from_samples(self.shape, self.turn, self.beyond)
        before = best = plain.or_better(start)
        for number, (kick, near) in enumerate(FEW_ROUNDS if self.control.pole_acts else SHAPE_ROUNDS):
            unsolved = magnitude(best.off) > (RIGHT / 4.0 if number < len(FEW_ROUNDS) else RIGHT / 2.0)
            if not unsolved.any():
                break
            start, self.open = best if number else start, unsolved
            if kick:
                start = yield from self._trial(best.shape + best.onward(before, kick), best.turn, best.beyond)
                before, best = best, best.or_better(start)
            best = yield from self._search_round(start, best, near=near)
        self.shape, self.turn, self.beyond, self.held, self.open = best.shape, best.turn, best.beyond, best.held, None

    def _search_round(self, start: BaseTrial, best: BaseTrial, *, near: bool) -> Generator[Array, Samples, BaseTrial]:
        """Best trial of one round: finite differences from a start, then steps with their Jacobian."""
        effects = list[Array]()
        # One step changes log scale, the other pitch: the columns of the Jacobian of the middle joint's error.
        for step in np.diag(NEAR_STEPS if near else TRIAL_STEPS):
            shape = start.shape + step
            trial = yield from self._near_trial(start, shape) if near else self._trial(shape, start.turn, start.beyond)
            effects.append((trial.off - start.off)[:, :2] / step.sum())
            best = best.or_better(trial)
        inverse, last = np.linalg.pinv(np.stack(effects, axis=-1), rcond=SINGULAR), start
        for _ in range(CHORD_STEPS):
            newton = -(inverse @ last.off[:, :2, None])[..., 0]
            shape = last.shape + np.clip(newton, -np.array(LARGEST_STEPS), LARGEST_STEPS)
            last = yield from self._near_trial(last, shape, last.short) if near else self._trial(shape, self.turn, self.beyond)
            best = best.or_better(last)
        return best

    def _near_trial(self, start: BaseTrial, shape: Array, beyond: Array | float = 0.0) -> Generator[Array, Samples, BaseTrial]:
        """Try a shape with everything else as in `start`, except that the target may be moved farther past its goal."""
        self.held, self.shape, self.turn, self.beyond = dict(start.held), shape, start.turn, start.beyond + beyond
        still, aim = np.broadcast_to(np.eye(3), (len(shape), 3, 3)), self.now().aim
        if np.any(beyond):
            self._change(self.control.target, displacement(still, aim, aim + beyond))
        self._place_base()
        yield from self._look()
        return self._trial_from_samples(shape, self.turn, self.beyond)

    def _trial_from_samples(self, shape: Array, turn: Array, beyond: Array) -> BaseTrial:
        seen = self.now()
        return BaseTrial(
            shape, turn, beyond, misses(self.goals, seen), self.goals.joints[:, 2] - seen.joints[:, 2], dict(self.held)
        )

    def _trial(self, shape: Array, turn: Array, beyond: Array) -> Generator[Array, Samples, BaseTrial]:
        """Try a shape; then correct turn and target, so that the next trial has middle joint and tip nearer."""
        self.shape, self.turn, self.beyond = shape, turn, beyond
        self._correct_target()
        self._place_base()
        yield from self._look()
        trial = self._trial_from_samples(shape, turn, beyond)
        self.turn = turn + rolls(self.goals.joints, self.now().joints[:, 1])
        self._aim_past_goal()
        return trial

    def _place_base(self) -> None:
        """Set the base's rotation and scale from `turn` and `shape`."""
        base, seen = self.control.base, self.now()
        if base is None:
            return
        # Rotation of the armature without its size: turn and pitch are about axes in the world.
        world = seen.samples.every(base.world)[:, :3, :3]
        carried = world / np.cbrt(np.abs(np.linalg.det(world)))[:, None, None]
        start = without_rotation(base.bone, base.parent_pose(seen.samples), len(self.turn))
        turn = swung(self.goals.joints, self.turn)[:, :3, :3]
        pitch = about_axis(hinges(self.goals.joints), self.shape[:, 1])
        posed = np.linalg.inv(carried) @ pitch @ turn @ carried @ start
        rotation = np.swapaxes(start, -1, -2) @ posed
        held = self.held["Base"]
        scale = np.exp(self.shape[:, :1]) * base.present_scale()
        self._hold("Base", BoneChannels(held.location, rotation, scale))
