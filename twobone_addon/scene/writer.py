"""The writer: all changes of a run go through here, and are put back where the run does not come to its end.

Before anything is changed, the way to put it back is noted. What is to be removed only looks removed until nothing can fail any
more, for Blender cannot bring back what it has removed as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from itertools import starmap
from typing import Any, Self, TypeVar

import bpy
from mathutils import Matrix

from .blender_types import Action, AnimData, CurveBag, FCurve, NlaTrack, Object

Thing = TypeVar("Thing")

GONE = ".twobone_gone"
"""Data path of curves, and name of tracks, that are removed at the end of the run."""


class Transaction:
    """The changes of one run: all of them, or none."""

    def __init__(self, outer: Transaction | None = None) -> None:
        """Begin one, within the `outer` one, or within the one in which changes are noted now."""
        self._noted_before = _now.transaction
        self._outer = outer = outer or _now.transaction
        # What is changed within another one is put back with it, too.
        self.back: list[Callable[[], object]] = [] if outer is None else outer.back
        self.removals: list[Callable[[], object]] = [] if outer is None else outer.removals
        self._before = len(self.back), len(self.removals)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        _now.transaction = self._noted_before
        if error is not None:
            back = self.back[self._before[0] :]
            del self.back[self._before[0] :], self.removals[self._before[1] :]
            _now.is_putting_back, was_putting_back = True, _now.is_putting_back
            try:
                _do_all_backwards(back)
            finally:
                _now.is_putting_back = was_putting_back
        elif self._outer is None:
            # What puts back holds on to all that was replaced, which a check need not wait beside.
            self.back.clear()
            # Backwards twice: in the order in which they were noted.
            _do_all_backwards(self.removals[::-1])
            self.removals.clear()

    def noting(self) -> AbstractContextManager[None]:
        """Note all changes in a block, which must not be left to others in between."""
        return _noting(self)

    def note(self, put_back: Callable[[], object]) -> None:
        """Note how to put back what is about to be changed; where it was not changed after all, this must do no harm."""
        self.back.append(put_back)

    def note_removal(self, remove: Callable[[], object]) -> None:
        """Note what to remove at the end."""
        self.removals.append(remove)


class _Now:
    transaction: Transaction | None = None
    """Where changes are noted now; without any they are final."""
    is_putting_back = False
    """Whether the changes of a run that failed are being put back."""


_now = _Now()


@contextmanager
def _noting(transaction: Transaction | None) -> Iterator[None]:
    before, _now.transaction = _now.transaction, transaction
    try:
        yield
    finally:
        _now.transaction = before


def is_writing() -> bool:
    """Whether changes are noted now: somebody is in the middle of them."""
    return _now.transaction is not None


def is_putting_back() -> bool:
    """Whether the changes of a run that failed are being put back."""
    return _now.is_putting_back


def unnoted() -> AbstractContextManager[None]:
    """Note nothing in a block: what it changes are copies, or it restores by itself what it changes."""
    return _noting(None)


def _do_all_backwards(steps: Sequence[Callable[[], object]]) -> None:
    """Take all steps, the last one first, even if some of them fail or are interrupted."""
    with ExitStack() as stack:
        for step in steps:
            stack.callback(_do, step)


def _do(step: Callable[[], object]) -> None:
    with suppress(ReferenceError):  # Temporary data may be gone already.
        step()


def on_failure(put_back: Callable[[], object]) -> None:
    """Note how to put back what is about to be changed; where it was not changed after all, this must do no harm."""
    if _now.transaction is not None:
        _now.transaction.note(put_back)


def at_end(remove: Callable[[], object]) -> None:
    """Remove something once the run has come to its end."""
    if _now.transaction is not None:
        _now.transaction.note_removal(remove)
    else:
        remove()


def make(create: Callable[[], Thing], remove: Callable[[Thing], object]) -> Thing:
    """Create something by a function of Blender's own, and note how to remove it."""
    made: list[Thing] = []
    on_failure(lambda: [remove(thing) for thing in made])
    # One step for Python, so that no interruption falls between creating something and having it.
    made.extend(starmap(create, [()]))
    return made[0]


def keep(thing: Any, name: str) -> None:
    """Note the value of a property that is about to be changed."""
    if _now.transaction is not None:
        _now.transaction.note(_setting_back(thing, name))


def assign(thing: Any, name: str, value: object) -> None:
    """Set a property of something."""
    keep(thing, name)
    setattr(thing, name, value)


def unset(thing: Any, name: str) -> None:
    """Let a property have its default again."""
    keep(thing, name)
    thing.property_unset(name)


def _setting_back(thing: Any, name: str) -> Callable[[], object]:
    """What sets a property to its present value."""
    find = partial(lambda kept: kept, thing)
    if isinstance(thing, bpy.types.PropertyGroup):  # Blender moves these when their list grows.
        find = partial(thing.id_data.path_resolve, thing.path_from_id())
    if not thing.is_property_set(name):
        return lambda: find().property_unset(name)
    value = getattr(thing, name)
    if isinstance(value, Matrix):
        value = value.copy()
    elif hasattr(value, "__len__") and not isinstance(value, str | bpy.types.bpy_struct):
        value = tuple(value)
    return lambda: setattr(find(), name, value)


def assign_item(thing: Any, key: str | int, value: object) -> None:
    """Set a custom property of something, or a component of a vector."""
    if isinstance(key, int) or key in thing:
        on_failure(partial(thing.__setitem__, key, thing[key]))
    else:
        on_failure(lambda: thing.pop(key, None))
    thing[key] = value


def add_item(items: Any) -> Any:
    """Add an item to a list that the add-on stores, at its end."""
    count, find = len(items), partial(items.id_data.path_resolve, items.path_from_id())

    def remove() -> None:
        if len(find()) > count:
            find().remove(count)

    on_failure(remove)
    return items.add()


def animate(owner: Object) -> AnimData:
    """The animation data of a datablock, created where there are none."""
    data = owner.animation_data
    return data if data is not None else make(owner.animation_data_create, lambda _: owner.animation_data_clear())


def play(data: AnimData, action: Action | None, slot: str) -> None:
    """Let animation data play an action, by the slot with that identifier; before 4.4 there are none."""
    on_failure(playing(data))
    _play(data, action, slot)


def playing(data: AnimData) -> Callable[[], None]:
    """What lets animation data play again what they play now; they also remember the name of the last slot."""
    has_slots = hasattr(data, "action_slot")
    slot = data.action_slot.identifier if has_slots and data.action_slot else ""
    action, last = data.action, data.last_slot_identifier if has_slots else ""

    def play_again() -> None:
        _play(data, action, slot)
        if has_slots:
            data.last_slot_identifier = last

    return play_again


def _play(data: AnimData, action: Action | None, slot: str) -> None:
    data.action = action
    if action is not None and hasattr(data, "action_slot"):
        # Assigning an action may choose a slot by the name of the last one: what was chosen before is set in any case.
        data.action_slot = action.slots[slot] if slot else None


def tracks_of(data: AnimData | None) -> list[NlaTrack]:
    """The NLA tracks of animation data, lowest first, without those that are being removed."""
    return [track for track in data.nla_tracks if track.name != GONE] if data is not None else []


def remaining_curves(bag: CurveBag) -> list[FCurve]:
    """The curves of a bag without those that are being removed."""
    return [fcurve for fcurve in bag.fcurves if fcurve.data_path != GONE]


def drop_curve(bag: CurveBag, fcurve: FCurve) -> None:
    """Remove a curve, and its group if that was its last one."""
    if _now.transaction is None:
        _remove_curve(bag, fcurve)
        return
    on_failure(partial(setattr, fcurve, "data_path", fcurve.data_path))
    fcurve.data_path = GONE
    at_end(partial(_remove_curve, bag, fcurve))


def _remove_curve(bag: CurveBag, fcurve: FCurve) -> None:
    name = fcurve.group.name if fcurve.group else ""
    bag.fcurves.remove(fcurve)
    drop_empty_group(bag, name)


def drop_empty_group(bag: CurveBag, name: str) -> None:
    """Remove a group without curves; some versions of Blender do so by themselves when its last curve goes."""
    group = bag.groups.get(name)
    if group is not None and not group.channels:
        bag.groups.remove(group)


def drop_track(data: AnimData, track: NlaTrack) -> None:
    """Remove an NLA track."""
    assign(track, "mute", value=True)
    assign(track, "name", GONE)
    at_end(partial(data.nla_tracks.remove, track))


def drop_action(action: Action) -> None:
    """Remove an action, if nothing plays or keeps it."""

    def remove() -> None:
        if not action.users:
            bpy.data.actions.remove(action)

    at_end(remove)


def drop_animation(owner: Object) -> None:
    """Remove the animation data of a datablock, if nothing is left in them."""

    def clear() -> None:
        data = owner.animation_data
        if data is not None and data.action is None and not data.nla_tracks and not data.drivers:
            owner.animation_data_clear()

    at_end(clear)
