"""The bake operators: gather settings, call the use-case, say the result."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import bpy

from ..baking.bake import bake
from ..baking.completing import StoredChain, completed, limit_pairs, stored_chains, stored_settings
from ..baking.planning import plan_chain
from ..baking.report import BakeReport
from ..errors import TwoBoneError
from ..options import Group
from ..settings import OPTIONS, BakeSettings
from .option_properties import operator_properties, with_properties
from .properties import TwoBoneLimit
from .rows import draw_options
from .storing import set_limits
from .where import NeedsMode, active_armature

SCOPES = (
    ("ACTIVE", "Active Armature", "Every enabled chain of the active armature"),
    ("SELECTED", "Selected Armatures", "Every enabled chain of the selected armatures"),
    ("SCENE", "Scene", "Every enabled chain of the scene"),
)


SETTLED = {"destination", "verify", "evaluation"}
"""Settings that nobody tries out by changing them after the bake."""


@with_properties(operator_properties())
class TWOBONE_OT_bake(NeedsMode, bpy.types.Operator):
    """Bake two-bone IK: key the rotations of a chain so that its tip follows the target in the chosen plane"""

    bl_idname = "twobone.bake"
    bl_label = "Bake Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    stored: bpy.props.StringProperty(
        name="Stored Chain",
        description="Name of the stored chain whose keyed bend and influence are read at every frame",
        options={"HIDDEN", "SKIP_SAVE"},
    )
    limits: bpy.props.CollectionProperty(
        type=TwoBoneLimit,
        name="Joint Limits",
        description="Limits of each joint where all joints bend; empty for those of upper and lower bone",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake, and leave the report on the window manager."""
        try:
            settings = self._settings(context)
            report = bake(context.scene, [settings], active_armature(context))
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self._show(settings)
        keep_report(context, report, [settings])
        self.report({"WARNING" if report.chains[0].out_of_reach else "INFO"}, report.sentence())
        return {"FINISHED"}

    def draw(self, _context: bpy.types.Context) -> None:
        """The redo panel: what makes sense to change after the fact."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        for group in (Group.PLANE, Group.REACH, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=SETTLED)

    def _settings(self, context: bpy.types.Context) -> BakeSettings:
        """What is given, and from chain, selection and rig what is not; the same again when the redo panel repeats it."""
        given = {option.name: getattr(self, option.name) for option in OPTIONS if self.properties.is_property_set(option.name)}
        if self.limits:
            given["limits"] = limit_pairs(self.limits)
        if self.stored:
            return BakeSettings(**given, stored=self.stored if self._is_as_stored() else "")
        return completed(context.scene, given, active_armature(context))

    def _is_as_stored(self) -> bool:
        """Whether nobody has chosen another bend or influence in the redo panel than the stored chain's."""
        chain = bpy.data.objects[self.armature].twobone.chains.get(self.stored)
        return chain is not None and self.bend == chain.bend and self.influence == chain.influence

    def _show(self, settings: BakeSettings) -> None:
        """Leave in the redo panel what was baked."""
        for option in OPTIONS:
            setattr(self, option.name, getattr(settings, option.name))
        self.stored = settings.stored
        set_limits(self.limits, settings.limits)


class TWOBONE_OT_bake_all(NeedsMode, bpy.types.Operator):
    """Bake all enabled chains of the list, in one walk over time"""

    bl_idname = "twobone.bake_all"
    bl_label = "Bake All Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}

    scope: bpy.props.EnumProperty(
        name="Scope", description="Whose chains are baked", items=SCOPES, default="ACTIVE", options={"SKIP_SAVE"}
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Bake, and leave the report on the window manager."""
        chains = list(chains_in_scope(context, self.scope))
        if not chains:
            where = {"ACTIVE": "active armature", "SELECTED": "selection", "SCENE": "scene"}[self.scope]
            self.report({"ERROR"}, f"No enabled chain is stored in the {where}. Add a chain in the sidebar first.")
            return {"CANCELLED"}
        try:
            settings = [_named_settings(armature, chain) for armature, chain in chains]
            report = _bake_all(context.scene, settings)
        except TwoBoneError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        keep_report(context, report, settings)
        missed = any(chain.out_of_reach for chain in report.chains)
        self.report({"WARNING" if missed else "INFO"}, report.sentence())
        return {"FINISHED"}


def chains_in_scope(context: bpy.types.Context, scope: str) -> Iterator[tuple[bpy.types.Object, StoredChain]]:
    """Every enabled stored chain that `scope` means, with its armature."""
    active = active_armature(context)
    for armature, chain in stored_chains(context.scene):
        wanted = scope == "SCENE" or (armature == active if scope == "ACTIVE" else armature.select_get())
        if wanted and chain.enabled:
            yield armature, chain


def keep_report(context: bpy.types.Context, report: BakeReport, settings: list[BakeSettings]) -> None:
    """Leave the report on the window manager, and each chain's own on the stored chain it came from."""
    context.window_manager.twobone_report = report.to_json()
    for wanted, chain in zip(settings, report.chains, strict=True):
        stored = bpy.data.objects[chain.armature].twobone.chains.get(wanted.stored) if wanted.stored else None
        if stored is not None:
            stored.report = json.dumps(asdict(chain))


def _named_settings(armature: bpy.types.Object, chain: StoredChain) -> BakeSettings:
    try:
        return stored_settings(armature, chain, {})
    except TwoBoneError as error:
        raise _about(armature.name, chain.name, error) from error


def _bake_all(scene: bpy.types.Scene, settings: list[BakeSettings]) -> BakeReport:
    try:
        return bake(scene, settings)
    except TwoBoneError:
        # Which of the chains it was, is found out only now: planning them one by one each time would cost time.
        for wanted in settings:
            try:
                plan_chain(scene, wanted, None)
            except TwoBoneError as error:
                raise _about(wanted.armature, wanted.stored, error) from error
        raise


def _about(armature: str, chain: str, error: TwoBoneError) -> TwoBoneError:
    return type(error)(f'Chain "{chain}" of "{armature}": {error}')


CLASSES = (TWOBONE_OT_bake, TWOBONE_OT_bake_all)


def register() -> None:
    """Register the operators."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    """Take them away again."""
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
