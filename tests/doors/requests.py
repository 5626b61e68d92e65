"""Requests that every door has, for the table of doors: what is asked, in which file, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import bpy

from tests.promises.tasks_under_test import FOOT, HOW, TaskUnderTest, activate, walker
from tests.promises.ways import command, job, operator
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_channel, key_places, set_range
from twobone_addon.settings.tasks import TABLES, Table
from twobone_addon.tasks.all_tasks import KEYS_LIMBS

LAST = 4
OTHER_LEG = tuple(
    BoneShape(
        f"{bone.name} 2", *((x + 0.6, y, z) for x, y, z in (bone.head, bone.tail)), f"{bone.parent} 2", connected=bone.connected
    )
    for bone in (*LEG, FOOT)
)
OF_CHAINS = [table for table in TABLES.values() if table.of_chains]
OF_ARMATURES = [table for table in TABLES.values() if not table.of_chains]


def two_rigs() -> None:
    """Two armatures with an animated leg each, which has a chain and a moving target."""
    set_range(1, LAST)
    for number, name in enumerate(("One", "Two")):
        rig = build_armature((*LEG, FOOT, *OTHER_LEG), name)
        rig.location.x = 3.0 * number
        for bone, angle in (("upper", 0.15), ("lower", 0.4)):
            values = {frame: (1.0, angle * (1 + 0.1 * frame), 0.0, 0.0) for frame in (1, 2, LAST)}
            key_channel(rig.pose.bones[bone], "rotation_quaternion", values)
        rig.animation_data.action.name = f"Walk {name}"
        target = add_empty(f"Target {name}")
        key_places(target, [(3.0 * number, 0.35 - 0.09 * step, -0.55 + 0.07 * step) for step in range(LAST)])
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target = f"leg {name}", "upper", "lower", target
        chain.plane, chain.frame_range = "YZ", "SCENE"
        rig.select_set(state=True)
    activate(bpy.data.objects["Two"])


def second() -> Any:
    """The chain of which something is wrong."""
    return bpy.data.objects["Two"].twobone.chains[0]


def never_had_a_target() -> None:
    second().target = None


def lost_its_target() -> None:
    second().target, second().lost_target = None, "Target Two"


def bone_gone() -> None:
    second().lower = "nobone"


def none_stored() -> None:
    for thing in bpy.data.objects:
        thing.twobone.chains.clear()


def disabled() -> None:
    second().enabled = False


def all_disabled() -> None:
    for thing in bpy.data.objects:
        for chain in thing.twobone.chains:
            chain.enabled = False


def of_one_name_on_two_armatures() -> None:
    for name in ("One", "Two"):
        bpy.data.objects[name].twobone.chains[0].name = "leg"


def two_of_one_name() -> None:
    rig = bpy.data.objects["Two"]
    target = add_empty("Target Two 2")
    key_places(target, [(3.6, 0.35 - 0.09 * step, -0.55 + 0.07 * step) for step in range(LAST)])
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "leg Two", "upper 2", "lower 2", target
    chain.plane, chain.frame_range = "YZ", "SCENE"
    rig.twobone.active_index = 0


def on_ik() -> None:
    constraint = add_ik(bpy.data.objects["Two"], "lower") if "Target" in bpy.data.objects else None
    if constraint is None:
        constraint = bpy.data.objects["Two"].pose.bones["lower"].constraints.new("IK")
        constraint.target, constraint.chain_count = bpy.data.objects["Target Two"], 2


def one_is_not_selected() -> None:
    bpy.data.objects["One"].select_set(state=False)


def target_is_active() -> None:
    activate(bpy.data.objects["Target Two"])


def nothing() -> None:
    """The file as it is."""


def typed(task: TaskUnderTest, given: dict[str, Any], folder: Any) -> Any:
    """As a pipeline's own Python calls it, with what is active left as it is."""
    import twobone_addon
    from tests.promises.ways import Ended

    del folder
    try:
        report = getattr(twobone_addon, task.name)(**{**task.call, **given})
    except twobone_addon.TwoBoneError as error:
        return Ended(done=False, said=str(error))
    return Ended(done=True, said="", report=report.to_dict())


Door = Callable[[TaskUnderTest, dict[str, Any], Any], Any]
EVERY: dict[str, Door] = {"operator": operator, "typed": typed, "command": command, "job": job}
OF_FILES: dict[str, Door] = {"command": command, "job": job}


@dataclass(frozen=True)
class Case:
    """One request in one file, the doors that have it, and what must come of it at each."""

    name: str
    table: Table
    spoil: Callable[[], None]
    given: dict[str, Any]
    doors: dict[str, Door]
    refused: str | None = None
    """How the refusal begins; `None` where it is done."""
    limbs: frozenset[tuple[str, str]] | None = None
    """Armature and upper bone of each limb in the report; `None` where the report does not tell."""
    names: frozenset[str] | None = None
    """Names of the chains in the report of a task about an armature; `None` where it is not about chains."""
    skipped: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    job: dict[str, Any] = field(default_factory=dict)
    operator: str = ""
    call: dict[str, Any] = field(default_factory=dict)
    build: Callable[[], None] = two_rigs
    is_dry: bool = False

    @property
    def task(self) -> TaskUnderTest:
        """The task as the doors take it."""
        name = self.operator or self.table.operator
        return TaskUnderTest(name, self.build, self.call, self.table.own, self.table.command, self.words, self.job)


ONE, TWO, TWO_2 = ("One", "upper"), ("Two", "upper"), ("Two", "upper 2")
GONE = 'Lower bone "nobone" is not in armature "Two". Choose one of its bones.'
LOST = 'Target "Target Two" is in no scene, as after it was deleted. Add or choose another object.'
NO_TARGET = "No target is chosen. Choose an object, such as an empty."
OF_TWO = 'Chain "leg Two" of "Two": '
SCOPES = {"SCENE": "scene", "SELECTED": "selection", "ACTIVE": "active armature"}


def scope_cases(table: Table, scope: str) -> list[Case]:
    """Cases of a request for all enabled chains in a scope."""
    has_scope = "scope" in {option.name for option in table.own}
    if not has_scope and scope != "SCENE":
        return []
    given = {"scope": scope} if has_scope else {}
    name = "bake_all" if table.task == "bake" else ""
    words, keys = ((), {}) if has_scope else (("--stored",), {"stored": True})
    doors = EVERY if has_scope else OF_FILES
    none = f"No enabled chain is stored in the {SCOPES[scope]}. Add a chain in the sidebar first."
    both = frozenset({TWO}) if scope == "ACTIVE" else frozenset({ONE, TWO})
    first = frozenset({ONE})
    needs, alone = table.needs_targets, scope == "ACTIVE"

    def case(spoil: Callable[[], None], limbs: frozenset[tuple[str, str]] = both, **what: Any) -> Case:
        refused = what.get("refused")
        return Case(
            f"{table.task}, {scope.lower()}: {what.pop('name', spoil.__name__.replace('_', ' '))}",
            table, spoil, {**given, **what.pop("more", {})}, what.pop("doors", doors),
            limbs=None if refused else limbs, words=(*words, *what.pop("flags", ())), job=keys, operator=name, **what,
        )  # fmt: skip

    never = {"refused": OF_TWO + NO_TARGET} if alone else {"limbs": first, "skipped": ("leg Two",)}
    # Bake Target reads the motion that is seen, which the IK of the limb's own bones gives it.
    ik = {"refused": OF_TWO} if table.task in KEYS_LIMBS - {"give"} else {}
    cases = [
        case(nothing),
        case(never_had_a_target, **(never if needs else {})),
        case(lost_its_target, **({"refused": OF_TWO + LOST} if needs else {})),
        case(bone_gone, refused=OF_TWO + GONE),
        case(disabled, first, **({"refused": none} if alone else {})),
        case(all_disabled, refused=none),
        case(none_stored, refused=none),
        case(of_one_name_on_two_armatures),
        case(two_of_one_name, both | {TWO_2}),
        case(on_ik, **ik),
        case(nothing, name="dry run", doors={"command": command}, flags=("--dry-run",), is_dry=True),
    ]
    if "actions" in {option.name for option in table.own}:
        owner = "Two" if alone else "One"
        cases.append(case(nothing, name="several actions", more={"actions": "ALL"}, **several_actions(table, owner)))
    if scope == "SELECTED":
        cases.append(case(one_is_not_selected, frozenset({TWO})))
    if scope == "ACTIVE":
        cases.append(case(target_is_active, name="the target is active"))
    return cases


def several_actions(table: Table, owner: str) -> dict[str, Any]:
    """What must come of a request about all actions: targets that are objects play none of the armature's."""
    refused = f'Chain "leg {owner}" of "{owner}": Target "Target {owner}" is not a bone of'
    return {"refused": refused} if table.task == "give" else {}


def single_cases(table: Table) -> list[Case]:
    """Cases of a request for one limb, by its bones, and by the name of a stored chain."""
    bones = {"armature": "Two", "upper": "upper", "lower": "lower"}
    with_target = bones | ({"target": "Target Two"} if table.needs_targets else {})
    needs, limbs = table.needs_targets, frozenset({TWO})

    def case(name: str, spoil: Callable[[], None], given: dict[str, Any], doors: dict[str, Door], refused: str = "") -> Case:
        chosen = None if refused else limbs
        return Case(f"{table.task}, {name}", table, spoil, given, doors, refused=refused or None, limbs=chosen)

    cases = [
        case("bones", nothing, with_target, EVERY),
        case("bones: no target named", nothing, bones, EVERY, NO_TARGET if needs else ""),
        case("bones: never had a target", never_had_a_target, bones, EVERY, NO_TARGET if needs else ""),
        case("bones: lost its target", lost_its_target, bones, EVERY, LOST if needs else ""),
        case("bones: bone gone", nothing, {**with_target, "lower": "nobone"}, EVERY, GONE),
    ]
    by_name = "chain" if "chain" in {option.name for option in table.own} else "stored"
    doors = {"typed": typed} if by_name == "stored" else {"operator": operator, "typed": typed, "job": job}
    doors |= {"operator": operator} if table.task in {"bake", "give"} else {}
    missing = 'Armature "Two" has no stored chain "arm". Use the name of one that it has ("leg Two").'
    cases += [
        case("by name", nothing, {"armature": "Two", by_name: "leg Two"}, doors),
        case("by name: no such chain", nothing, {"armature": "Two", by_name: "arm"}, doors, missing),
        case("by name: lost", lost_its_target, {"armature": "Two", by_name: "leg Two"}, doors, LOST if needs else ""),
        case("by name: disabled", disabled, {"armature": "Two", by_name: "leg Two"}, doors),
    ]
    return cases


def walker_to_targets() -> None:
    """A character that walks, with a target for each foot."""
    armature = walker()
    for chain, x in zip(armature.twobone.chains, (0.1, -0.1), strict=True):
        chain.target = add_empty(f"Heel {chain.name}")
        chain.target.location = (x, 0.0, 0.1)
    activate(armature)


def chains_of_task(call: dict[str, Any]) -> Any:
    """The stored chains of the armature that a task is about."""
    return bpy.data.objects[call["armature"]].twobone.chains


def last_of_them(call: dict[str, Any]) -> Any:
    """The last of them, made where there is none."""
    chains = chains_of_task(call)
    return chains[-1] if len(chains) else chains.add()


def another_is_active(call: dict[str, Any]) -> None:
    """The active armature has chains of the same names, and motion of its own."""
    rig = bpy.data.objects[call["armature"]]
    other = rig.copy()
    other.name, other.data = "Other", rig.data.copy()
    if rig.animation_data is not None:
        other.animation_data.action = rig.animation_data.action.copy()
    other.location.x += 5.0
    bpy.context.scene.collection.objects.link(other)
    activate(other)


def last_is_disabled(call: dict[str, Any]) -> None:
    last_of_them(call).enabled = False


def all_are_disabled(call: dict[str, Any]) -> None:
    for chain in chains_of_task(call):
        chain.enabled = False


def none_is_stored(call: dict[str, Any]) -> None:
    chains_of_task(call).clear()


def two_have_one_name(call: dict[str, Any]) -> None:
    chains = chains_of_task(call)
    if len(chains) > 1:
        chains[-1].name = chains[0].name


def last_has_no_bone(call: dict[str, Any]) -> None:
    last_of_them(call).lower = "nobone"


def last_never_had_a_target(call: dict[str, Any]) -> None:
    last_of_them(call).target = None


def last_lost_its_target(call: dict[str, Any]) -> None:
    chain = last_of_them(call)
    chain.target, chain.lost_target = None, "Heel"


def first_is_on_ik(call: dict[str, Any]) -> None:
    rig = bpy.data.objects[call["armature"]]
    constraint = rig.pose.bones[chains_of_task(call)[0].lower].constraints.new("IK")
    constraint.target, constraint.chain_count = add_empty("Pull"), 2


def nothing_is_active(call: dict[str, Any]) -> None:
    del call
    bpy.context.view_layer.objects.active = None


def a_guide_is_active(call: dict[str, Any]) -> None:
    """The active object is the pole of one of its chains, which the list shows as the active one since then."""
    chain = last_of_them(call)
    chain.pole = add_empty("Guide")
    chain.id_data.twobone.active_index = len(chains_of_task(call)) - 1
    activate(chain.pole)


def as_it_is(call: dict[str, Any]) -> None:
    del call


BOTH_LEGS = frozenset({"leg.L", "leg.R"})
FOUND_LEGS = frozenset({"Left Leg", "Right Leg"})
NO_ARMATURE = "No armature is active. Choose the armature that holds the chain."
NO_LEGS = 'Armature "Walker" has no enabled chain that is a leg, and no legs were found. Add its legs to the list.'
NO_TARGETS = 'Armature "Walker" has no enabled chain with a target to reach. Give its chains targets, or plant its feet.'

NOT_BY_CHAINS = {"convert": "Rig", "find_limbs": "Rig"}
"""Tasks about all that an armature has, whatever chains are stored: they never fail for one."""

SHOWN: dict[str, dict[str, dict[str, Any]]] = {
    "find_limbs": {"nothing is active": {}},  # The only armature of the scene is the one that is meant.
    "nudge": {
        **{name: {} for name in ("last is disabled", "all are disabled", "two have one name")},
        "none is stored": {
            "refused": 'Armature "Rig" has no stored chain, so none is "leg". Name its bones, or add its limbs with Find Limbs.'
        },
        "last has no bone": {"refused": 'Lower bone "nobone" is not in armature "Rig". Choose one of its bones.'},
    },
    "finish_retarget": {  # Its last chain is a spare one, for each leg must have a partner.
        **{name: {} for name in ("last is disabled", "two have one name", "last has no bone")},
    },
    "audit": {"all are disabled": {"names": BOTH_LEGS}},
    "export_contacts": {"none is stored": {"refused": 'Armature "Walker" has no contacts yet. Find or key them first.'}},
    "fit_root": {
        **{name: {"refused": NO_TARGETS} for name in ("all are disabled", "none is stored")},
        "last never had a target": {"names": frozenset({"leg.L"}), "skipped": ("leg.R",)},
        "last lost its target": {"refused": 'Chain "leg.R" of "Walker": Target "Heel" is in no scene'},
    },
}
"""What must come of a condition where a task differs from those that are about all enabled chains of an armature."""

USUAL: dict[str, dict[str, Any]] = {
    "last is disabled": {"names": frozenset({"leg.L"})},
    "all are disabled": {"refused": NO_LEGS},
    "none is stored": {"names": FOUND_LEGS},
    "last has no bone": {"refused": 'Chain "leg.R" of "Walker": Lower bone "nobone" is not in armature "Walker".'},
    "two have one name": {"names": frozenset({"leg.L", "leg.L.001"})},
    "nothing is active": {"refused": NO_ARMATURE},
    "no such armature": {"refused": 'Armature "Nobody" is not in this file. Choose the armature that holds the chain.'},
}
"""What must come of a condition otherwise: of all others, that it makes no difference."""


def armature_cases(table: Table) -> list[Case]:
    """Cases of a task that is about an armature and its stored chains."""
    how = HOW.get(table.task, {})
    build, call = how.get("build", walker_to_targets), dict(how.get("call", {"armature": "Walker"}))
    build = walker_to_targets if table.needs_targets else build
    if "offset" in call:
        call["offset"] = (0.03125, 0.0625, 0.03125)  # Numbers that an operator's properties, of 32 bits, can hold.
    usual = {"names": None if table.task in {*NOT_BY_CHAINS, "nudge"} else BOTH_LEGS}

    def case(spoil: Callable[[dict[str, Any]], None], name: str = "", given: dict[str, Any] | None = None, **what: Any) -> Case:
        name = name or spoil.__name__.replace("_", " ")
        by_chains = {} if table.task in NOT_BY_CHAINS and name not in {"nothing is active", "no such armature"} else USUAL
        must = SHOWN.get(table.task, {}).get(name, by_chains.get(name, {}))
        doors = {"doors": EVERY} | what
        return Case(
            f"{table.task}: {name}", table, lambda: spoil(call), given or {}, call=call, build=build, **{**usual, **must, **doors}
        )

    active = {"armature": ""}
    cases = [
        case(as_it_is),
        case(as_it_is, "the active armature", active),
        case(a_guide_is_active, given=active),
        case(nothing_is_active, given=active),
        case(as_it_is, "no such armature", {"armature": "Nobody"}),
        case(another_is_active),
        case(last_is_disabled),
        case(all_are_disabled),
        case(none_is_stored),
        case(last_has_no_bone),
        case(two_have_one_name),
        case(last_never_had_a_target),
        case(last_lost_its_target),
    ]
    if table.task not in NOT_BY_CHAINS:
        is_refused = table.task in KEYS_LIMBS - {"find_contacts"}  # What IK shows is what stands, for its contacts.
        cases.append(case(first_is_on_ik, **({"refused": "IK ("} if is_refused else {})))
    if not table.is_read_only:
        cases.append(case(as_it_is, "dry run", doors={"command": command}, words=("--dry-run",), is_dry=True))
    if "actions" in {option.name for option in table.own}:
        cases.append(case(as_it_is, "several actions", {"actions": "ALL"}, names=None))
    return cases


CASES = [
    *(case for table in OF_CHAINS for scope in SCOPES for case in scope_cases(table, scope)),
    *(case for table in OF_CHAINS for case in single_cases(table)),
    *(case for table in OF_ARMATURES for case in armature_cases(table)),
]
