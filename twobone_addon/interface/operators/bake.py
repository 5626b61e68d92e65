"""The bake operators: they collect settings, run the bake and report the result."""

from collections.abc import Iterable, Iterator

import bpy

from ...errors import SelectionError, TwoBoneError
from ...pipeline.plan.stored import StoredChain, is_in_scope, stored_chains, stored_settings
from ...pipeline.report.reports import BakeReport
from ...records import replace
from ...said import Sentence
from ...scene.lookup import find_armature
from ...scene.sampling.stepping import Steps
from ...settings import LIMITS, OPTIONS
from ...settings.options import ACTIVE, Group, options_of
from ...settings.tasks import TABLES, BakeAllSettings
from ...tasks.all_tasks import task_named
from ..rows import NO_TARGETS, draw_options
from ..running.progress import Begun, ShowsProgress
from ..running.repeating import RepeatsChain
from ..stored.option_properties import LISTED, properties_of, with_properties
from ..stored.selecting import meant_chains, selected_chains
from ..stored.storing import keep_names_apart
from ..stored.where import NeedsMode, active_armature

NOT_TRIED_OUT = {
    "armature", "upper", "lower", "tip", "tip_end", "target", "target_bone", "target_offset", "joints", "method",
    "min_distance", "max_distance", "use_limits", *LIMITS,
    "interpolation", "key_before", "key_after", "destination", "verify", "evaluation",
}  # fmt: skip
"""Settings left out of the redo panel: properties of the rig and habits of the animator, not tried out after a bake."""


@with_properties(properties_of(OPTIONS))
class TWOBONE_OT_bake(RepeatsChain, ShowsProgress, NeedsMode, bpy.types.Operator):
    """Key the rotations of the chain so that its tip follows the target. Clear Baked Keys brings back what it replaces"""

    bl_idname = "twobone.bake"
    bl_label = "Bake Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}
    table = TABLES["bake"]

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the bake of the named chain or of all selected ones; show a single one's settings in the redo panel."""
        from ...pipeline.run import run_steps

        armature = active_armature(context)
        # Settings and reports find their chains by name.
        owners = {armature, *(chain.id_data for chain in selected_chains(context.view_layer))}
        armatures = [owner for owner in owners if owner is not None and owner.type == "ARMATURE"]
        self.renamed = [renamed for owner in armatures for renamed in keep_names_apart(owner)]
        chains = self.wanted_settings(context)
        self.show(chains)
        keepers = [chain.stored for chain in chains] if self.several else [self.stored]
        return Begun(keepers, run_steps(context.scene, task_named("bake"), BakeAllSettings(chains=tuple(chains)), armature))

    def explain(self, context: bpy.types.Context, error: TwoBoneError) -> Sentence:
        """Return the error's sentence, with the failing chain if several were selected."""
        chains = meant_chains(context.view_layer, active_armature(context)) if self.several else []
        return explained(context, chains, error)

    def draw_settings(self) -> None:
        """Draw the settings of a single chain that users try out after a bake."""
        without = NOT_TRIED_OUT | self.keyed_settings()
        for group in (Group.PLANE, Group.ADVANCED, Group.CHAIN, Group.REACH, Group.KEYS):
            draw_options(self.layout.column(), self, group, without=without)


@with_properties(properties_of(options_of(BakeAllSettings)))
class TWOBONE_OT_bake_all(ShowsProgress, NeedsMode, bpy.types.Operator):
    """Bake all enabled chains in one pass, each with its own settings. Chains that never had a target are left out"""

    bl_idname = "twobone.bake_all"
    bl_label = "Bake All Two-Bone IK"
    bl_options = {"REGISTER", "UNDO"}
    table = TABLES["bake"]

    def begin(self, context: bpy.types.Context) -> Begun:
        """Begin the bake of all enabled chains in the scope."""
        from ...pipeline.run import run_steps

        armatures = {chain.id_data for chain in stored_chains(context.scene)}
        self.renamed = [renamed for armature in armatures for renamed in keep_names_apart(armature)]
        chains, skipped = with_targets(stored_in_scope(context, self.scope))
        settings = [stored_settings(chain.id_data, chain, {}) for chain in chains]
        # With several actions every chain gets a report for each, but it can only keep one.
        keepers = [setting.stored for setting in settings] if self.actions == ACTIVE else []
        bake_all = BakeAllSettings(chains=tuple(settings), last_wins=self.last_wins)
        steps = run_steps(context.scene, task_named("bake"), bake_all, actions=self.actions)

        def with_skipped() -> Steps[BakeReport]:
            return replace((yield from steps), skipped=skipped)

        return Begun(keepers, with_skipped())

    def draw_correction(self) -> None:
        """Draw the scope, the choice for chains that key the same bones, and the actions."""
        self.layout.prop(self, "scope")
        self.layout.prop(self, "last_wins")
        self.layout.prop(self, LISTED["actions"])

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the redo panel, or the dialog after a refusal."""
        if not self.draws_refusal(context):
            self.layout.use_property_split = True
            self.draw_correction()

    def explain(self, context: bpy.types.Context, error: TwoBoneError) -> Sentence:
        """Return the error's sentence with the chain that fails on its own, if there is one."""
        try:
            chains, _ = with_targets(list(chains_in_scope(context, self.scope)))
        except SelectionError:
            return error.sentence
        return explained(context, chains, error)


def explained(context: bpy.types.Context, chains: Iterable[StoredChain], error: TwoBoneError) -> Sentence:
    """Return the error's sentence with the name of the failing chain; plans the chains one by one to find it."""
    from ...pipeline.plan.planning import plan_bake

    for chain in chains:
        try:
            plan_bake(context.scene, stored_settings(chain.id_data, chain, {}), None)
        except TwoBoneError as own_error:
            values = {"chain": chain.name, "armature": chain.id_data.name, "reason": own_error.sentence}
            return Sentence('Chain "{chain}" of "{armature}": {reason}', values)
    return error.sentence


def chains_in_scope(context: bpy.types.Context, scope: str) -> Iterator[StoredChain]:
    """Yield every enabled stored chain in `scope`."""
    active = active_armature(context)
    for chain in stored_chains(context.scene):
        if chain.enabled and is_in_scope(chain.id_data, scope, active):
            yield chain


def stored_in_scope(context: bpy.types.Context, scope: str) -> list[StoredChain]:
    """Return every enabled stored chain in `scope`; raises `SelectionError` if there is none.

    Raises `ObjectError` if there is not even an armature to look in.
    """
    chains = list(chains_in_scope(context, scope))
    if not chains:
        if scope == "ACTIVE":
            find_armature("", active_armature(context))
        where = {"ACTIVE": "active armature", "SELECTED": "selection", "SCENE": "scene"}[scope]
        raise SelectionError(
            "No enabled chain is stored in the {where}. Add a chain in the sidebar first.", where=Sentence(where)
        )
    return chains


def with_targets(chains: list[StoredChain]) -> tuple[list[StoredChain], list[str]]:
    """Return the chains to bake, and the names of those skipped because they never had a target; a single one is kept.

    Raises `SelectionError` if none of several ever had one. Find Limbs lists chains without targets, and an animator adds
    them to those to be baked. A chain without a target that was baked before, or that names a target bone, has lost its
    target, as has one whose target was deleted, so it is kept and the bake refuses it.
    """
    never = [chain for chain in chains if chain.target is None and not (chain.target_bone or chain.report or chain.lost_target)]
    if len(never) == len(chains) > 1:
        raise SelectionError(NO_TARGETS)
    if len(never) == len(chains):
        return chains, []
    return [chain for chain in chains if chain not in never], [chain.name for chain in never]


CLASSES = (TWOBONE_OT_bake, TWOBONE_OT_bake_all)

register, unregister = bpy.utils.register_classes_factory(CLASSES)
