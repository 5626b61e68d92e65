"""What is refused can be put right where it is refused: a dialog with the sentence and the settings, and another try."""

from types import SimpleNamespace

import bpy
import pytest

from tests.interface.baking.playing import playing
from tests.interface.recording import Layout, Windows, event, sidebar
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.checks.targets import curves_of
from tests.tasks.scenes import add_empty, key_channel, leg_with_chain
from twobone_addon.errors import SettingError
from twobone_addon.interface import refusing
from twobone_addon.interface.operators.bake import TWOBONE_OT_bake, TWOBONE_OT_bake_all
from twobone_addon.interface.operators.of_tasks import OPERATORS
from twobone_addon.interface.refusing import CanBeCorrected
from twobone_addon.interface.running import progress
from twobone_addon.interface.running.progress import ShowsProgress

ABOUT = {
    TWOBONE_OT_bake: {"armature", "upper", "lower", "target", "plane", "keys"},
    TWOBONE_OT_bake_all: {"scope", "last_wins"},
    OPERATORS["convert_ik"]: {"armature", "bone", "rigify", "switch_off", "frame_range"},
    OPERATORS["bake_target"]: {"armature", "upper", "lower", "target", "plane", "keys"},
    OPERATORS["find_contacts"]: {"frame_range", "ground", "keep"},
    OPERATORS["plant"]: {"frame_range", "ground", "use_root"},
    OPERATORS["fit_root"]: {"frame_range", "max_lower", "axis"},
}
"""Settings that each dialog has to have, among others."""


class Dialogs(Windows):
    """A window manager that opens dialogs."""

    def __init__(self):
        super().__init__()
        self.opened = []

    def invoke_props_dialog(self, operator, **how):
        self.opened.append((operator, how))
        return {"RUNNING_MODAL"}


@pytest.fixture
def stored_leg(empty_file):
    return leg_with_chain()


def refusal_of(said):
    """What refuses whatever is requested."""

    def requested(_operator, _context):
        raise SettingError(said)

    return requested


def asking(operator):
    """The operator, refused, with its dialog as it is drawn, and the context of that."""
    acting = playing(operator)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    acting.layout = Layout()
    operator.draw(acting, context)
    return acting, context


@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, TWOBONE_OT_bake_all, OPERATORS["plant"]], ids=lambda each: each.__name__)
def test_a_deleted_bone_is_chosen_anew_in_the_dialog_which_then_says_that_this_is_mended(operator, stored_leg, monkeypatch):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    chain = stored_leg.twobone.chains[0]
    chain.lower, chain.limb = "hand", "LEG"
    acting, context = asking(operator)
    assert 'Lower bone "hand" is not in armature "Rig"' in " ".join(acting.layout.texts())
    assert acting.layout.properties() == ["upper", "lower", "tip"]
    chain.lower = "lower"
    acting.layout = Layout()
    operator.draw(acting, context)
    assert acting.layout.texts() == ["This is mended. Go on with Try Again"]


@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, TWOBONE_OT_bake_all, OPERATORS["plant"]], ids=lambda each: each.__name__)
@pytest.mark.parametrize("keyed", [False, True], ids=["", "with keys on its mute"])
def test_a_constraint_that_poses_the_limb_is_muted_in_the_dialog_where_nothing_unmutes_it(
    operator, keyed, stored_leg, monkeypatch
):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    chain = stored_leg.twobone.chains[0]
    chain.limb = "LEG"
    constraint = stored_leg.pose.bones["lower"].constraints.new("COPY_ROTATION")
    constraint.target = add_empty("Control")
    constraint.target.rotation_euler = (0.5, 0.3, 0.2)
    if keyed:
        constraint.keyframe_insert("mute", frame=1)
    acting, context = asking(operator)
    assert 'Constraint "Copy Rotation" poses bone "lower"' in " ".join(acting.layout.texts())
    if keyed:
        assert "mute" not in acting.layout.properties()
        return
    assert acting.layout.properties() == ["mute"]
    assert 'Mute "Copy Rotation"' in [named.get("text") for name, _, named in acting.layout.calls if name == "prop"]
    constraint.mute = True
    acting.layout = Layout()
    operator.draw(acting, context)
    assert acting.layout.texts() == ["This is mended. Go on with Try Again"]


@pytest.mark.parametrize("operator", ABOUT, ids=lambda operator: operator.__name__)
def test_what_is_refused_in_a_window_opens_a_dialog_with_the_sentence_and_the_settings(operator, stored_leg, monkeypatch):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    monkeypatch.setattr(operator, "requested", refusal_of("Something is wrong with the settings."))
    acting = playing(operator, **({"armature": "Rig"} if {"upper", "lower"} <= ABOUT[operator] else {}))
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    ((_, how),) = context.window_manager.opened
    assert how["title"] == operator.bl_label
    acting.layout = Layout()
    operator.draw(acting, context)
    assert " ".join(acting.layout.texts()).startswith(acting.refusal.text()[:30])
    assert ABOUT[operator] <= set(acting.layout.properties())
    assert acting.said == []


def test_of_the_rest_the_dialog_has_only_what_was_given(stored_leg, monkeypatch):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    acting = playing(OPERATORS["convert_ik"], bone="hand", step=-1.0)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    acting.layout = Layout()
    OPERATORS["convert_ik"].draw(acting, context)
    assert {"bone", "step"} <= set(acting.layout.properties())
    assert not {"interpolation", "loop", "verify", "evaluation"} & set(acting.layout.properties())


@pytest.mark.parametrize("operator", ABOUT, ids=lambda operator: operator.__name__)
def test_where_nobody_can_be_asked_the_sentence_is_all(operator, stored_leg):
    stored_leg.twobone.chains[0].lower = "hand"
    acting = playing(operator)
    assert ShowsProgress.invoke(acting, sidebar(window_manager=Dialogs()), None) == {"CANCELLED"}
    ((kinds, _),) = acting.said
    assert kinds == {"ERROR"}


def test_what_is_refused_from_the_dialog_is_tried_anew_with_all_that_was_given(stored_leg, monkeypatch):
    calls = []
    called = SimpleNamespace(convert_ik=lambda how, **given: calls.append((how, given)))
    monkeypatch.setattr(refusing, "bpy", SimpleNamespace(ops=SimpleNamespace(twobone=called), types=bpy.types))
    acting = playing(OPERATORS["convert_ik"], bone="hand", keys="REDUCE")
    acting.refusal = "why"
    assert ShowsProgress.execute(acting, sidebar()) == {"CANCELLED"}
    assert calls == [("INVOKE_DEFAULT", {"bone": "hand", "keys": "REDUCE"})]
    assert acting.said == []


@pytest.mark.parametrize("operator", [OPERATORS["find_contacts"], OPERATORS["plant"]], ids=lambda operator: operator.__name__)
def test_no_error_hides_the_field_of_the_ground_while_it_is_chosen_in_the_redo_panel(operator, stored_leg):
    """Blender puts errors in a box of their own over the redo panel, and there takes back what ends as cancelled."""
    missing = "No ground object is chosen. Choose the mesh that the feet stand on."
    for is_repeat, chosen, kind in ((True, "", "INFO"), (False, "", "ERROR"), (True, "Nowhere", "ERROR")):
        acting = playing(operator, ground="OBJECT", ground_object=chosen)
        acting.options = SimpleNamespace(is_repeat=is_repeat)
        assert ShowsProgress.execute(acting, sidebar(scene=bpy.context.scene)) == {"CANCELLED"}
        ((kinds, said),) = acting.said
        assert kinds == {kind}
        assert (said == missing) is (not chosen)
    acting.layout = Layout()
    operator.draw(acting, sidebar())
    assert "ground_object" in acting.layout.properties()


@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, OPERATORS["bake_target"]], ids=lambda operator: operator.__name__)
def test_no_error_hides_the_field_of_the_planes_object_while_it_is_chosen_in_the_redo_panel(operator, stored_leg):
    names = {"armature": stored_leg.name, "upper": "upper", "lower": "lower", "target": stored_leg.twobone.chains[0].target.name}
    for is_repeat, kind in ((True, "INFO"), (False, "ERROR")):
        acting = playing(operator, **names, plane="OBJECT")
        acting.options = SimpleNamespace(is_repeat=is_repeat)
        assert ShowsProgress.execute(acting, sidebar(scene=bpy.context.scene)) == {"CANCELLED"}
        assert acting.said == [({kind}, "No plane object is chosen. Choose an object, such as an empty.")]


@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, TWOBONE_OT_bake_all], ids=lambda operator: operator.__name__)
def test_a_bake_without_a_target_says_so_and_offers_one_and_nothing_else(operator, stored_leg, monkeypatch):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    stored_leg.twobone.chains[0].target = None
    acting, _ = asking(operator)
    assert "No target is chosen." in " ".join(acting.layout.texts())
    assert acting.layout.buttons() == ["twobone.add_target"]
    assert acting.layout.properties() == []


def test_a_limb_that_ik_poses_is_offered_the_switch_that_lets_the_bake_through(stored_leg, monkeypatch):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    ik = stored_leg.pose.bones["lower"].constraints.new("IK")
    ik.target, ik.chain_count = add_empty("Goal"), 2
    bpy.context.view_layer.objects.active = stored_leg
    bpy.context.view_layer.update()
    acting = playing(TWOBONE_OT_bake_all)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    ((_, how),) = context.window_manager.opened
    assert how["confirm_text"] == "Switch to FK First"
    acting.layout = Layout()
    TWOBONE_OT_bake_all.draw(acting, context)
    assert acting.layout.buttons() == [], "the dialog's own button does both"
    assert acting.switch_first
    assert ShowsProgress.execute(acting, context) == {"FINISHED"}
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}


def play_too_much(leg, played):
    """A stored chain over a few frames of a motion that is played beside them over more than can be keyed."""
    key_channel(leg.pose.bones["upper"], "rotation_quaternion", {1: (1, 0, 0, 0), 7: (1, 0.2, 0, 0), 13: (1, 0, 0, 0)})
    data = leg.animation_data
    if played == "track":
        strip = data.nla_tracks.new().strips.new("walks", 1, data.action)
        strip.scale, strip.repeat, data.action = 10.0, 900.0, None
    else:
        bpy.context.scene.frame_end = 40_000
        for curve in curves_of(leg):
            curve.modifiers.new("CYCLES")
    chain = leg.twobone.chains[0]
    chain.target = chain.target or add_empty()
    chain.frame_range, chain.frame_start, chain.frame_end = "CUSTOM", 3, 5
    return chain


@pytest.mark.parametrize("played", ["track", "cycle"])
@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, TWOBONE_OT_bake_all])
def test_a_refusal_after_some_time_opens_the_same_dialog(operator, stored_leg, monkeypatch, played):
    """An operator that has its events already ends, and another one of its kind opens the dialog with the same settings."""
    chain = play_too_much(stored_leg, played)
    for module in (refusing, progress):
        monkeypatch.setattr(module, "can_ask", lambda _context: True)
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", -1.0)
    monkeypatch.setattr(progress, "SLICE_IN_SECONDS", 60.0)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    others = []

    def begin(how, **given):
        others.append((how, playing(operator, **given)))
        return ShowsProgress.invoke(others[-1][1], context, None)

    called = SimpleNamespace(bake=begin, bake_all=begin)
    monkeypatch.setattr(refusing, "bpy", SimpleNamespace(ops=SimpleNamespace(twobone=called), types=bpy.types, app=bpy.app))
    acting = playing(operator, **({"stored": chain.name} if operator is TWOBONE_OT_bake else {"scope": "ACTIVE"}))
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    assert context.window_manager.opened == []
    assert ShowsProgress.modal(acting, context, event("TIMER")) == {"CANCELLED"}
    ((how, other),) = others
    ((opened, dialog),) = context.window_manager.opened
    assert (how, opened) == ("INVOKE_DEFAULT", other)
    assert context.window_manager.timers == acting.said == []
    helps = ("destination",) if played == "track" else ("frame_range", "frame_start", "frame_end")
    if operator is TWOBONE_OT_bake:
        assert dialog["confirm_text"] == ("Into an NLA Strip" if played == "track" else "Over the Whole Cycle")
        assert other.stored == chain.name
        assert bpy.ops.twobone.bake(stored=chain.name, **{name: getattr(other, name) for name in helps}) == {"FINISHED"}
    else:
        other.layout = Layout()
        operator.draw(other, context)
        assert other.layout.properties() == list(helps)
    assert CanBeCorrected.late is None


def test_a_nudge_that_is_refused_after_its_drag_opens_the_dialog_of_another_with_what_was_dragged(stored_leg, monkeypatch):
    chain = play_too_much(stored_leg, "cycle")
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 60.0)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    others = []

    def begin(how, **given):
        others.append((how, given, playing(OPERATORS["nudge"], **given)))
        return ShowsProgress.invoke(others[-1][2], context, None)

    called = SimpleNamespace(nudge=begin)
    monkeypatch.setattr(refusing, "bpy", SimpleNamespace(ops=SimpleNamespace(twobone=called), types=bpy.types, app=bpy.app))
    dragged = {"chain": chain.name, "frame": 5.0, "offset": (0.0, 0.02, 0.05), "before": 2.0, "after": 2.0, "loop": "OFF"}
    acting = playing(OPERATORS["nudge"], **dragged)
    acting.is_dragged = True
    assert ShowsProgress.execute(acting, context) == {"CANCELLED"}
    assert acting.said == []
    ((how, given, other),) = others
    ((opened, dialog),) = context.window_manager.opened
    assert (how, given, opened) == ("INVOKE_DEFAULT", dragged, other)
    assert dialog["confirm_text"] == "In Each Repeat"
    assert "Turn Loop on" in other.refusal.text()
    assert bpy.ops.twobone.nudge(**{**dragged, "loop": other.loop}) == {"FINISHED"}


@pytest.mark.parametrize("operator", [TWOBONE_OT_bake, TWOBONE_OT_bake_all])
@pytest.mark.parametrize("played", ["track", "cycle"])
def test_where_too_much_is_played_beside_the_keys_the_dialog_goes_on_with_what_helps(operator, stored_leg, monkeypatch, played):
    monkeypatch.setattr(refusing, "can_ask", lambda _context: True)
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 60.0)
    chain, data = play_too_much(stored_leg, played), stored_leg.animation_data
    acting = playing(operator)
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    assert ShowsProgress.invoke(acting, context, None) == {"RUNNING_MODAL"}
    ((_, how),) = context.window_manager.opened
    acting.layout = Layout()
    operator.draw(acting, context)
    assert acting.layout.buttons() == []
    if operator is TWOBONE_OT_bake_all:
        assert acting.layout.properties() == (
            ["destination"] if played == "track" else ["frame_range", "frame_start", "frame_end"]
        )
        chain.destination = "NLA" if played == "track" else "ACTION"
        chain.frame_start, chain.frame_end = (3, 5) if played == "track" else (1, 13)
        assert ShowsProgress.execute(acting, context) == {"FINISHED"}
    else:
        assert how["confirm_text"] == ("Into an NLA Strip" if played == "track" else "Over the Whole Cycle")
        assert acting.layout.properties() == []
        names = ("destination",) if played == "track" else ("frame_range", "frame_start", "frame_end")
        assert bpy.ops.twobone.bake(stored=chain.name, **{name: getattr(acting, name) for name in names}) == {"FINISHED"}
    if played == "track":
        assert len(data.nla_tracks) == 2
    else:
        assert {curve.keyframe_points[-1].co.x for curve in curves_of(stored_leg)} == {13.0}


@pytest.mark.parametrize("is_slow", [True, False])
def test_what_takes_its_time_is_begun_anew_from_the_dialog_so_that_it_can_be_stopped(stored_leg, monkeypatch, is_slow):
    """Blender runs what a dialog confirms at once: without this, a long switch would stand still without a word."""
    calls = []
    called = SimpleNamespace(bake=lambda how, **given: calls.append((how, given)))
    monkeypatch.setattr(refusing, "bpy", SimpleNamespace(ops=SimpleNamespace(twobone=called), types=bpy.types))
    monkeypatch.setattr(progress, "can_ask", lambda _context: True)
    monkeypatch.setattr(progress, "PATIENCE_IN_SECONDS", 0.0 if is_slow else 60.0)
    stored_leg.twobone.chains[0].target = add_empty("Goal")
    keys = all_keys(stored_leg)
    acting = playing(TWOBONE_OT_bake, switch_first=True)
    acting.refusal = "why"
    context = sidebar(window=object(), window_manager=Dialogs(), scene=bpy.context.scene)
    ended = ShowsProgress.execute(acting, context)
    assert ended == ({"CANCELLED"} if is_slow else {"FINISHED"})
    assert [how for how, _ in calls] == ["INVOKE_DEFAULT"] * is_slow
    assert all(given["switch_first"] for _, given in calls)
    assert (all_keys(stored_leg) == keys) == is_slow
