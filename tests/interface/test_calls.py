"""The typed functions: what an editor shows of them is what they take, and what a script gets from them."""

import ast
import inspect
import json
import math
import typing

import bpy
import pytest

import twobone_addon
from tests.house.source import ROOT
from tests.promises.tasks_under_test import keyed_leg
from tools.make_stub import STUB, stub
from twobone_addon.pipeline.report.reports import BakeReport
from twobone_addon.settings.tasks import TABLES

FUNCTIONS = {node.name: node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


def test_the_stub_is_what_the_tables_say():
    assert STUB.read_text(encoding="utf-8") == stub(), "run: python tools/make_docs.py"


def test_every_operator_of_a_task_has_its_function():
    assert set(FUNCTIONS) == {*(table.operator for table in TABLES.values()), "bake_all"}
    assert set(FUNCTIONS) <= set(dir(twobone_addon))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_editor_sees_the_settings_and_defaults_that_act(name):
    shown = FUNCTIONS[name].args
    seen = {each.arg: ast.literal_eval(value) for each, value in zip(shown.kwonlyargs, shown.kw_defaults, strict=True)}
    own = inspect.signature(getattr(twobone_addon, name)).parameters
    assert seen == {each.name: each.default for each in own.values()}


def test_the_version_is_that_of_the_manifest():
    manifest = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    assert f'version = "{twobone_addon.__version__}"' in manifest


def test_a_bake_returns_a_record_that_says_where_the_tip_is(empty_file):
    rig = keyed_leg()
    bpy.context.view_layer.objects.active = None
    report = twobone_addon.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="YZ", bend="NEGATIVE")
    assert isinstance(report, BakeReport)
    (leg,) = report.chains
    bpy.context.scene.frame_set(3)
    tip = rig.matrix_world @ rig.pose.bones["lower"].tail
    target = bpy.data.objects["Target"].matrix_world.translation
    off = math.hypot(tip.y - target.y, tip.z - target.z)
    assert off < 1e-5 or any(first <= 3 <= last for first, last in leg.out_of_reach)
    assert leg.reached + leg.too_far + leg.too_near == leg.frames == 8


def test_a_function_makes_no_undo_step(empty_file):
    """One step back goes behind the last step of the user, which lies before the call."""
    keyed_leg()
    for name in ("First", "Second"):
        bpy.context.scene["step"] = name
        bpy.ops.ed.undo_push(message=name)
    twobone_addon.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="YZ", bend="NEGATIVE")
    bpy.ops.ed.undo()
    assert bpy.context.scene["step"] == "First"


def test_a_refusal_is_a_sentence_and_a_misspelt_setting_an_error_of_python(empty_file):
    keyed_leg()
    with pytest.raises(twobone_addon.TwoBoneError, match='"knee" is not in armature "Rig"'):
        twobone_addon.bake(armature="Rig", upper="knee", lower="lower", target="Target")
    with pytest.raises(TypeError, match="plain"):
        twobone_addon.bake(armature="Rig", plain="YZ")


def test_a_stored_chain_is_baked_by_its_name_and_keeps_the_report(empty_file):
    rig = keyed_leg()
    bpy.context.view_layer.objects.active = None
    twobone_addon.bake(armature="Rig", stored="leg")
    assert '"upper": "upper"' in rig.twobone.chains["leg"].report


def test_the_signature_can_be_read_by_help():
    hints = inspect.signature(twobone_addon.bake).parameters["plane"].annotation
    assert typing.get_args(eval(hints, {"Literal": typing.Literal}))[0] == "AUTO"  # noqa: S307 - our own annotation
    assert "Plane in which the chain bends" in twobone_addon.bake.__doc__


def bake_of(count):
    """The report of a bake of one chain, or of two in one armature, in ranges of their own."""
    rig = keyed_leg()
    if count > 1:
        first, second = rig.twobone.chains[0], rig.twobone.chains.add()
        for name in ("upper", "lower", "target", "plane"):
            setattr(second, name, getattr(first, name))
        second.name = "later"
        for chain, (start, end) in ((first, (1, 3)), (second, (5, 8))):
            chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", start, end
    return twobone_addon.bake_all(scope="SCENE")


@pytest.mark.parametrize("count", [1, 2])
def test_what_stands_in_the_json_of_a_bake_is_on_its_record_by_the_same_names(empty_file, count):
    report = bake_of(count)
    assert len(report.chains) == count
    document = report.to_dict()
    for name in document.keys() - {"notes", "chains", "refused", "statements", "visible", "fingerprint"}:
        assert getattr(report, name) == document[name], name
    assert [note.kind for note in report.statements] == [note["kind"] for note in document["statements"]]
    if count == 1:
        assert report.fingerprint.settings == document["fingerprint"]["settings"]
    with pytest.raises(AttributeError, match="largest_error"):
        report.largest_error  # noqa: B018 - that is what is tried


def test_a_sentence_is_a_text_that_can_be_printed_and_asked_for_in_another_language(empty_file):
    report = bake_of(1)
    assert report.sentence == str(report.sentence) == json.loads(report.to_json())["sentence"]
    assert report.says.text(lambda text: text.replace(" keys on ", " auf ")) == report.sentence.replace(" keys on ", " auf ")
    statement = report.chains[0].statements[0]
    assert f"{statement}" == str(statement) == statement.text()
    assert f"{statement:>200}" == f"{statement.text():>200}"
    assert str(statement) in report.sentence
