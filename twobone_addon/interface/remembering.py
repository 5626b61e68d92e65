"""What panels show of a limb and takes milliseconds to find: whether the visible limb follows, the digest of its animation."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import TwoBoneError
from ..pipeline.plan.stored import StoredChain
from ..scene.lookup import find_armature
from .watching import Memory

if TYPE_CHECKING:
    from ..scene.visible.visible_bone import Shown


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether and how the visible limb follows a chain."""

    shown: "Shown | None" = None
    """The visible bone of the limb; `None` if no bone deforms a mesh there, or there is no such chain."""
    hidden: tuple[tuple[str, str], ...] = ()
    """Names of Armature modifiers hidden in the viewport, and of their meshes."""
    has_ik: bool = False
    """Whether the limb follows the chain now, but could follow the rig's IK instead."""
    is_on_ik: bool = False
    """Whether Switch to FK would let it follow the chain; else constraints of the chain's own bones keep it from that."""


visible: Memory[Sight] = Memory(follows_frames=True)  # Influences of constraints may be animated.
digests: Memory[str] = Memory()


def visible_limb(chain: StoredChain) -> Sight:
    """Return the visible state of a chain at the present frame, from the cache."""
    key = (chain.id_data.name, chain.upper, chain.lower, chain.tip, chain.tip_end)
    return visible.recall(key, lambda: _visible_limb(*key))


def _visible_limb(armature: str, upper: str, lower: str, tip: str, tip_end: str) -> Sight:
    from ..scene.rig.chain_finding import chain_from_names
    from ..scene.visible.rig_ik import RigReader
    from ..scene.visible.skin import Skins
    from ..scene.visible.visible_bone import is_switched, shown_bone

    if not (upper and lower):
        return Sight()  # A new chain has no bones yet.
    try:
        rig = find_armature(armature, None)
        skins = Skins()
        names = chain_from_names(rig, upper, lower, tip, tip_end)
        shown = shown_bone(rig, names, skins)
    except TwoBoneError:
        return Sight()  # There is no such chain, which is reported elsewhere.
    has_ik = shown is not None and shown.follows and RigReader(rig, names).may_follow_ik()
    is_on_ik = shown is not None and not shown.follows and is_switched(rig, names, shown)
    return Sight(shown, tuple(skins.hidden(rig)), has_ik, is_on_ik)
