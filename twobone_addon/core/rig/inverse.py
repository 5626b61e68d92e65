"""A chain follows its targets: lengths measured, triangle solved, bones turned, and the lengths measured again.

Where everything the chain inherits is rotation and uniform scale, one round of the closed form is exact. Where a parent
or the upper bone is scaled unevenly (or sheared), the length of a bone depends on where it points: the closed form
then starts from lengths that its own answer changes, and a few rounds with the lengths of the last answer lead to
lengths and answer that agree. Where they do not settle, a search finishes (see `uneven`).
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
"""Tip error, relative to the chain's length, at which rounds stop: single precision makes as much of it anyway."""

UNEVEN_SETTLED = 5e-9
"""The same under uneven scale: there every round changes the lengths a good deal, so that the last one still shows."""

LENGTH_ROUNDS = 20
"""Uneven scale up to about 2:1 settles within these; more is left to the search."""

ASTRAY = 1e-3
"""Radians between where a link is to point and where it does that the next round puts right. A link over bones between its
joints wanders by some 1e-7 as they turn, because rest matrices in single precision are not quite rotations and some ways of
inheriting scale measure their axes; what is far off has a reason that turning on does not remove."""

UNEVEN = 2e-4
"""Difference of the squared scales along two axes, relative to them, that makes the ring of fixed lengths wrong. Blender's
own rest matrices are orthonormal to some 2e-5 only, which the square doubles."""


def follow_together(several: Sequence[Following]) -> list[ChainPose]:
    """Pose chains so that their tips, seen in the plane, are on their targets.

    Those of one shape are posed all at once, each as it would be alone; long takes a part after the other.
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
            one = several[numbers[place]]
            pose = pose_of_one(posed, place, one)
            if one.task.limits is None and doubtful[place].any():
                pose = _searched(one, pose, doubtful[place])
            poses[numbers[place]] = pose
        others = [numbers[place] for place in np.flatnonzero(~hinged).tolist()]
        waiting += [others] if others else []
    return [poses[number] for number in range(len(several))]


def _in_parts(one: Following) -> ChainPose:
    """Pose a chain some frames at a time: that takes much more than is kept of it, from which its bones are posed anew."""
    count, distances = len(one.task.targets), span(_targets_in_plane(one))
    quaternions = [np.empty((count, 4)) for _ in one.chain.turning]
    ratio, goals = np.empty(count), np.empty((count, 2))
    reach, doubtful = np.empty(count, dtype=np.int8), np.empty(count, dtype=bool)
    # What a target leaves free is held, so that each part begins with a frame that is told.
    told = np.isfinite(distances) & (distances > 0.0)
    start, stop = 0, max(ROWS_AT_ONCE, int(np.argmax(told)) + 1)
    while start < count:
        begin = int(np.flatnonzero(told[:start])[-1:].sum())
        now = part_of(one, slice(begin, stop))
        posed, doubts, _ = _follow(stacked([now]))
        pose = pose_of_one(posed, 0, now)
        part, new = slice(start, stop), slice(start - begin, None)
        ratio[part], reach[part], goals[part] = pose.ratio[new], pose.reach[new], pose.goals[new]
        told[part] &= reach[part] != Reach.DEGENERATE
        doubtful[part] = doubts[0, new]
        for whole, rotation in zip(quaternions, pose.turned.rotations, strict=True):
            whole[part] = every_row(rotation.quaternions, stop - begin)[new]
        start, stop = stop, min(stop + ROWS_AT_ONCE, count)
    motion = stretched(one.chain, one.motion, ratio) if one.task.options.mode == ReachMode.STRETCH else one.motion
    found = ChainPose(Turned(one.chain, motion, tuple(map(Quaternions, quaternions))), motion, ratio, reach, goals)
    return _searched(one, found, doubtful) if one.task.limits is None and doubtful.any() else found


def _follow(several: Following) -> tuple[ChainPose, Mask, Mask]:
    """Pose a stack of chains by the ring of their lengths; returns at which frames `(C, F)` it does not tell, too.

    Only chains whose hinges are like those of the first are posed as they should be; the last mask `(C,)` says which these are.
    """
    chain, motion, reference, task = several.chain, several.motion, several.reference, several.task
    targets = _targets_in_plane(several)
    own = task.laying.own
    links = link_vectors(task.frames if own is None else own, reference.joints)
    start = angles_of(links)
    rest_direction = _rest_direction(chain, motion, task)
    uneven = _uneven(reference)
    settled = np.where(uneven, UNEVEN_SETTLED, SETTLED) if links.shape[-2] == TWO else REACH_TOLERANCE
    fixed = not task.laying.flatten and own is None and task.options.mode != ReachMode.STRETCH
    every_one = np.ones(len(targets), dtype=bool)
    hinges, hinged = still_hinges(chain, motion, reference, task.frames) if fixed else (None, every_one)
    lengths = span(links) if hinges is None else hinges.lengths[..., None, :]

    def pose_with(lengths: Array, lead: Array) -> tuple[ChainPose, Array, Array, Mask]:
        """The pose for links of these lengths `(..., F, n)`, its links, where these are to point, and where the tip is off.

        Bones are turned by `lead` `(..., F, n)` beyond where their links are to point.
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
        # A chain that has settled goes through the rounds of others as it is.
        going_on = np.any(unsettled, axis=-1, keepdims=True)[..., None]
        if not going_on.any():
            break
        lengths = np.where(going_on, span(posed) / pose.ratio[..., None], lengths)
        off = wrap(directions - np.arctan2(posed[..., 1], posed[..., 0]))
        lead = lead + np.where(going_on & (np.abs(off) < ASTRAY), off, 0.0)
        del pose  # as large as the next one
        pose, posed, directions, unsettled = pose_with(lengths, lead)
    return pose, unsettled | (uneven & (pose.reach != Reach.REACHED)), hinged


def _targets_in_plane(following: Following) -> Array:
    """Targets `(..., F, 2)` in the plane, from the root joint."""
    task = following.task
    return in_plane(task.frames, task.targets - following.reference.joints[..., 0, :])


def _searched(one: Following, pose: ChainPose, doubtful: Mask) -> ChainPose:
    """The pose with doubtful frames searched, where the ring of fixed lengths neither poses the chain nor tells its reach."""
    task, options, targets = one.task, one.task.options, _targets_in_plane(one)
    to_target = options.mode == ReachMode.CLAMP and not (options.min_distance or options.max_distance)
    goals = targets if to_target else pose.goals
    turned = _found(search, one, pose=pose, goals=goals, where=doubtful)
    tips = link_vectors(task.frames, turned.joints).sum(axis=-2)
    far = np.max(span(link_vectors(task.frames, turned.joints)).sum(axis=-1))
    missed = doubtful & (span(tips - goals) > SETTLED * far)
    if missed.any():
        turned = _found(closest, one, pose=replace(pose, turned=turned), goals=goals, where=missed)
    reach = _measured_reach(link_vectors(task.frames, turned.joints), targets, pose.reach, options.tolerance)
    return replace(
        pose, turned=turned, reach=np.where(doubtful, reach, pose.reach), goals=np.where(doubtful[..., None], goals, pose.goals)
    )


def _found(
    find: Callable[[Array, Array, int, LinksAt], Array], one: Following, *, pose: ChainPose, goals: Array, where: Mask
) -> Turned:
    """The turned chain of `pose` with the frames `where` as `find` turns them."""
    chain, task = one.chain, at_frames(one.task, where)
    motion, start = at_frames(pose.motion, where), at_frames(one.reference, where)
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
    """Values `(F, ...)`, or one row of them, with other rows at the frames `where` `(F,)`."""
    filled = np.broadcast_to(values, (len(where), *values.shape[1:])).copy()
    filled[where] = rows
    return filled


def _solve(targets: Array, lengths: Array, task: Task, start: Array, rest_direction: Array) -> PlanarSolution:
    """Solve in world units, in which the options' distances are meant; angles and ratio have no unit."""
    scale = task.world_scale[..., None]
    targets, lengths = targets * scale, lengths * scale
    if lengths.shape[-1] == TWO:
        limits = None if task.limits is None else task.limits.ravel()
        options = replace(task.options, limits=limits)
        solution = solve_planar(targets, lengths, task.bend, options, rest_direction=rest_direction)
    else:
        limits = None
        if task.limits is not None:
            # Those of the first link become directions from u.
            limits = np.broadcast_to(task.limits, (*rest_direction.shape, *task.limits.shape)).copy()
            limits[..., 0, :] += rest_direction[..., None]
        solution = solve_planar_chain(targets, lengths, task.bend, task.options, start=start, limits=limits, method=task.method)
    return replace(solution, goals=solution.goals / scale)


def angles_of(links: Array) -> Array:
    """Angles `(..., F, n)` of link vectors `(..., F, n, 2)`: the first from u, each other from the link before.

    Without jumps of a whole turn over the frames. A link without length has the direction of u.
    """
    directions = np.arctan2(links[..., 1], links[..., 0])
    directions[..., 1:] = wrap(np.diff(directions, axis=-1))
    return np.unwrap(directions, axis=-2) if directions.shape[-2] > 1 else directions


def _rest_direction(chain: RestChain, motion: ChainMotion, task: Task) -> Array:
    """Direction `(..., F)` of the first link without rotation of its own, from which its limits count; 0 without limits."""
    if task.limits is None:
        return np.zeros(task.bend.shape)
    return angles_of(link_vectors(task.frames, rest_reference(chain, motion).joints))[..., 0]


def _measured_reach(links: Array, targets: Array, reach: Codes, tolerance: ArrayLike) -> Codes:
    """Reach of posed links `(..., F, n, 2)`, since the ring of fixed lengths does not describe it."""
    far = span(links).sum(axis=-1)
    missed = span(links.sum(axis=-2) - targets) > np.maximum(tolerance, SETTLED) * far
    side = np.where(span(targets) > 0.5 * far, Reach.TOO_FAR, Reach.TOO_NEAR)
    return np.where(reach == Reach.DEGENERATE, reach, np.where(missed, side, Reach.REACHED)).astype(np.int8)


def _uneven(reference: Reference) -> Mask:
    """Where `(..., F)` something that a turning bone inherits is not a rotation with even scale: its link changes length."""
    found = np.zeros(reference.joints.shape[:-2], dtype=bool)
    for inherited in reference.inherited:
        squares = np.swapaxes(inherited, -1, -2) @ inherited
        even = np.trace(squares, axis1=-2, axis2=-1)[..., None, None] / 3.0 * np.eye(3)
        found |= np.any(np.abs(squares - even) > UNEVEN * even.max(axis=(-2, -1), keepdims=True), axis=(-2, -1))
    return found
