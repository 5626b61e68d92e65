"""What the sidebar and the menus show, state by state; every property, button and icon in them exists."""

import json
from types import SimpleNamespace

import bpy
import pytest

from tests.baking.scenes import LEG, BoneShape, add_empty, build_armature
from tests.interface.acting import select_bones
from tests.interface.recording import Acting, Layout, drawn, sidebar
from twobone_addon.interface import live, menus, panels, result_panel
from twobone_addon.interface.live import reasons
from twobone_addon.interface.operators import TWOBONE_OT_bake
from twobone_addon.interface.panels import TWOBONE_PT_chains
from twobone_addon.settings import OPTIONS

SUBPANELS = (panels.TWOBONE_PT_chain, panels.TWOBONE_PT_plane, panels.TWOBONE_PT_reach, panels.TWOBONE_PT_keys)


@pytest.fixture
def leg(empty_file):
    rig = build_armature(LEG)
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty()
    yield rig
    live.stop_all()


def subpanels():
    return {name for cls in SUBPANELS for name in drawn(cls).properties()}


def test_without_an_armature_it_says_what_to_select(empty_file):
    assert drawn(TWOBONE_PT_chains).texts() == ["Select an armature"]
    add_empty()
    bpy.context.view_layer.objects.active = bpy.data.objects["Target"]
    assert drawn(TWOBONE_PT_chains).texts() == ["Select an armature"]


def test_in_edit_mode_it_says_which_mode_to_use(leg):
    assert drawn(TWOBONE_PT_chains, sidebar(mode="EDIT_ARMATURE")).texts() == ["Use Object or Pose Mode"]
    assert not panels.TWOBONE_PT_plane.poll(sidebar(mode="EDIT_ARMATURE"))


def test_without_a_chain_there_is_one_thing_to_do(empty_file):
    build_armature(LEG)
    shown = drawn(TWOBONE_PT_chains)
    assert "Select a limb's bone" in shown.texts()
    assert shown.buttons()[-1] == "twobone.add_target"
    assert not panels.TWOBONE_PT_plane.poll(sidebar())
    assert drawn(TWOBONE_PT_chains, method="draw_header_preset").calls == []


def test_a_chain_has_its_target_and_bake(leg):
    shown = drawn(TWOBONE_PT_chains)
    assert "twobone.bake" in shown.buttons()
    assert "twobone.bake_all" not in shown.buttons()
    assert "target" in shown.properties()
    assert "twobone.add_target" not in shown.buttons()
    leg.twobone.chains[0].target = None
    assert "twobone.add_target" in drawn(TWOBONE_PT_chains).buttons()


def test_several_chains_can_be_moved_and_baked_together(leg):
    leg.twobone.chains.add().name = "Other"
    assert {"twobone.bake_all", "twobone.chain_move"} <= set(drawn(TWOBONE_PT_chains).buttons())


def test_another_selected_limb_is_offered_as_the_next_one(empty_file):
    arm = (BoneShape("arm", (2, 0, 2), (2, 0.1, 1)), BoneShape("forearm", (2, 0.1, 1), (2, 0, 0), "arm"))
    rig = build_armature((*LEG, *arm))
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty()
    select_bones(rig, "arm", "forearm")
    added = [named for name, given, named in drawn(TWOBONE_PT_chains).calls if given == ("twobone.add_target",)]
    assert [named["text"] for named in added] == ["Add Target for forearm"]


def test_why_a_chain_is_not_live_any_more_stands_below(leg):
    reasons["Rig", "Leg"] = "The target's offset was changed. Switch Live on again."
    assert " ".join(drawn(TWOBONE_PT_chains).texts()).endswith("Switch Live on again.")


@pytest.mark.parametrize("missing", [False, True])
def test_a_row_of_the_list_warns_of_a_missing_target(leg, missing):
    chain = leg.twobone.chains[0]
    chain.target = None if missing else chain.target
    layout = drawn_row(chain)
    assert layout.properties() == ["name", "enabled"]
    assert any(named.get("icon") == "ERROR" for _, _, named in layout.calls) == missing


def drawn_row(chain):
    layout = Layout()
    panels.TWOBONE_UL_chains.draw_item(None, sidebar(), layout, None, chain, 0, None, "", 0)
    return layout


def test_settings_are_shown_where_they_have_a_say_and_all_of_them_somewhere(leg):
    chain = leg.twobone.chains[0]
    seen = subpanels()
    assert not {"pole", "softness", "tolerance", "upper_min"} & seen
    for changes in (
        {"plane": "POLE", "reach": "STRETCH", "keys": "REDUCE", "use_limits": True, "joints": "ALL", "frame_range": "CUSTOM"},
        {"plane": "OBJECT", "keys": "FRAMES"},
    ):
        for name, value in changes.items():
            setattr(chain, name, value)
        seen |= subpanels()
    without_row = {"armature", "target_bone", "pole_bone"}  # bones of objects that are no armatures
    assert {option.name for option in OPTIONS} - seen == without_row
    chain.target = chain.pole = leg
    chain.plane = "POLE"
    assert {"target_bone", "pole_bone"} <= subpanels()


def test_buttons_stand_where_they_help(leg):
    chain = leg.twobone.chains[0]
    assert "twobone.add_pole" in drawn(panels.TWOBONE_PT_plane).buttons()
    chain.pole = chain.target
    assert "twobone.add_pole" not in drawn(panels.TWOBONE_PT_plane).buttons()
    assert "twobone.read_limits" not in drawn(panels.TWOBONE_PT_reach).buttons()
    chain.use_limits = True
    assert "twobone.read_limits" in drawn(panels.TWOBONE_PT_reach).buttons()
    assert "twobone.align_hinge" in drawn(panels.TWOBONE_PT_chain).buttons()


@pytest.mark.parametrize("scale", [1.0, 0.0])
@pytest.mark.parametrize("space", ["WORLD", "ARMATURE", "PARENT"])
def test_how_many_curves_a_bake_writes_or_why_it_cannot(leg, space, scale):
    leg.scale = (scale,) * 3
    bpy.context.view_layer.update()
    chain = leg.twobone.chains[0]
    chain.plane_space = space
    assert any("curves to bake" in text for text in drawn(panels.TWOBONE_PT_keys).texts())
    chain.step = 0.0
    assert "Step is 0." in " ".join(drawn(panels.TWOBONE_PT_keys).texts())


def test_the_display_panel_has_a_switch_for_each_part(leg):
    assert drawn(panels.TWOBONE_PT_display, method="draw_header").properties() == ["show_overlay"]
    assert len(drawn(panels.TWOBONE_PT_display).properties()) == 5


def test_after_a_bake_its_figures_notes_and_missed_frames_are_listed(leg):
    chain = leg.twobone.chains[0]
    assert not result_panel.TWOBONE_PT_result.poll(sidebar())
    bpy.context.scene.frame_end = 4
    chain.target.location = (0, 0.5, 0.2)
    bpy.ops.twobone.bake()
    assert result_panel.TWOBONE_PT_result.poll(sidebar())
    assert drawn(result_panel.TWOBONE_PT_result).texts()[:4:2] == ["Keys", "Frames"]
    report = json.loads(chain.report)
    report |= {"notes": ["Something to know."], "out_of_reach": [[1, 1], [2, 3.5], *([n, n] for n in range(9))], "too_far": 3}
    chain.report = json.dumps(report)
    shown = drawn(result_panel.TWOBONE_PT_result)
    assert {"Something to know.", "Out of reach", "3 / 4", "+ 3"} <= set(shown.texts())
    frames = [named["text"] for name, given, named in shown.calls if given == ("twobone.jump_to_frame",)]
    assert frames[:2] == ["1", "2 \u2013 3.5"]


@pytest.mark.parametrize("system", ["NONE", "METRIC", "IMPERIAL"])
def test_distances_are_told_in_the_scenes_units_or_as_small_numbers(leg, system):
    units = bpy.context.scene.unit_settings
    units.system = system
    report = {"keys": 1, "frame_start": 1, "frame_end": 2, "frames": 2, "too_far": 0, "too_near": 0}
    far, near = (dict(result_panel.figures({**report, "max_error": value}, units))["Farthest Off"] for value in (0.5, 3e-7))
    assert near == "3.0e-07"
    assert {"NONE": "0.5", "METRIC": "cm", "IMPERIAL": "'"}[system] in far
    assert "Farthest Off" not in dict(result_panel.figures({**report, "max_error": None}, units))


@pytest.mark.parametrize("menu", [menus.TWOBONE_MT_pose, panels.TWOBONE_MT_chains])
def test_menus_offer_what_there_is(empty_file, menu):
    assert len(drawn(menu).buttons()) >= 3


def test_the_pose_menu_has_our_menu_and_the_manual_leads_to_the_extension(registered_addon):
    layout = Layout()
    menus.draw_submenu(SimpleNamespace(layout=layout), None)
    assert ("menu", ("TWOBONE_MT_pose",), {"icon": "CON_KINEMATIC"}) in layout.calls
    address, patterns = menus.manual()
    assert address.startswith("https://")
    assert all(pattern.startswith("bpy.") for pattern, _ in patterns)


def test_the_redo_panel_shows_what_one_tries_out(leg):
    layout = Layout()
    chosen = {option.name: option.default for option in OPTIONS}
    operator = Acting(TWOBONE_OT_bake, layout=layout, bl_rna=bpy.ops.twobone.bake.get_rna_type(), **chosen)
    TWOBONE_OT_bake.draw(operator, sidebar())
    assert {"plane", "bend", "reach", "step"} <= set(layout.properties())
    assert not {"armature", "upper"} & set(layout.properties())
