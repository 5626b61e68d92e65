"""Find Limbs: add the arms and legs of a character to its list of chains."""

from __future__ import annotations

from ...errors import ObjectError
from ...pipeline.story import Make, Story, Task, Write
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.keys.writing import Change
from ...scene.lookup import find_armature
from ...settings.tasks import TABLES, FindLimbsSettings
from ..give.guides import added_targets
from ..give.task import target_keys
from .finding import LimbsReport, limbs_of, said_left_out, said_named, stored_limbs


def find_limbs(scene: Scene, settings: FindLimbsSettings, active: Object | None, _own: OwnAction | None) -> Story[LimbsReport]:
    """Add a chain for every limb of the named or active armature, or of the scene's only one, and targets on request."""
    armatures = [thing for thing in scene.objects if thing.type == "ARMATURE"]
    if (active is None or active.type != "ARMATURE") and len(armatures) == 1:
        active = armatures[0]
    armature = find_armature(settings.armature, active)
    if not armature.is_editable:
        raise ObjectError(
            'Armature "{armature}" is linked from another file. Make it local or override it first.', armature=armature.name
        )
    found = yield from limbs_of(scene, armature)
    limbs = [record.report(rest_stands=found.limbs_from == "REST") for record in found]
    report = LimbsReport(
        armature=armature.name,
        limbs=limbs,
        left_out=list(found.left_out),
        limbs_from=found.limbs_from,
        rest_is_no_pose=found.rest_is_no_pose,
        sides_differ=found.sides_differ,
        notes=[*said_named(limbs), *said_left_out(found.left_out)],
    )
    yield Make(stored_limbs(armature, found.limbs))
    changes: list[Change] = []
    if settings.targets:
        chains = [armature.twobone.chains[record.chain] for record in found]
        without_target = [chain for chain in chains if chain.target is None]
        yield Make(added_targets(scene, without_target))
        changes = yield from target_keys(scene, without_target)
    yield Write(changes, lambda: report)
    return report


FIND_LIMBS = Task("find_limbs", TABLES["find_limbs"], find_limbs, LimbsReport)
