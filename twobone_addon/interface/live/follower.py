"""What is known of a chain while it is live."""

from dataclasses import dataclass, field

from ...baking.pose.present import ChannelValue, PresentPlan
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
