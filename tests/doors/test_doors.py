"""One question, one answer: whichever door a request comes in by, the same chains, keys, sentence and file."""

import json
from typing import Any

import bpy
import pytest

from tests.doors.requests import CASES, Case, Door, two_of_one_name, two_rigs
from tests.tasks.checks.file_dump import differences, dump_file
from twobone_addon.desk.doing import carried_out
from twobone_addon.desk.shapes import OfCommand
from twobone_addon.pipeline.report.form import told_types
from twobone_addon.settings.tasks import TABLES


def everything() -> dict[str, Any]:
    """The whole file, but for numbers that Blender gives anew to each file that is opened."""
    return {path: value for path, value in dump_file().items() if not path.endswith(".session_uid")}


def asked(case: Case, door: Door, folder: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """How the request ended at one door, and the file before and after."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    case.build()
    if case.table.task == "clear" and case.build.__name__ == "two_rigs":
        bpy.ops.twobone.bake_all(scope="SCENE")
        for rig in (thing for thing in bpy.data.objects if thing.type == "ARMATURE"):
            for chain in rig.twobone.chains:
                chain.report = "{}"  # Seconds in it differ from build to build.
    case.spoil()
    bpy.context.view_layer.update()
    before = everything()
    return door(case.task, case.given, folder), before, everything()


def limbs(report: dict[str, Any]) -> frozenset[tuple[str, str]] | None:
    """Armature and upper bone of each limb in the report; `None` where it does not tell them."""
    chains = report.get("chains")
    if not isinstance(chains, list) or not all("upper" in chain for chain in chains):
        return None
    return frozenset((chain["armature"], chain["upper"]) for chain in chains)


def names(report: dict[str, Any]) -> frozenset[str]:
    """Names of the chains in the report of a task about an armature."""
    return frozenset(chain["chain"] for chain in report["chains"])


def told(value: Any) -> Any:
    """All that a report tells, with the templates and values of what it states, but for seconds and what a command adds."""
    if isinstance(value, dict):
        left_out = {"seconds", *told_types(OfCommand)}
        return {name: told(part) for name, part in value.items() if name not in left_out}
    return [told(part) for part in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_door_gives_the_same_answer(case, registered_addon, tmp_path):
    first = None
    for name, door in case.doors.items():
        ended, before, after = asked(case, door, tmp_path)
        sentence = ended.said.strip() if ended.report is None else ended.report["sentence"]
        assert "Traceback" not in sentence, f"{name}: {sentence}"
        if case.refused is not None:
            assert ended.report is None, f"{name} does it: {sentence}"
            assert sentence.startswith(case.refused), f"{name}: {sentence}"
        else:
            assert ended.report is not None, f"{name} refuses: {sentence}"
            assert case.limbs is None or limbs(ended.report) in {None, case.limbs}, name
            assert case.names is None or names(ended.report) == case.names, name
            assert tuple(ended.report.get("skipped", ())) == case.skipped, name
        if ended.report is None or case.is_dry or case.table.is_read_only:
            assert not differences(before, after), name
        if first is None:
            first = (name, sentence, after, told(ended.report))
            continue
        assert sentence == first[1], f"{name} and {first[0]} say different things"
        assert told(ended.report) == first[3], f"{name} and {first[0]} report different things"
        assert not differences(first[2], after), f"{name} and {first[0]} leave different files"


def test_every_task_is_in_the_table():
    """Each by a case that is done, so that a new task is seen at every door at once."""
    assert {case.table.task for case in CASES if case.refused is None} == set(TABLES)


def test_a_report_is_kept_by_each_chain_of_its_own_armature(registered_addon, tmp_path):
    """Also where both have one name, and by the command line, so that a target that is lost later is missed."""
    for case in (case for case in CASES if case.name == "bake, scene: of one name on two armatures"):
        for door in case.doors.values():
            asked(case, door, tmp_path)
            for name in ("One", "Two"):
                assert json.loads(bpy.data.objects[name].twobone.chains["leg"].report)["armature"] == name
            bpy.data.objects.remove(bpy.data.objects["Target Two"])
            with pytest.raises(RuntimeError, match='Chain "leg" of "Two": Target "Target Two" is in no scene'):
                bpy.ops.twobone.bake_all(scope="SCENE")


def test_two_chains_of_one_name_are_told_apart_and_get_their_names_back_where_it_is_refused(registered_addon, tmp_path):
    case = next(case for case in CASES if case.name == "bake, scene: two of one name")
    for door in case.doors.values():
        asked(case, door, tmp_path)
        reports = {chain.name: json.loads(chain.report)["upper"] for chain in bpy.data.objects["Two"].twobone.chains}
        assert reports == {"leg Two": "upper", "leg Two.001": "upper 2"}


def test_a_chain_that_is_gone_when_a_request_fails_is_not_named_back(registered_addon):
    """Whatever the request failed by is what is told, and the other chains have their names back."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    two_rigs()
    two_of_one_name()
    chains = bpy.data.objects["Two"].twobone.chains
    third = chains.add()
    third.name = "leg Two"

    def failing() -> Any:
        assert [chain.name for chain in chains] == ["leg Two", "leg Two.001", "leg Two.002"]
        chains.remove(1)
        raise RuntimeError("lost the file")

    with pytest.raises(RuntimeError, match="lost the file"):
        carried_out(bpy.context, failing)
    assert [chain.name for chain in chains] == ["leg Two", "leg Two"]
