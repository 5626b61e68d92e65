"""The starting point of a task: the motion from before its own last run, so that running it again changes nothing."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..scene.blender_types import Channel, CurveBag, Object, Scene
from ..scene.keys.clearing import put_table
from ..scene.keys.destinations import baked_strips, is_untouched_strip, muted_strips, trial_actions
from ..scene.keys.ledger import Ledger
from ..scene.keys.reading import read_curve
from ..scene.keys.replaced import Kept, Span, given_back, is_untouched, keys_before
from ..scene.keys.tables import NO_KEYS, key_numbers
from ..scene.keys.writing import Earlier
from ..scene.lookup import object_named
from ..scene.restoring import Edit, apply_edits, edits_kept
from ..scene.versions import ensure_curve_bag


@dataclass(frozen=True, slots=True)
class ToWrite:
    """What a run is about to write."""

    owner: str
    """Name of an object."""
    paths: Collection[str]
    within: Span
    strip: str = ""
    """Name of the NLA strip that it fills; empty where it writes into an action."""
    over: str = ""
    """Another task whose keys there this run replaces altogether, as a bake does a nudge's; empty for the run's own task."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """The state that a run starts from."""

    earlier: tuple[Earlier, ...] = ()
    """Keys that the task's last run wrote and that were taken back."""
    edited: tuple[str, ...] = field(default=())
    """Names of objects whose keys from the last run were edited since; the run starts from the edited keys."""


@contextmanager
def starting_over(scene: Scene, task: str, reaches: Sequence[ToWrite]) -> Iterator[Beginning]:
    """Within the block, show the motion from before the task's own earlier keys; afterwards everything is as it was.

    Objects play copies of their actions meanwhile, so nothing needs to be restored, however the block ends. Keys edited
    since then stay, all of an object together: half a pose is no pose. Costs nothing where no replaced keys are recorded.
    """
    own_keys = _own_keys(task, [reach for reach in reaches if not reach.strip])
    names = [name for name, keys in own_keys.items() if keys is not None]
    in_strips = [(reach, is_untouched_strip(object_named(reach.owner), reach.strip)) for reach in reaches if reach.strip]
    edited = [name for name, keys in own_keys.items() if keys is None]
    edited += [reach.owner for reach, is_untouched in in_strips if is_untouched is False]
    strips = [(reach.owner, reach.strip) for reach, is_untouched in in_strips if is_untouched and reach.owner not in edited]
    earlier = [undone for keys in own_keys.values() if keys is not None for undone in keys.earlier]
    earlier += [Earlier(owner, frozenset(), (-math.inf, math.inf), strip) for owner, strip in strips]
    beginning = Beginning(tuple(earlier), tuple(dict.fromkeys(edited)))
    owners = [object_named(name) for name in dict.fromkeys([*names, *(name for name, _ in strips)])]
    if not owners:
        yield beginning
        return
    # Left in reverse: unkeyed edits are set again when everything else is as it was.
    with edits_kept(scene, owners, set()), muted_strips(strips), trial_actions([object_named(name) for name in names]):
        for name, keys in own_keys.items():
            if keys is not None:
                _take_back(object_named(name), keys)
        yield beginning


CONVERSIONS = frozenset({"convert", "switch"})
"""Tasks after which other bones or constraints pose a limb that is seen as before: without their keys it is not."""


def was_keyed(armature: Object) -> bool:
    """Whether runs have keyed an armature, and what they replaced can be played again for a while."""
    return bool(armature.is_editable and (_keyed_before(armature) or baked_strips(armature)))


@contextmanager
def before_tasks(scene: Scene, armature: Object) -> Iterator[None]:
    """Within the block, show the motion of an armature from before any task keyed it; afterwards everything is as it was.

    Where a limb was converted or switched, the motion from before its last task, unless that was this one.
    """
    strips = [(armature.name, name) for name in baked_strips(armature)]
    with edits_kept(scene, [armature], set()), muted_strips(strips), trial_actions([armature]):
        bag, values = ensure_curve_bag(armature), []
        for channel, kept in _keyed_before(armature).items():
            table = read_curve(bag, channel) or NO_KEYS
            before = keys_before(kept, table, to_beginning=not CONVERSIONS.isdisjoint(kept.tasks))
            put_table(bag, channel, "", before, present=table, stays=kept.had_curve)
            if not len(before["co"]) and kept.value is not None:
                values.append(Edit(armature, *channel, kept.value))
        apply_edits(values)
        yield


def _keyed_before(armature: Object) -> dict[Channel, Kept]:
    """What runs replaced on the bones of an armature, but for the last keys of conversions."""
    ledger = Ledger.present(armature)
    return {
        channel: kept
        for channel, kept in (ledger.channels.items() if ledger is not None else ())
        if channel.path.startswith("pose.bones[") and "].constraints[" not in channel.path and kept.task not in CONVERSIONS
    }


@dataclass(frozen=True, slots=True)
class _OwnKeys:
    """The task's own keys on one object."""

    channels: dict[Channel, Kept]
    earlier: list[Earlier]
    alone: set[Channel]
    """Channels that had nothing before, and have nothing else now."""


def _own_keys(task: str, reaches: Sequence[ToWrite]) -> dict[str, _OwnKeys | None]:
    """The task's own keys by object name; `None` where they were edited since."""
    ledgers: dict[str, Ledger | None] = {}
    by_owner: dict[str, _OwnKeys | None] = {}
    for reach in reaches:
        if reach.owner not in ledgers:
            ledgers[reach.owner] = Ledger.present(object_named(reach.owner))
        ledger = ledgers[reach.owner]
        channels = {
            channel: kept
            for channel, kept in (ledger.channels.items() if ledger is not None else ())
            if channel.path in reach.paths
            and kept.task == (reach.over or task)
            and any(start <= reach.within[1] and end >= reach.within[0] for start, end in kept.beginning.spans)
        }
        if ledger is None or not channels:
            continue
        alone = {channel for channel, kept in channels.items() if _is_alone(ledger.bag, channel, kept, reach.within)}
        tables = [(kept, read_curve(ledger.bag, channel)) for channel, kept in channels.items() if channel not in alone]
        if not all(table is not None and is_untouched(kept, table) for kept, table in tables):
            by_owner[reach.owner] = None
        # Once `None`, an object stays so, whatever else is asked of it.
        known = by_owner.setdefault(reach.owner, _OwnKeys({}, [], set()))
        if known is not None:
            known.channels.update(channels)
            known.alone.update(alone)
            known.earlier.append(Earlier(reach.owner, frozenset(channels), reach.within))
    return by_owner


def _is_alone(bag: CurveBag, channel: Channel, kept: Kept, within: Span) -> bool:
    """Whether a channel had no curve before, and the task's keys in `within` are all that it has; a part of them is read."""
    fcurve = bag.fcurves.find(channel.path, index=channel.array_index)
    if kept.had_curve or fcurve is None or fcurve.sampled_points:
        return False
    return kept.is_all({name: key_numbers(fcurve, name) for name in ("co", "type")}, *within)


def _take_back(owner: Object, keys: _OwnKeys) -> None:
    """Restore the replaced keys on the channels of an object, which plays a copy of its action."""
    bag, values = ensure_curve_bag(owner), []
    for undone in keys.earlier:
        for channel in undone.channels:
            kept = keys.channels[channel]
            table = NO_KEYS if channel in keys.alone else read_curve(bag, channel)
            if table is None:
                continue
            before = table if channel in keys.alone else given_back(kept, table, *undone.within, to_beginning=True).table
            put_table(bag, channel, "", before, present=table, stays=kept.had_curve)
            if not len(before["co"]) and kept.value is not None:
                values.append(Edit(owner, *channel, kept.value))
    apply_edits(values)
