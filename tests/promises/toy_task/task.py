"""Lift Limb: the upper bone of a limb moves along its own Z axis, all of its motion by the same distance."""

from dataclasses import dataclass

from twobone_addon.core.curves.frames import frame_grid
from twobone_addon.errors import ChainError
from twobone_addon.pipeline.beginning import ToWrite
from twobone_addon.pipeline.chosen_actions import own_span
from twobone_addon.pipeline.report.reports import ClipReport
from twobone_addon.pipeline.story import Sample, StartOver, Task, Write, range_asked
from twobone_addon.said import Sentence
from twobone_addon.scene.bones import location_path, read_rest_bone
from twobone_addon.scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from twobone_addon.scene.keys.replaced import limb_name
from twobone_addon.scene.keys.tables import StraightKeys
from twobone_addon.scene.keys.writing import Change
from twobone_addon.scene.lookup import find_armature
from twobone_addon.scene.sampling.quantities import Quantity
from twobone_addon.settings import options as own
from twobone_addon.settings.tasks import Table


@dataclass(frozen=True)
class LiftSettings(own.Settings):
    """Which bone is lifted, how far, and when."""

    armature: str = own.object_option(own.Group.CHAIN, "Armature", "Armature of the bone. Leave empty to use the active object")
    bone: str = own.bone_option(own.Group.CHAIN, "Bone", "Upper bone of the limb. Leave empty for the first limb of the list")
    height: float = own.number_option(own.Group.REACH, 0.1, "Height", "How far it is lifted", unit="LENGTH")
    actions: str = own.actions_option()
    frame_range: str = own.range_option("Frames to lift the limb at", own.CUSTOM)
    frame_start: float = own.start_option("First frame of the range")
    frame_end: float = own.end_option("Last frame of the range")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiftReport(ClipReport):
    """What became of the bone."""

    bone: str
    lifted: float | None
    """Least distance that Blender's evaluation shows; `None` where nothing was measured."""

    @property
    def summary(self):
        """Which bone it was."""
        return Sentence('Bone "{bone}" is lifted.', {"bone": self.bone})


def lift_limb(scene, settings, active, action):
    """Lift a limb."""
    armature = find_armature(settings.armature, active)
    refuse_stretched_time(scene)
    bone = settings.bone or next((chain.upper for chain in armature.twobone.chains), "")
    if bone not in armature.pose.bones:
        raise ChainError('Bone "{bone}" is not in this armature. Choose one of its bones.', bone=bone)
    path = location_path(read_rest_bone(armature.pose.bones[bone]))
    refuse_unwritable(armature, [path], "ACTION")
    within = range_asked(scene, settings, own_span(action))
    location, frames = Quantity("CHANNELS", armature.name, bone), frame_grid(*within, 1.0)
    yield StartOver([ToWrite(armature.name, {path}, within)])
    before = (yield Sample([location], frames)).every(location)
    goals = before[:, :3] + [0.0, 0.0, settings.height]
    keys = [StraightKeys(path, axis, bone, frames, goals[:, axis], "LINEAR") for axis in range(3)]
    change = Change(armature.name, keys, within, "lift", limb_name(armature.name, bone))
    yield Write([change], lambda: LiftReport(bone=bone, lifted=None))
    after = (yield Sample([location], frames)).every(location)
    return LiftReport(bone=bone, lifted=float((after - before)[:, 2].min()))


LIFT = Task(
    "lift", Table("lift", LiftSettings, "Lift Limb", "Move the upper bone of a limb along its own Z axis"), lift_limb, LiftReport
)
