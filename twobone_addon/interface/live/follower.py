"""Which chains are live, and what is known of each."""

from dataclasses import dataclass, field

import bpy

from ...pipeline.plan.completing import StoredChain
from ...pipeline.pose.present import ChannelValue, PresentPlan
from .posing import Channels

Key = tuple[str, str]
"""Names of an armature and of a chain stored on it."""


@dataclass(slots=True)
class Following:
    """A live chain."""

    present: PresentPlan
    is_straight: bool = False
    """Whether only a look at other frames tells the plane of the limb."""
    is_old: bool = False
    """Whether keys have changed since that look, or since the look that told the target's offset."""
    base: Channels = field(default_factory=dict)
    left: Channels = field(default_factory=dict)
    """What the channels held when the chain was posed last."""
    unkeyed: list[ChannelValue] = field(default_factory=list)
    """What moved since the last keys, for auto-keying."""
    unmoved: Channels = field(default_factory=dict)
    """What the channels held before that: a move that is cancelled brings it back."""
    move: str = ""
    """Name of the operator that moved it."""
    moved: set[str] = field(default_factory=set)
    """Names of all objects that moved with it."""
    was_undone: bool = False
    """Whether undo or redo is what moves it next, which nobody wants keys for."""


following: dict[Key, Following] = {}
"""The chains that are live now."""


def key_of(chain: StoredChain) -> Key:
    """What a chain is known by."""
    return chain.id_data.name, chain.name


def stored_chain(key: Key) -> StoredChain | None:
    """The chain of a key; `None` where it or its armature is gone or has another name now."""
    armature = bpy.data.objects.get(key[0])
    return armature.twobone.chains.get(key[1]) if armature is not None else None
