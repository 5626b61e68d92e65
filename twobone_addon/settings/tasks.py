"""The table of each task, from which its operator, its command, its jobs, their schema and the options page are made."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from ..errors import SettingError
from ..said import Sentence, note
from ..settings import OPTION, OPTIONS, BakeSettings
from .bake_options import TIP_ENDS, KeySettings
from .feet import ContactFileSettings, ContactSettings, ExportContactSettings, FinishSettings, PlantSettings, RootFitSettings
from .options import (
    Group,
    Option,
    Settings,
    actions_option,
    bone_option,
    choice_option,
    frame_option,
    name_option,
    number_option,
    object_option,
    options_of,
    path_option,
    switch_option,
    vector_option,
    when,
    without_effect,
)

LEAST_RANGE = 0.1
"""Shortest fade in frames; Blender takes keys closer than a tenth of this for one key."""


def _range_option(label: str, side: str) -> float:
    text = f"Frames over which the nudge {side} (0 = a quarter of a second)"
    return number_option(Group.KEYS, 0.0, label, text, minimum=0.0, unit="FRAMES", needs=when(remove=[False]))


@dataclass(frozen=True)
class NudgeSettings(Settings):
    """The limb to nudge, and the nudge; or the frame of a nudge to remove."""

    armature: str = object_option(Group.CHAIN, "Armature", "Armature with the limb. Leave empty to use the active object")
    chain: str = name_option(Group.CHAIN, "Chain", "Name of the stored chain. Leave empty to use the bones or the active one")
    upper: str = bone_option(Group.CHAIN, "Upper Bone", "First bone of a limb that is not stored, such as the upper arm")
    lower: str = bone_option(Group.CHAIN, "Lower Bone", "Second bone of the limb, such as the forearm")
    tip: str = bone_option(Group.CHAIN, "Tip Bone", "Bone whose head or tail moves, such as the hand. Leave empty to detect it")
    tip_end: str = choice_option(
        Group.CHAIN, "AUTO", "Tip End", "Which end of the tip bone is moved",
        *TIP_ENDS,
    )  # fmt: skip
    frame: float | None = frame_option(
        Group.KEYS, "Frame", "Frame at which the tip moves by the whole offset. Leave it out to use the current frame. "
        "An existing nudge of the limb at this frame is replaced",
    )  # fmt: skip
    offset: tuple[float, float, float] = vector_option(
        Group.KEYS, "Offset", "How far the tip moves, along the world's axes", needs=when(remove=[False])
    )
    before: float = _range_option("Before", "fades in")
    after: float = _range_option("After", "fades out")
    falloff: str = choice_option(
        Group.KEYS, "SMOOTH", "Falloff", "How the nudge fades in and out",
        ("SMOOTH", "Smooth", "Ease in and out"),
        ("LINEAR", "Linear", "Evenly"),
        ("CONSTANT", "Constant", "The whole offset at all frames of the range"), needs=when(remove=[False]),
    )  # fmt: skip
    loop: str = choice_option(
        Group.KEYS, "AUTO", "Loop", "Whether a nudge near the end of a cycle continues at its beginning",
        ("AUTO", "Automatic", "If the limb's animation repeats"),
        ("ON", "On", "Always: from the limb's first to its last key"), ("OFF", "Off", "Never"), needs=when(remove=[False]),
    )  # fmt: skip
    remove: bool = switch_option(Group.KEYS, "Remove", "Remove the limb's nudge at the frame. The others stay as they are")
    verify: bool = switch_option(
        Group.ADVANCED, "Verify", "Evaluate the nudged animation and report where the tip is", default=True
    )

    def __post_init__(self) -> None:
        """Also refuse fades that are too short for keys."""
        super().__post_init__()
        for name, value in (("Before", self.before), ("After", self.after)):
            if 0.0 < value < LEAST_RANGE:
                raise SettingError(
                    "{option} is {value:g} frames, too short for keys. Use at least {least:g}, or 0 for a quarter of a second.",
                    option=Sentence(name),
                    value=value,
                    least=LEAST_RANGE,
                )


def _limit(default: float, label: str, text: str) -> float:
    return number_option(Group.REACH, default, label, text, minimum=0.0)


@dataclass(frozen=True)
class AuditSettings(ContactSettings):
    """Armature, frames and ground, as for contacts, and the limits beyond which a clip is not fine.

    The defaults lie just beyond clean motion: walks recorded over force plates, CMU's walks, and planted feet with exact truth.
    Lengths are fractions of the limb's length. A limit as large as 1000 turns a check off.
    """

    max_slide: float = _limit(
        0.02,
        "Maximum Slide",
        "Median distance in limb lengths that standing feet may slide; twice that for a single foot",
    )
    max_skate: float = _limit(
        0.2,
        "Maximum Skating",
        "Share of the frames with a low foot at which it may slide, if feet slide in contacts or have none",
    )
    max_float: float = _limit(0.02, "Maximum Floating", "Median height in limb lengths at which feet may stand above the ground")
    max_sink: float = _limit(
        0.02,
        "Maximum Sinking",
        "Depth in limb lengths to which soles may sink for a quarter of the frames; at any frame four times that",
    )
    max_knee_pop: float = _limit(
        1.2, "Maximum Knee Pop", "Second difference of the bend of a knee or elbow over a thirtieth of a second, in radians"
    )
    max_limb_pop: float = _limit(
        0.5, "Maximum Limb Pop", "Second difference of the positions of knee and foot, or elbow and hand, in limb lengths"
    )
    max_hyperextension: float = number_option(
        Group.REACH, math.radians(20.0), "Maximum Hyperextension", "How far a knee or elbow may bend to the wrong side",
        minimum=0.0, unit="ANGLE",
    )  # fmt: skip
    max_jitter: float = _limit(0.003, "Maximum Jitter", "Standard deviation of the noise of joints, in limb lengths")
    max_loop_gap: float = _limit(0.05, "Maximum Loop Gap", "Distance in limb lengths between a cycle's first and last pose")
    cycles: str = choice_option(
        Group.REACH, "AUTO", "Cycles", "Which clips must end in the pose in which they begin",
        ("AUTO", "Automatic", "Actions that are marked as cyclic"),
        ("ALL", "All", "Every clip"),
        ("NONE", "None", "No clip"),
    )  # fmt: skip
    picture: str = path_option(
        Group.ADVANCED, "Picture",
        "SVG file for a picture of each clip. {shot} and {action} in its name stand for those of the clip", is_written=True,
    )  # fmt: skip
    compare: str = path_option(
        Group.ADVANCED, "Compare", "Report of an earlier audit, whose measures are shown beside the new ones", is_written=False
    )


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
    scope: str = choice_option(
        Group.CHAIN, "CHAIN", "Scope", "Which chains are cleared",
        CHAIN, *SCOPES,
    )  # fmt: skip
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
         "Bake the visible motion onto FK, unless the IK does not move and the FK bones have keys of their own"),
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
        ("MUTE", "Mute", "Mute the constraint; where it also poses the limb outside the range, key its influence instead"),
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
    live: bool = switch_option(
        Group.CHAIN, "Live", "Also let Blender pose every limb that has a target, as Bake would. Needs Blender 5.0 or newer"
    )


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
    keeps_reports: bool = False
    """Whether its chains keep its reports in the file, by which the sidebar tells when a result is out of date."""
    needs_targets: bool = False
    """Whether its chains need targets: those of a batch that never had one are left out, and one that has lost its is refused."""
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
        sentences = list(without_effect(settings).values())
        for chain in getattr(settings, "chains", ()):
            why = without_effect(chain, chain.asked)
            for name in [name for name in OPTION if name in chain.asked]:
                if name not in self.heeded and getattr(chain, name) != OPTION[name].default:
                    values = {"option": Sentence(OPTION[name].label), "task": Sentence(self.label)}
                    sentences.append(note("{option} has no effect: {task} does not use it.", **values))
                elif name in why:
                    sentences.append(why[name])
        return list(dict.fromkeys(sentences))


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
            keeps_reports=True,
            needs_targets=True,
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
            help="key the contacts stored in a file",
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
            "finish_retarget",
            FinishSettings,
            "Finish Retarget",
            "Put feet, hips and hands where the source of a retargeted motion has them, scaled to this character. "
            "Clear Baked Keys brings back what it replaces",
            help="put feet, hips and hands where the source of a retargeted motion has them",
            progress="Finishing the retarget {part}   |   Esc: Cancel",
            is_strict=True,
            first=frozenset({"source", "feet", "hips", "hands", "ground", "ground_height", "ground_object", *RANGE, "actions"}),
        ),
        Table(
            "fit_root",
            RootFitSettings,
            "Fit Root",
            "Move the root, such as the hips, as little as needed so that all enabled chains reach their targets",
            help="move the root so that all enabled chains reach their targets",
            progress="Fitting the root {part}   |   Esc: Cancel",
            needs_targets=True,
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
