"""Which bones of a rig others hang from, and whether these alone would be posed as they are in the whole rig."""

from __future__ import annotations

from collections.abc import Iterable

from ...blender_types import FCurve, Object, PoseBone
from ...lookup import bone_owner, owner_of
from ...moves.animation_reading import is_mixed, steers_bones
from ...moves.dependencies import DependencyFinder, drivers_by_owner, inverse_kinematics


def needed_bones(armature: Object, bones: Iterable[str], finder: DependencyFinder) -> set[str] | None:
    """All bones of an armature that some of them hang from, themselves included; `None` where these might not be enough."""
    if not _is_plain(armature):
        return None
    kept = _bones_above(armature, set(bones), finder)
    if kept is None or not _is_closed(armature, kept, finder) or _bends(armature, kept):
        return None
    drivers = drivers_by_owner(armature)
    owners = owners_of(armature, kept)
    means_the_same = all(_can_be_kept(armature, fcurve) for owner in owners for fcurve in drivers.get(owner, []))
    return kept if means_the_same else None


def owners_of(armature: Object, bones: Iterable[str]) -> set[str]:
    """What tells in a data path that it belongs to one of the bones, or to the object itself."""
    return {"", *(bone_owner(armature.pose.bones[name]) for name in bones)}


def _is_plain(armature: Object) -> bool:
    """Whether nothing but the armature's own action, constraints and drivers poses it."""
    data = armature.data
    local = not any((armature.library, armature.override_library, data.library, data.override_library))
    return local and not steers_bones(data) and not is_mixed(armature.animation_data)


def _bones_above(armature: Object, wanted: set[str], finder: DependencyFinder) -> set[str] | None:
    """All that the bones hang from, also by IK and by properties that drivers read; `None` where the scene has a say."""
    names = {bone_owner(bone): bone.name for bone in armature.pose.bones}
    drivers, turning = drivers_by_owner(armature), inverse_kinematics(armature)
    carriers = {constraint.as_pointer(): bone.name for bone in armature.pose.bones for constraint in bone.constraints}
    while True:
        above = finder.above([(armature.name, name) for name in wanted])
        if above.reads_scene:
            return None
        kept = {bone for owner, bone in above.nodes if owner == armature.name and bone in armature.pose.bones}
        read = {
            names[owner_of(target.data_path)]
            for owner in owners_of(armature, kept)
            for fcurve in drivers.get(owner, [])
            for variable in fcurve.driver.variables
            for target in variable.targets
            if target.id == armature and owner_of(target.data_path) in names
        }
        turned_by = {carriers[constraint.as_pointer()] for name in kept for constraint in turning.get(name, [])}
        if turned_by and armature.pose.ik_solver != "LEGACY":
            return None  # the other solver goes on from the frame before
        if read | turned_by <= kept:
            return kept
        wanted = kept | read | turned_by


def _is_closed(armature: Object, kept: set[str], finder: DependencyFinder) -> bool:
    """Whether nothing else that the bones hang from hangs from the armature in turn."""
    above = finder.above([(armature.name, name) for name in kept] or [(armature.name, "")])
    others = {owner for owner, _ in above.nodes if owner != armature.name}
    return not any(owner == armature.name for other in others for owner, _ in finder.above([(other, "")]).nodes)


def _bends(armature: Object, kept: set[str]) -> bool:
    """Whether a constraint reads how a bone is bent between its ends: that depends on its neighbours, which may be left out."""
    bones = armature.pose.bones
    bent = {name for name in kept if bones[name].bone.bbone_segments > 1}
    return bool(bent) and any(bent & _read_along(armature, bones[name]) for name in kept)


def _read_along(armature: Object, bone: PoseBone) -> set[str]:
    """Bones of the armature that a bone's constraints may read between head and tail."""
    read = set()
    for constraint in bone.constraints:
        if constraint.type == "ARMATURE":
            read |= {entry.subtarget for entry in constraint.targets if entry.target == armature}
        elif getattr(constraint, "use_bbone_shape", False) and constraint.target == armature:
            read.add(constraint.subtarget)
    return read


def _can_be_kept(armature: Object, fcurve: FCurve) -> bool:
    """Whether a driver means the same on a double: it names all that it reads."""
    driver = fcurve.driver
    if driver.use_self or (driver.type == "SCRIPTED" and not driver.is_simple_expression):
        return False
    return all(target.id != armature.data for variable in driver.variables for target in variable.targets)
