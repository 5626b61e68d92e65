"""The table of each task, from which its operator, its command, its jobs, their schema and the options page are made."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..said import Sentence, note
from . import OPTION, OPTIONS, BakeSettings
from .auditing import AuditSettings
from .bake_options import KeySettings
from .contacts import ContactFileSettings, ContactSettings, ExportContactSettings
from .nudging import NudgeSettings
from .options import (
    Group,
    Option,
    Settings,
    actions_option,
    bone_option,
    choice_option,
    name_option,
    object_option,
    options_of,
    switch_option,
    when,
    without_effect,
)
from .planting import PlantSettings, RootFitSettings

SCOPES = (
    ("ACTIVE", "Active Armature", "Every enabled chain of the active armature"),
    ("SELECTED", "Selected Armatures", "Every enabled chain of the selected armatures"),
    ("SCENE", "Scene", "Every enabled chain of the scene"),
)
CHAIN = ("CHAIN", "Chain", "The chain that is named or selected, or the active one")


@dataclass(frozen=True)
class OfChains(Settings):
    """Settings of a task that works on several chains together."""

    chains: tuple[BakeSettings, ...] = ()
    """The settings of each chain. Not an option."""


@dataclass(frozen=True, slots=True)
class BakeAllSettings(OfChains):
    """Settings of Bake for several chains together."""

    scope: str = choice_option(Group.CHAIN, "ACTIVE", "Scope", "Whose chains are baked", *SCOPES)
    last_wins: bool = switch_option(
        Group.KEYS,
        "Last Wins",
        "Let a later chain overwrite the keys of an earlier one on the same bones instead of refusing the bake",
    )
    actions: str = actions_option()


@dataclass(frozen=True, slots=True)
class GiveSettings(OfChains):
    """Settings of baking targets from chains."""

    rotate: bool = switch_option(
        Group.CHAIN, "Rotate", "Key the target's rotation as well, so that the bone at the tip, such as the foot, can copy it"
    )
    scope: str = choice_option(
        Group.CHAIN, "CHAIN", "Scope", "Which chains key their targets",
        CHAIN, *SCOPES,
    )  # fmt: skip
    actions: str = actions_option()


@dataclass(frozen=True, slots=True)
class ClearSettings(OfChains):
    """Settings of clearing baked keys."""

    all_frames: bool = switch_option(
        Group.KEYS,
        "All Frames",
        "Also remove baked keys outside the chain's range, such as those of a longer range baked before",
    )
    actions: str = actions_option()


@dataclass(frozen=True, slots=True)
class AlignSettings(OfChains):
    """Settings of aligning hinges with single rotation channels."""

    roll: bool = switch_option(
        Group.CHAIN, "Change Roll", "Roll bones whose hinge is not one of their own axes; pose and motion stay as they are"
    )


@dataclass(frozen=True, slots=True)
class SwitchSettings(OfChains):
    """The side, FK or IK, to which limbs are switched, and what becomes of their motion."""

    chain: str = name_option(Group.CHAIN, "Chain", "Name of the stored chain. Leave empty to use the active one")
    to: str = choice_option(
        Group.CHAIN, "FK", "To", "What the limb should follow",
        ("FK", "FK", "The visible limb follows the bones that a bake keys"),
        ("IK", "IK", "The visible limb follows the rig's IK controls, which receive the bones' motion"),
    )  # fmt: skip
    motion: str = choice_option(
        Group.CHAIN, "AUTO", "Motion", "What happens to the motion when switching to FK",
        ("AUTO", "Automatic",
         "Bake the visible motion onto FK, unless the FK bones have just been baked or the IK does not move"),
        ("BAKE", "Bake", "Bake the visible motion onto the other side, so that nothing visibly moves"),
        ("KEEP", "Keep", "Keep the keys that the FK bones have"), needs=when(to=["FK"]),
    )  # fmt: skip
    scope: str = choice_option(
        Group.CHAIN, "CHAIN", "Scope", "Whose limbs are switched",
        CHAIN, *SCOPES,
    )  # fmt: skip
    actions: str = actions_option()


@dataclass(frozen=True)
class OfArmature(Settings):
    """The armature whose limbs are used."""

    armature: str = object_option(Group.CHAIN, OPTION["armature"].label, OPTION["armature"].text)


@dataclass(frozen=True)
class IkSettings(Settings):
    """The IK constraints to convert, and how they are switched off."""

    bone: str = bone_option(
        Group.CHAIN,
        "Bone",
        "Bone that carries the IK constraint. Leave empty for the selected limbs, or for all if none is selected",
    )
    rigify: bool = switch_option(
        Group.CHAIN, "Rigify", "Key the FK controls of a Rigify rig, and its switches from IK to FK over the range"
    )
    switch_off: str = choice_option(
        Group.KEYS, "MUTE", "Switch Off", "How to turn the IK constraint off",
        ("MUTE", "Mute", "Mute the constraint"),
        ("INFLUENCE", "Key Influence", "Key the constraint's influence to 0 over the range, and leave it as it is elsewhere"),
        needs=when(rigify=[False]),
    )  # fmt: skip
    actions: str = actions_option()


@dataclass(frozen=True)
class ConvertSettings(KeySettings, IkSettings, OfArmature):
    """The IK constraints to convert, the frames, and how keys are written; the rest is read from the constraints."""

    bones: frozenset[str] = frozenset()
    """Selected bones: only limbs with one of these are converted, or all limbs if none has one. Not an option."""

    def bake(self) -> BakeSettings:
        """Armature, frames and keys, as settings of a bake."""
        return BakeSettings(armature=self.armature, **{entry.name: getattr(self, entry.name) for entry in fields(KeySettings)})


@dataclass(frozen=True)
class FindLimbsSettings(Settings):
    """The armature to search for limbs, and whether these get targets."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature to search. Leave empty to use the active object")
    targets: bool = switch_option(Group.CHAIN, "Add Targets", "Also add an empty at the tip of every limb as its target")


@dataclass(frozen=True)
class Table:
    """One task as users see it: its texts, and the settings that its operator, command, jobs and pages are made from."""

    task: str
    """Name of the task, and kind of its report."""
    settings: type[Settings]
    """Settings of a run as a whole."""
    label: str
    """Label of its button."""
    text: str
    """Tooltip."""
    help: str = ""
    """Help text of the command; empty to use the tooltip."""
    operator: str = ""
    """Name of its operator; empty to use the task's."""
    command: str = ""
    """Name of the sub-command, and `use` of a job; empty to use the task's."""
    progress: str = "Working {part}   |   Esc: Cancel"
    """Text of the status bar during a run."""
    of_chains: tuple[Option, ...] = ()
    """Options of each chain; empty if the task is about an armature instead of chains."""
    heeded: frozenset[str] = frozenset(OPTION)
    """Names of the chain options that the task uses; users are told that the others have no effect."""
    is_read_only: bool = False
    """Whether it never writes, so that every run ends like a dry run."""
    is_of_any_shot: bool = False
    """Whether the command accepts shots in which something that moves the chains is missing."""
    is_strict: bool = False
    """Whether the command has `--strict`, by which frames out of reach, or clips that are not fine, are a failure."""
    first: frozenset[str] = frozenset()
    """Names of the settings that people change most; the others are folded below them. Empty: none are folded."""

    def __post_init__(self) -> None:
        """Name operator and command after the task if they have no other names."""
        object.__setattr__(self, "operator", self.operator or self.task)
        object.__setattr__(self, "command", self.command or self.task.replace("_", "-"))

    @property
    def own(self) -> tuple[Option, ...]:
        """Options of a run as a whole."""
        return options_of(self.settings)

    def unused(self, settings: Settings) -> list[Sentence]:
        """Notes on settings that were given and have no effect: of the run as a whole, then of each chain."""
        found = list(without_effect(settings).values())
        for chain in getattr(settings, "chains", ()):
            why = without_effect(chain, chain.asked)
            for name in [name for name in OPTION if name in chain.asked]:
                if name not in self.heeded and getattr(chain, name) != OPTION[name].default:
                    values = {"option": Sentence(OPTION[name].label), "task": Sentence(self.label)}
                    found.append(note("{option} has no effect: {task} does not use it.", **values))
                elif name in why:
                    found.append(why[name])
        return list(dict.fromkeys(found))


BONES = {"armature", "upper", "lower", "tip", "tip_end"}
RANGE = {"frame_range", "frame_start", "frame_end"}
KEYS = {entry.name for entry in fields(KeySettings)}

TABLES: dict[str, Table] = {
    table.task: table
    for table in (
        Table(
            "bake",
            BakeAllSettings,
            "Bake Two-Bone IK",
            "Bake two-bone IK: key the rotations of a chain so that its tip follows the target in the chosen plane",
            help="bake chains and report the result",
            progress="Baking {part}   |   Esc: Cancel",
            of_chains=OPTIONS,
            is_strict=True,
        ),
        Table(
            "convert",
            ConvertSettings,
            "Convert IK to FK Keys",
            "Key the bones as their IK constraints pose them; nothing in the viewport moves. The constraints are muted, or their "
            "influence is keyed to 0 where other actions need them",
            help="convert IK to FK keys, and switch the IK off",
            operator="convert_ik",
            progress="Converting {part}   |   Esc: Cancel",
            first=frozenset({"bone", "rigify", "switch_off", *RANGE, "actions"}),
        ),
        Table(
            "give",
            GiveSettings,
            "Bake Target from Chain",
            "Key the target at the chain's tip, and the pole where the chain bends to: the reverse of Bake. The limb "
            "keeps its keys",
            help="key targets and poles from the existing motion of the chains: the reverse of bake",
            operator="bake_target",
            command="target",
            progress="Baking {part}   |   Esc: Cancel",
            of_chains=OPTIONS,
        ),
        Table(
            "switch",
            SwitchSettings,
            "Switch FK/IK",
            "Switch the limb to FK or IK over the range, with its motion. Outside the range nothing changes",
            help="switch limbs to FK, or to the IK of their rig, with their motion",
            progress="Baking {part}   |   Esc: Cancel",
            of_chains=OPTIONS,
            heeded=frozenset(BONES | KEYS - {"key_before", "key_after"}),
        ),
        Table(
            "clear",
            ClearSettings,
            "Clear Baked Keys",
            "Remove what was baked on the selected chain, in its range or at all frames, and bring back what it "
            "replaced. Keys made by hand stay",
            help="remove the keys that a bake made",
            operator="clear_baked",
            of_chains=OPTIONS,
            heeded=frozenset(
                BONES | RANGE | {"target", "target_bone", "joints", "end_rotation", "key_before", "key_after", "destination"}
            ),
            is_of_any_shot=True,
        ),
        Table(
            "align",
            AlignSettings,
            "Align Hinges",
            "Set the bones' rotation modes so that each joint needs only one F-Curve. The pose stays",
            help="set rotation modes so that each joint needs only one F-Curve",
            operator="align_hinge",
            of_chains=OPTIONS,
            heeded=frozenset(
                BONES | {"joints", "plane", "plane_space", "plane_object", "bend", "depth", "reference", "end_rotation"}
            ),
        ),
        Table(
            "find_limbs",
            FindLimbsSettings,
            "Find Limbs",
            "Add a chain for every arm and leg of the armature, whatever its bones are called. Nothing moves, and "
            "chains in the list stay",
            help="find the arms and legs of a character and store them as chains",
            command="limbs",
            is_of_any_shot=True,
        ),
        Table(
            "find_contacts",
            ContactSettings,
            "Find Contacts",
            "Detect when heel and ball of each foot are on the ground, and key it on the leg chains. The motion stays",
            help="detect when feet are on the ground, and key it on the leg chains",
            command="contacts",
            first=frozenset({"ground", "ground_height", "ground_object", "keep", *RANGE, "actions"}),
            progress="Finding contacts {part}   |   Esc: Cancel",
        ),
        Table(
            "import_contacts",
            ContactFileSettings,
            "Import Contacts",
            "Key the contacts in a file (.npz, .csv, .json) on the leg chains",
            help="key the contacts that a file tells",
        ),
        Table(
            "export_contacts",
            ExportContactSettings,
            "Export Contacts",
            "Write the contacts keyed on the leg chains to a file (.npz, .csv, .json)",
            help="write the contacts that are keyed into a file",
        ),
        Table(
            "plant",
            PlantSettings,
            "Plant Feet",
            "Keep the character's feet still while they are on the ground, and move the hips only as much as needed. "
            "Clear Baked Keys brings back what it replaces",
            help="keep feet still on the ground, moving the hips only as much as needed",
            progress="Planting {part}   |   Esc: Cancel",
            is_strict=True,
            first=frozenset(
                {"ground", "ground_height", "ground_object", "root_motion", "keep_targets", "use_root", *RANGE, "actions"}
            ),
        ),
        Table(
            "fit_root",
            RootFitSettings,
            "Fit Root",
            "Move the root, such as the hips, as little as needed so that all enabled chains reach their targets",
            help="move the root so that all enabled chains reach their targets",
            progress="Fitting the root {part}   |   Esc: Cancel",
            is_strict=True,
        ),
        Table(
            "nudge",
            NudgeSettings,
            "Nudge",
            "Move the tip of a limb at a frame, such as the wrist, on top of its motion, which stays. The change "
            "fades out before and after",
            help="move the tip of a limb at a frame, on top of its motion, with a fade-out before and after",
            first=frozenset({"frame", "offset", "before", "after", "falloff", "remove"}),
        ),
        Table(
            "audit",
            AuditSettings,
            "Audit",
            "Measure whether clips skate, float, sink, pop or have a seam. Nothing is changed",
            help="measure whether clips skate, float, pop or have a seam; change nothing",
            progress="Auditing {part}   |   Esc: Cancel",
            is_read_only=True,
            is_strict=True,
        ),
    )
}
"""Tables by name of the task."""

ALL_CHAINS = "bake_all"
"""Name of the operator and the function that bake all stored chains in a scope."""


def tables_by_call() -> dict[str, Table]:
    """Table of each operator and typed function, by its name."""
    return {**{table.operator: table for table in TABLES.values()}, ALL_CHAINS: TABLES["bake"]}
