"""The state of each live chain."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import bpy

from ...pipeline.plan.stored import StoredChain
from .posing import Channels

if TYPE_CHECKING:
    from ...pipeline.pose.present import ChannelValue, PresentLimb, PresentPlan

Key = tuple[str, str]
"""Names of an armature and of a chain stored on it."""

MOST_FRAMES = 1000
"""Number of frames that are remembered of each chain, about 10 kB each."""


class ShownFrame(NamedTuple):
    """How a live chain was posed at a frame."""

    limb: "PresentLimb"
    values: "list[ChannelValue]"
    is_animated: bool
    """Whether evaluating the frame overwrote the pose from before, as keys of the limb do."""


@dataclass(slots=True)
class LiveChain:
    """The state of a live chain."""

    present: "PresentPlan"
    is_straight: bool = False
    """Whether the limb is straight, so that its plane must be sampled from other frames."""
    is_old: bool = False
    """Whether keys have changed since other frames were sampled for the limb's plane or the target's offset."""
    base: Channels = field(default_factory=dict)
    """Channels of the pose without Live."""
    left: Channels = field(default_factory=dict)
    """Channels after the chain was last posed by Live."""
    frames: dict[float, ShownFrame] = field(default_factory=dict)
    """How the chain was posed at each frame, for when it is shown again."""
    checked: "tuple[PresentPlan | None, object]" = (None, None)
    """The plan when it was last found to be current, and what that depended on, see `present.read_fixed`."""
    posed: object = None
    """What the pose depends on, see `present.read_moving`, when it was last found to be right; `None` since it was posed anew."""
    limb: "PresentLimb | None" = None
    """The limb, with all that its pose was made from, when Live last posed the chain; `None` before."""
    ahead: "tuple[Channels, list[ChannelValue]] | None" = None
    """The channels before, and their new values, where the chain was posed ahead of the evaluation that is to confirm it."""
    unkeyed: "list[ChannelValue]" = field(default_factory=list)
    """Channel values to be keyed by auto-keying when the move ends."""
    unmoved: Channels = field(default_factory=dict)
    """Channels before the move; a cancelled move restores them."""
    move: str = ""
    """Name of the operator that moved the chain."""
    moved: set[str] = field(default_factory=set)
    """Names of all objects updated during the move."""
    was_undone: bool = False
    """Whether the next update comes from undo or redo, and must not be keyed."""


following: dict[Key, LiveChain] = {}
"""The live chains."""


def key_of(chain: StoredChain) -> Key:
    """Return the key of a stored chain."""
    return chain.id_data.name, chain.name


def stored_chain(key: Key) -> StoredChain | None:
    """Return the stored chain of a key; `None` if it or its armature was removed or renamed."""
    armature = bpy.data.objects.get(key[0])
    return armature.twobone.chains.get(key[1]) if armature is not None else None
