"""Pose chains on their targets: measure link lengths, solve the triangle, turn the bones, and measure again.

If the chain inherits only rotation and uniform scale, one round of the closed form is exact. Under non-uniform scale (or shear)
of a parent or the upper bone, the length of a bone depends on its direction: the solution changes the lengths it was computed
from, so the closed form is iterated with the lengths of the last solution until both agree. Where this does not converge, a
search follows (see `uneven`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..array_types import Array, Codes, Mask
from ..arrays import every_row, span
from ..rows import at_frames, part_of
from ..solver import REACH_TOLERANCE, PlanarSolution, Reach, ReachMode, solve_planar, solve_planar_chain, wrap
from .bones import ChainMotion, RestChain
from .channels import Matrices, Quaternions
from .following import ROWS_AT_ONCE, TWO, ChainPose, Following, Task, alike, pose_of_one, stacked
from .plane_frames import in_plane
from .posing import Reference, Turned, by_angles, link_vectors, rest_reference, stretched, towards, turn_bones
from .still_hinges import still_hinges
from .uneven import LinksAt, closest, search

SETTLED = 1e-7
"""Tip error, relative to the chain's length, at which iteration stops: as large as single precision's."""

UNEVEN_SETTLED = 5e-9
"""Tip error at which iteration stops under non-uniform scale, where every round changes the lengths considerably."""

LENGTH_ROUNDS = 20
"""Most rounds of iteration: scale ratios up to about 2:1 converge within them; more is left to the search."""

MOST_CORRECTION = 1e-3
"""Greatest direction error of a link, in radians, that the next round corrects. The direction of a link with several bones varies
by some 1e-7 as they turn, because rest matrices in single precision are not quite rotations and some kinds of scale inheritance
measure their axes; larger errors have causes that further turning does not remove."""

UNEVEN = 2e-4
"""Relative difference of the squared scales along two axes above which scale is non-uniform and a ring of fixed lengths wrong.
Blender's own rest matrices are orthonormal only to some 2e-5, which the square doubles."""


def follow_together(several: Sequence[Following]) -> list[ChainPose]:
    """Pose chains so that their tips, projected onto the plane, are on their targets.

    Chains of one shape are posed together, with the same results as alone; long takes are posed in parts.
    """
    poses: dict[int, ChainPose] = {}
    waiting = alike(several)
    while waiting:
        numbers = waiting.pop()
        if len(several[numbers[0]].chain.turning) == TWO and len(several[numbers[0]].task.targets) > ROWS_AT_ONCE:
            poses |= {number: _in_parts(several[number]) for number in numbers}
            continue
        posed, doubtful, hinged = _follow(stacked([several[number] for number in numbers]))
        for place in np.flatnonzero(hinged).tolist():
            following = several[numbers[place]]
            pose = pose_of_one(posed, place, following)
            if following.task.limits is None and doubtful[place].any():
                pose = _searched(following, pose, doubtful[place])
            poses[numbers[place]] = pose
        others = [numbers[place] for place in np.flatnonzero(~hinged).tolist()]
        waiting += [others] if others else []
    return [poses[number] for number in range(len(several))]


def _in_parts(following: Following) -> ChainPose:
    """Pose a chain some frames at a time, keeping only its rotations: posing needs much more memory than its result."""
    count, distances = len(following.task.targets), span(_targets_in_plane(following))
    quaternions = [np.empty((count, 4)) for _ in following.chain.turning]
    ratio, goals = np.empty(count), np.empty((count, 2))
    reach, doubtful = np.empty(count, dtype=np.int8), np.empty(count, dtype=bool)
    # Undetermined angles are held, so each part begins with a frame that determines its pose.
    determined = np.isfinite(distances) & (distances > 0.0)
    start, stop = 0, max(ROWS_AT_ONCE, int(np.argmax(determined)) + 1)
    while start < count:
        begin = int(np.flatnonzero(determined[:start])[-1:].sum())
        now = part_of(following, slice(begin, stop))
        posed, doubts, _ = _follow(stacked([now]))
        pose = pose_of_one(posed, 0, now)
        part, new = slice(start, stop), slice(start - begin, None)
        ratio[part], reach[part], goals[part] = pose.ratio[new], pose.reach[new], pose.goals[new]
        determined[part] &= reach[part] != Reach.DEGENERATE
        doubtful[part] = doubts[0, new]
        for whole, rotation in zip(quaternions, pose.turned.rotations, strict=True):
            whole[part] = every_row(rotation.quaternions, stop - begin)[new]
        start, stop = stop, min(stop + ROWS_AT_ONCE, count)
    motion = following.motion
    if following.task.options.mode == ReachMode.STRETCH:
        motion = stretched(following.chain, motion, ratio)
    found = ChainPose(Turned(following.chain, motion, tuple(map(Quaternions, quaternions))), motion, ratio, reach, goals)
    return _searched(following, found, doubtful) if following.task.limits is None and doubtful.any() else found


def _follow(several: Following) -> tuple[ChainPose, Mask, Mask]:
    """Pose a stack of chains by the ring of their lengths.

    Also returns the doubtful frames `(C, F)`, where that is not valid, and the chains `(C,)` that are posed correctly: those
    whose hinges are of the same kind as the first chain's.
    """
    chain, motion, reference, task = several.chain, several.motion, several.reference, several.task
    targets = _targets_in_plane(several)
    own_frames = task.laying.own
    links = link_vectors(task.frames if own_frames is None else own_frames, reference.joints)
    start = angles_of(links)
    rest_direction = _rest_direction(chain, motion, task)
    uneven = _is_uneven(reference)
    settled = np.where(uneven, UNEVEN_SETTLED, SETTLED) if links.shape[-2] == TWO else REACH_TOLERANCE
    fixed = not task.laying.flatten and own_frames is None and task.options.mode != ReachMode.STRETCH
    every_one = np.ones(len(targets), dtype=bool)
    hinges, hinged = still_hinges(chain, motion, reference, task.frames) if fixed else (None, every_one)
    lengths = span(links) if hinges is None else hinges.lengths[..., None, :]

    def pose_with(lengths: Array, lead: Array) -> tuple[ChainPose, Array, Array, Mask]:
        """The pose for links of these lengths `(..., F, n)`, its links, their intended directions, and where the tip is off.

        Bones are turned by `lead` `(..., F, n)` beyond the intended directions of their links.
        """
        solution = _solve(targets, lengths, task, start, rest_direction)
        directions = np.cumsum(solution.angles, axis=-1)
        if hinges is not None:
            scaled = motion
            turned, posed = hinges.turned_towards(directions)
        else:
            scaled = motion if task.options.mode != ReachMode.STRETCH else stretched(chain, motion, solution.ratio)
            turn = towards(reference, task.frames, task.laying, directions + lead)
            turned = turn_bones(chain, scaled, reference, turn)
            posed = link_vectors(task.frames, turned.joints)
        unsettled = span(posed.sum(axis=-2) - solution.goals) > settled * lengths.sum(axis=-1) * solution.ratio
        return ChainPose(turned, scaled, solution.ratio, solution.reach, solution.goals), posed, directions, unsettled

    lead = np.zeros(1)
    pose, posed, directions, unsettled = pose_with(lengths, lead)
    for _ in range(LENGTH_ROUNDS):
        # A chain that has converged is unchanged by the rounds of others.
        going_on = np.any(unsettled, axis=-1, keepdims=True)[..., None]
        if not going_on.any():
            break
        lengths = np.where(going_on, span(posed) / pose.ratio[..., None], lengths)
        off = wrap(directions - np.arctan2(posed[..., 1], posed[..., 0]))
        lead = lead + np.where(going_on & (np.abs(off) < MOST_CORRECTION), off, 0.0)
        del pose  # as large as the next one
        pose, posed, directions, unsettled = pose_with(lengths, lead)
    return pose, unsettled | (uneven & (pose.reach != Reach.REACHED)), hinged


def _targets_in_plane(following: Following) -> Array:
    """Targets `(..., F, 2)` in the plane, relative to the root joint."""
    task = following.task
    return in_plane(task.frames, task.targets - following.reference.joints[..., 0, :])


def _searched(following: Following, pose: ChainPose, doubtful: Mask) -> ChainPose:
    """The pose with doubtful frames, where the ring of fixed lengths gives neither pose nor reach, solved by search."""
    task, options, targets = following.task, following.task.options, _targets_in_plane(following)
    to_target = options.mode == ReachMode.CLAMP and not (options.min_distance or options.max_distance)
    goals = targets if to_target else pose.goals
    turned = _solve_frames(search, following, pose=pose, goals=goals, where=doubtful)
    tips = link_vectors(task.frames, turned.joints).sum(axis=-2)
    far = np.max(span(link_vectors(task.frames, turned.joints)).sum(axis=-1))
    missed = doubtful & (span(tips - goals) > SETTLED * far)
    if missed.any():
        turned = _solve_frames(closest, following, pose=replace(pose, turned=turned), goals=goals, where=missed)
    reach = _measured_reach(link_vectors(task.frames, turned.joints), targets, pose.reach, options.tolerance)
    return replace(
        pose, turned=turned, reach=np.where(doubtful, reach, pose.reach), goals=np.where(doubtful[..., None], goals, pose.goals)
    )


def _solve_frames(
    find: Callable[[Array, Array, int, LinksAt], Array], following: Following, *, pose: ChainPose, goals: Array, where: Mask
) -> Turned:
    """The turned chain of `pose` with the frames `where` solved by `find`."""
    chain, task = following.chain, at_frames(following.task, where)
    motion, start = at_frames(pose.motion, where), at_frames(following.reference, where)
    frames, laying = task.frames, task.laying

    def turned_by(angles: Array) -> Turned:
        directed = laying.flatten or laying.own is not None
        turn = towards(start, frames, laying, angles) if directed else by_angles(frames, angles)
        return turn_bones(chain, motion, start, turn)

    def links_at(angles: Array) -> Array:
        return link_vectors(frames, turned_by(angles).joints)

    angles = find(goals[where], task.bend, len(chain.turning), links_at)
    found, turned = turned_by(angles), pose.turned
    rotations = tuple(
        Matrices(_with_rows(base.matrices, where, other.matrices))
        for base, other in zip(turned.rotations, found.rotations, strict=True)
    )
    poses = tuple(_with_rows(base, where, other) for base, other in zip(turned.poses, found.poses, strict=True))
    return Turned(chain, turned.motion, rotations, poses)


def _with_rows(values: Array, where: Mask, rows: Array) -> Array:
    """Values `(F, ...)` or `(1, ...)`, broadcast to all frames and with `rows` at the frames `where` `(F,)`."""
    filled = np.broadcast_to(values, (len(where), *values.shape[1:])).copy()
    filled[where] = rows
    return filled


def _solve(targets: Array, lengths: Array, task: Task, start: Array, rest_direction: Array) -> PlanarSolution:
    """Solve in world units, the units of the options' distances; angles and ratio have no unit."""
    scale = task.world_scale[..., None]
    targets, lengths = targets * scale, lengths * scale
    if lengths.shape[-1] == TWO:
        limits = None if task.limits is None else task.limits.ravel()
        options = replace(task.options, limits=limits)
        solution = solve_planar(targets, lengths, task.bend, options, rest_direction=rest_direction)
    else:
        limits = None
        if task.limits is not None:
            # The first joint's limits become directions from u.
            limits = np.broadcast_to(task.limits, (*rest_direction.shape, *task.limits.shape)).copy()
            limits[..., 0, :] += rest_direction[..., None]
        solution = solve_planar_chain(targets, lengths, task.bend, task.options, start=start, limits=limits, method=task.method)
    return replace(solution, goals=solution.goals / scale)


def angles_of(links: Array) -> Array:
    """Angles `(..., F, n)` of link vectors `(..., F, n, 2)`: the first from u, each other from the previous link.

    Unwrapped over the frames. A link of length 0 has the direction of u.
    """
    directions = np.arctan2(links[..., 1], links[..., 0])
    directions[..., 1:] = wrap(np.diff(directions, axis=-1))
    return np.unwrap(directions, axis=-2) if directions.shape[-2] > 1 else directions


def _rest_direction(chain: RestChain, motion: ChainMotion, task: Task) -> Array:
    """Direction `(..., F)` of the first link with no local rotation, the zero of its limits; 0 without limits."""
    if task.limits is None:
        return np.zeros(task.bend.shape)
    return angles_of(link_vectors(task.frames, rest_reference(chain, motion).joints))[..., 0]


def _measured_reach(links: Array, targets: Array, reach: Codes, tolerance: ArrayLike) -> Codes:
    """Reach of posed links `(..., F, n, 2)`, measured because the ring of fixed lengths is not valid."""
    far = span(links).sum(axis=-1)
    missed = span(links.sum(axis=-2) - targets) > np.maximum(tolerance, SETTLED) * far
    side = np.where(span(targets) > 0.5 * far, Reach.TOO_FAR, Reach.TOO_NEAR)
    return np.where(reach == Reach.DEGENERATE, reach, np.where(missed, side, Reach.REACHED)).astype(np.int8)


def _is_uneven(reference: Reference) -> Mask:
    """Mask `(..., F)` of frames where a turning bone inherits non-uniform scale, so that its link's length varies."""
    found = np.zeros(reference.joints.shape[:-2], dtype=bool)
    for inherited in reference.inherited:
        squares = np.swapaxes(inherited, -1, -2) @ inherited
        even = np.trace(squares, axis1=-2, axis2=-1)[..., None, None] / 3.0
        found |= np.any(np.abs(squares - even * np.eye(3)) > UNEVEN * even, axis=(-2, -1))
    return found
