"""Find the limbs of a character, and keep them as chains."""

from __future__ import annotations

from ...errors import ObjectError
from ...limbs.finding import FoundLimb, find_limbs
from ...scene.blender_types import Object, Scene
from ...scene.lookup import find_armature
from ...scene.rig.chain_finding import ChainNames
from ...scene.rig.skeleton_reading import read_skeleton
from ..fk_to_target.guides import TARGET_SHAPE, add_guide, guide_name, seen_target_guide
from ..plan.completing import StoredChain
from ..plan.finding import chain_found
from ..plan.first_plane import first_plane
from ..plan.frame_choice import fresh_range
from .records import LeftOutLimb, LimbReport, LimbsReport
from .storing import chain_with, new_chain, note_limb
from .titles import title


def find_and_store(scene: Scene, name: str, active: Object | None, *, targets: bool) -> LimbsReport:
    """Make a stored chain of every arm and leg of an armature that has none yet; with `targets`, give each one a target.

    Where no name is given the active armature is meant, or the only one of the scene. Raises `ObjectError` where there is
    none, or it cannot be changed.
    """
    armature = find_armature(name, _active_or_only(scene, active))
    if not armature.is_editable:
        raise ObjectError(f'Armature "{armature.name}" is linked from another file. Make it local or override it first.')
    found = find_limbs(read_skeleton(armature))
    limbs = [_stored(scene, armature, limb) for limb in found.limbs]
    if targets:
        for report in limbs:
            _give_target(scene, armature, armature.twobone.chains[report.chain])
    left_out = [LeftOutLimb(list(each.bones), each.reason.value) for each in found.left_out]
    return LimbsReport(armature.name, limbs, left_out)


def _active_or_only(scene: Scene, active: Object | None) -> Object | None:
    """The active object, or the only armature where that is another object or none."""
    armatures = [thing for thing in scene.objects if thing.type == "ARMATURE"]
    is_armature = active is not None and active.type == "ARMATURE"
    return armatures[0] if not is_armature and len(armatures) == 1 else active


def _stored(scene: Scene, armature: Object, limb: FoundLimb) -> LimbReport:
    """The chain of a limb: the one that is there, or a new one, which starts in the plane that suits it."""
    chain = chain_with(armature, limb.upper, limb.lower)
    added = chain is None
    end = "TAIL" if limb.tip_at_tail else "HEAD"
    if chain is None:
        names = ChainNames(armature.name, limb.upper, limb.lower, limb.tip, limb.tip_at_tail)
        bones = {"upper": limb.upper, "lower": limb.lower, "tip": limb.tip, "tip_end": end}
        settings = {**bones, **fresh_range(scene), **first_plane(chain_found(armature, names))}
        chain = new_chain(armature, title(limb), settings)
    note_limb(chain, {"limb": limb.kind.value, "side": limb.side.value, "toe": limb.toe})
    return LimbReport(limb.kind.value, limb.side.value, limb.upper, limb.lower, limb.tip, end, limb.toe, chain.name, added)


def _give_target(scene: Scene, armature: Object, chain: StoredChain) -> None:
    """An empty at the tip of a chain that follows nothing yet."""
    if chain.target is not None:
        return
    names = ChainNames(armature.name, chain.upper, chain.lower, chain.tip or chain.lower, chain.tip_end == "TAIL")
    guide = seen_target_guide(armature, names)
    chain.target = add_guide(
        scene, armature, guide, name=guide_name("Target", armature, names), size=guide.size, shape=TARGET_SHAPE
    )
