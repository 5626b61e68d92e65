"""Baking again: keys of an earlier bake that already do what is asked for stay as they are.

Where a bake starts from the present pose, it reads what the last one wrote, which between keys is near the solution, not on it.
Keys made from that would be other ones every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.array_types import Array, Indices
from ...core.arrays import frame_rows, magnitude
from ...core.curves.bezier import Keys, evaluate
from ...core.curves.drift import portions
from ...core.curves.frames import NEAR_FRAME
from ...core.rig.channels import channel_rotations
from ...scene.keys.tables import INTERPOLATION, KEY_GENERATED, ChannelKeys, some_keys
from ..plan.chain_plan import ChainPlan
from ..pose.solving import REPEATED, SolvedChain
from .posed_points import PosedByCurves, RotationColumns
from .reducing import NO_DRIFT, KeyDrift, extreme_frames, kept_frames, key_drift

MORE_KEYS, FEW_KEYS = 0.1, 2
"""So many more keys than reducing would leave now may stay, as a share or as a number: motions that differ by the tolerance take
a few keys more or less. A much larger tolerance saves more than that."""

SAME_TURN = np.radians(0.5)
"""Radians by which bones may be turned otherwise than asked for. Turns about a link itself move no joint."""

SAME_SLOPE = 1e-5
"""Of a channel in a frame, on both sides of a loop's seam: ten times what single precision makes of handles a frame long."""


def repeated_keys(solved: SolvedChain, keys: Sequence[ChannelKeys]) -> tuple[list[ChannelKeys], KeyDrift] | None:
    """The keys that the channels have in the range, and how far they let the joints drift; `None` where others are needed.

    keys : what would be written otherwise, a channel each

    They stay if all are baked, on the same frames, of the asked interpolation, and all that the settings ask for holds: with
    Reduce the tolerance and about as few keys, with full-rate keys the same frames and values.
    """
    plan = solved.plan
    if plan.settings.destination != "ACTION" or (plan.stretched_before and plan.settings.reach != "STRETCH"):
        return None
    present = [_present_keys(plan, each) for each in keys]
    if not keys or None in present:
        return None
    found = [each for each in present if each is not None]
    if any(not np.array_equal(each.frames, found[0].frames) for each in found) or _goes_round(found) != _goes_round(keys):
        return None
    drift = _reduced_drift(solved, keys, found) if plan.settings.keys == "REDUCE" else _repeated_drift(solved, found)
    return None if drift is None else (found, drift)


def _reduced_drift(solved: SolvedChain, keys: Sequence[ChannelKeys], found: Sequence[ChannelKeys]) -> KeyDrift | None:
    """How far reduced keys let the joints drift; `None` where reducing would leave others."""
    plan = solved.plan
    required = kept_frames(plan, extreme_frames(solved))
    is_kept = np.abs(required[:, None] - found[0].frames).min(axis=-1, initial=np.inf) <= NEAR_FRAME
    fewest = len(keys[0].frames)
    if len(found[0].frames) > fewest + max(FEW_KEYS, MORE_KEYS * fewest) or not np.all(is_kept):
        return None
    now = _channels(solved.plan, found)
    drift = _present_drift(solved, now)
    alike = _alike(solved, now, np.arange(len(now)), within=SAME_TURN)
    return drift if alike and max(drift.tip, drift.middle) <= plan.settings.tolerance else None


def _present_keys(plan: ChainPlan, wanted: ChannelKeys) -> ChannelKeys | None:
    """The channel's keys in the range; `None` if they are not a bake's from its first to its last frame."""
    table = plan.keyed[wanted.path, wanted.index].table
    if table is None:
        return None
    start, end = plan.frames[0], plan.frames[-1]
    frames = table["co"][:, 0]
    inside = some_keys(table, (frames >= start - NEAR_FRAME) & (frames <= end + NEAR_FRAME))
    places = inside["co"].astype(float)
    if not len(places) or abs(places[0, 0] - start) > NEAR_FRAME or abs(places[-1, 0] - end) > NEAR_FRAME:
        return None
    if np.any(inside["type"] != KEY_GENERATED) or np.any(inside["interpolation"] != INTERPOLATION[wanted.interpolation]):
        return None
    left, right = inside["handle_left"].astype(float), inside["handle_right"].astype(float)
    return replace(wanted, frames=places[:, 0], values=places[:, 1], left=left, right=right, smooth=None)


def _repeated_drift(solved: SolvedChain, found: Sequence[ChannelKeys]) -> KeyDrift | None:
    """No drift where full-rate keys would be written with the frames and poses that there are, else `None`.

    A pose that is read back is rounded, so that each bake would write another. The handles of smooth keys follow the motion
    between them: where every frame is keyed they are taken as they are, else the motion must be so too. Where nothing is
    taken from the present pose, the keys come out alike by themselves.
    """
    settings, rows = solved.plan.settings, solved.plan.report_rows
    if "POSE" not in {settings.reference, settings.plane} and settings.bend != "KEEP":
        return None
    frames = solved.plan.frames[rows]
    if len(frames) != len(found[0].frames) or np.any(np.abs(frames - found[0].frames) > NEAR_FRAME):
        return None
    now = np.stack([each.values for each in found], axis=-1)
    if not _alike(solved, now, rows, within=4.0 * REPEATED):
        return None
    if settings.interpolation != "BEZIER" or (settings.keys == "FRAMES" and settings.step <= 1.0):
        return NO_DRIFT
    drift = _present_drift(solved, _channels(solved.plan, found))
    return NO_DRIFT if max(drift.tip, drift.middle) <= settings.tolerance else None


def _channels(plan: ChainPlan, keys: Sequence[ChannelKeys]) -> Array:
    """What smooth keys make of the channels at the plan's frames, `(F, K)`."""
    bare = np.empty((0, 2))
    curves = [
        Keys(each.frames, each.values, bare if each.left is None else each.left, bare if each.right is None else each.right)
        for each in keys
    ]
    return np.stack([evaluate(curve, plan.frames) for curve in curves], axis=-1)


def _wanted(solved: SolvedChain) -> Array:
    """What the channels are to hold at the plan's frames, `(F, K)`."""
    return np.stack([curve.values for curve in solved.curves], axis=-1)


def _present_drift(solved: SolvedChain, now: Array) -> KeyDrift:
    """How far channels `now` `(F, K)` let the joints drift from the solution, everywhere it is known."""
    wanted, posed = _wanted(solved), PosedByCurves.of(solved)
    away = [
        magnitude(posed.points(now[part], rows) - posed.points(wanted[part], rows)).max(axis=0)
        for part in portions(len(now))
        for rows in [np.arange(len(now))[part]]
    ]
    return key_drift(solved.plan, np.max(away, axis=0))


def _alike(solved: SolvedChain, now: Array, rows: Indices, *, within: float) -> bool:
    """Whether channels `now` `(M, K)` turn and scale all bones as the solution does at `rows` `(M,)`.

    within : radians, and share of the scale. Euler angles may give the same turn by other numbers.
    """
    own = _wanted(solved)[rows]
    plan, motion = solved.plan, solved.motion
    turned = [(plan.rest.bones[index], motion.rotation_values[index]) for index in plan.rest.turning]
    if plan.end_bone is not None and motion.end_rotation_values is not None:
        turned.append((plan.end_bone, motion.end_rotation_values))
    for bone, present in turned:
        held, rotation = frame_rows(present, rows), RotationColumns.of(solved, bone)
        first, second = (channel_rotations(bone.rotation_mode, rotation.filled(held, values)) for values in (own, now))
        # The difference of two rotations by an angle a has the Frobenius norm sqrt(8) sin(a / 2).
        if np.sqrt(0.5 * np.sum((first - second) ** 2, axis=(-1, -2))).max() > within:
            return False
    scales = [number for number, curve in enumerate(solved.curves) if curve.path.endswith(".scale")]
    return bool(np.all(np.abs(own - now)[:, scales] <= within))


def _goes_round(keys: Sequence[ChannelKeys]) -> bool:
    """Whether smooth keys end with the slopes with which they begin; quaternions may do so with the other sign."""
    if keys[0].interpolation != "BEZIER":
        return False
    pairs = [(_slope(each, 0, each.right), _slope(each, -1, each.left)) for each in keys]
    return all(min(abs(first - last), abs(first + last)) <= SAME_SLOPE for first, last in pairs)


def _slope(keys: ChannelKeys, place: int, handles: Array | None) -> float:
    across, up = (handles if handles is not None else np.zeros((1, 2)))[place] - (keys.frames[place], keys.values[place])
    return float(up / across) if across else 0.0
