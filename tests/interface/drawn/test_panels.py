"""What the sidebar and the menus show, state by state; every property, button and icon in them exists."""

import json
import re
import unicodedata
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.interface.acting import select_bones
from tests.interface.recording import Acting, Layout, drawn, sidebar
from tests.tasks.checks.all_keys import all_keys
from tests.tasks.rigs.legs_with_ik import add_ik
from tests.tasks.rigs.switched_leg import switched_leg
from tests.tasks.rigs.walker import Walk, build_walker
from tests.tasks.scenes import LEG, BoneShape, add_empty, build_armature, key_places, leg_with_chain, set_range
from twobone_addon.interface.drawn_text import wrapped
from twobone_addon.interface.operators.bake import TWOBONE_OT_bake
from twobone_addon.interface.operators.of_tasks import TWOBONE_OT_plant
from twobone_addon.interface.sidebar import menus, nudge_panel, panels, result_panel, setting_panels
from twobone_addon.interface.sidebar.panels import TWOBONE_PT_chains
from twobone_addon.interface.stored.live_limbs import reasons
from twobone_addon.said import Sentence
from twobone_addon.scene.keys.contact_keys import ContactKeys, write_contacts
from twobone_addon.scene.versions import curve_bag
from twobone_addon.settings import OPTIONS

SUBPANELS = (
    TWOBONE_PT_chains,
    setting_panels.TWOBONE_PT_chain,
    setting_panels.TWOBONE_PT_reach,
    setting_panels.TWOBONE_PT_keys,
    setting_panels.TWOBONE_PT_advanced,
)


@pytest.fixture
def stored_leg(empty_file):
    return leg_with_chain()


def subpanels():
    return {name for cls in SUBPANELS for name in drawn(cls).properties()}


def test_without_an_armature_it_says_what_to_select(empty_file):
    assert drawn(TWOBONE_PT_chains).texts() == ["Select an armature"]
    add_empty()
    bpy.context.view_layer.objects.active = bpy.data.objects["Target"]
    assert drawn(TWOBONE_PT_chains).texts() == ["Select an armature"]


def test_in_edit_mode_it_says_which_mode_to_use(stored_leg):
    assert drawn(TWOBONE_PT_chains, sidebar(mode="EDIT_ARMATURE")).texts() == ["Use Object or Pose Mode"]
    assert not setting_panels.TWOBONE_PT_chain.poll(sidebar(mode="EDIT_ARMATURE"))


def test_without_a_chain_there_are_limbs_to_set_up_a_target_to_add_and_what_works_on_the_whole_character(empty_file):
    build_armature(LEG)
    shown = drawn(TWOBONE_PT_chains)
    assert "Select a bone of the limb" in shown.texts()
    assert "twobone.set_up_limbs" in shown.buttons()
    last = ["twobone.add_target", "twobone.convert_ik", "twobone.plant", "twobone.finish_retarget"]
    assert shown.buttons()[-len(last) :] == last
    assert not setting_panels.TWOBONE_PT_chain.poll(sidebar())
    assert drawn(TWOBONE_PT_chains, method="draw_header_preset").calls == []


def test_a_bone_is_asked_for_until_one_is_selected(empty_file):
    rig = build_armature(LEG)
    asked = "Select a bone of the limb"
    select_bones(rig)
    assert asked in drawn(TWOBONE_PT_chains).texts()
    select_bones(rig, LEG[-1].name)
    assert asked not in drawn(TWOBONE_PT_chains).texts()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert asked in drawn(TWOBONE_PT_chains).texts()


def test_a_chain_has_its_target_and_bake(stored_leg):
    shown = drawn(TWOBONE_PT_chains)
    assert {"twobone.bake", "twobone.bake_all"} <= set(shown.buttons())
    assert "target" in shown.properties()
    assert "twobone.add_target" not in shown.buttons()
    stored_leg.twobone.chains[0].target = None
    assert "twobone.add_target" in drawn(TWOBONE_PT_chains).buttons()


def test_a_deleted_target_leaves_its_field_and_the_panel_says_so_with_the_remedy(stored_leg):
    chain = stored_leg.twobone.chains[0]
    other = stored_leg.twobone.chains.add()
    other.target, chain.pole = add_empty("Kept"), add_empty("Pole")
    bpy.context.view_layer.update()
    for name in ("Target", "Pole"):
        bpy.data.scenes[0].collection.objects.unlink(bpy.data.objects[name])
    bpy.context.view_layer.update()
    assert (chain.target, chain.pole, chain.lost_target) == (None, None, "Target")
    assert other.target == bpy.data.objects["Kept"]
    shown = drawn(TWOBONE_PT_chains)
    assert 'Target "Target" was deleted' in " ".join(shown.texts())
    labelled = [given for name, given, named in shown.calls if name == "operator" and named.get("text") != ""]
    assert ("twobone.add_target",) in labelled
    assert bpy.ops.twobone.add_target(stored="Leg") == {"FINISHED"}
    bpy.context.view_layer.update()
    assert chain.target is not None
    assert "was deleted" not in " ".join(drawn(TWOBONE_PT_chains).texts())


def test_a_linked_character_is_told_of_no_next_step(empty_file, tmp_path):
    rig, _ = build_walker(Walk())
    bpy.data.libraries.write(str(tmp_path / "walker.blend"), {rig})
    bpy.data.batch_remove([rig])
    with bpy.data.libraries.load(str(tmp_path / "walker.blend"), link=True) as (_, wanted):
        wanted.objects = ["Walker"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.objects.active = wanted.objects[0]
    assert "Next: " not in " ".join(drawn(TWOBONE_PT_chains).texts())


def test_after_set_up_limbs_one_line_says_what_comes_next_until_it_is_done(empty_file):
    rig, _ = build_walker(Walk())
    rig.twobone.chains.clear()
    bpy.context.view_layer.objects.active = rig
    assert bpy.ops.twobone.find_limbs() == {"FINISHED"}
    shown = drawn(TWOBONE_PT_chains)
    assert "Next: Set Up Limbs adds targets to bake; Plant Feet needs none" in " ".join(shown.texts())
    assert "twobone.set_up_limbs" in shown.buttons()
    assert bpy.ops.twobone.set_up_limbs() == {"FINISHED"}
    assert all(chain.target.animation_data is not None for chain in rig.twobone.chains)
    said = " ".join(drawn(TWOBONE_PT_chains).texts())
    assert "then bake them" in said
    assert bpy.ops.twobone.bake_all(scope="ACTIVE") == {"FINISHED"}
    report = json.loads(bpy.context.window_manager.twobone_report)
    assert max(chain["max_error"] for chain in report["chains"]) < 1e-4
    assert "Next:" not in " ".join(drawn(TWOBONE_PT_chains).texts())


def test_several_chains_can_be_moved_and_baked_together(stored_leg):
    stored_leg.twobone.chains.add().name = "Other"
    assert {"twobone.bake_all", "twobone.chain_move"} <= set(drawn(TWOBONE_PT_chains).buttons())


def test_another_selected_limb_is_offered_as_the_next_one(empty_file):
    arm = (BoneShape("arm", (2, 0, 2), (2, 0.1, 1)), BoneShape("forearm", (2, 0.1, 1), (2, 0, 0), "arm"))
    rig = build_armature((*LEG, *arm))
    chain = rig.twobone.chains.add()
    chain.name, chain.upper, chain.lower, chain.target = "Leg", "upper", "lower", add_empty()
    select_bones(rig, "arm", "forearm")
    added = [named for name, given, named in drawn(TWOBONE_PT_chains).calls if given == ("twobone.add_target",)]
    assert [named["text"] for named in added] == ["Add Target for forearm"]


def test_why_a_chain_is_not_live_any_more_stands_below(stored_leg):
    reasons["Rig", "Leg"] = Sentence("The target's offset was changed. Switch Live on again.")
    assert " ".join(drawn(TWOBONE_PT_chains).texts()).endswith("Switch Live on again.")


@pytest.mark.parametrize("missing", [False, True])
def test_a_row_of_the_list_shows_whether_there_is_a_target_without_a_warning(stored_leg, missing):
    chain = stored_leg.twobone.chains[0]
    chain.target = None if missing else chain.target
    layout = drawn_row(chain)
    assert layout.properties() == ["name", "enabled"]
    icons = [named["icon"] for _, _, named in layout.calls if "icon" in named]
    assert icons == ["BONE_DATA" if missing else "NONE"]


def drawn_row(chain):
    layout = Layout()
    panels.TWOBONE_UL_chains.draw_item(None, sidebar(), layout, None, chain, 0, None, "", 0)
    return layout


def test_settings_are_shown_where_they_have_a_say_and_all_of_them_somewhere(stored_leg):
    chain = stored_leg.twobone.chains[0]
    seen = subpanels()
    assert not {"pole", "softness", "tolerance", "upper_min"} & seen
    switched_on = {"softness": 0.1, "softness_near": 0.1, "min_distance": 0.1, "max_distance": 1.0}
    for changes in (
        {
            **switched_on,
            "plane": "POLE",
            "reach": "STRETCH",
            "keys": "REDUCE",
            "use_limits": True,
            "joints": "ALL",
            "frame_range": "CUSTOM",
        },
        {"plane": "OBJECT", "keys": "FRAMES"},
    ):
        for name, value in changes.items():
            setattr(chain, name, value)
        seen |= subpanels()
    assert stored_leg.twobone.chains[0].use_limits
    seen.add("use_limits")  # its box is a button
    of_armatures = {"target_bone", "pole_bone", "target_root_bone"}
    assert {option.name for option in OPTIONS} - seen == {"armature", "target_scale", *of_armatures}
    chain.target = chain.pole = stored_leg
    chain.plane = "POLE"
    assert of_armatures <= subpanels()
    assert "target_scale" not in subpanels()
    chain.target_root_bone = "thigh.L"
    assert "target_scale" in subpanels()
    chain.target_root_bone, chain.target_scale = "", 0.5
    assert "target_scale" in subpanels(), "a bake is refused for what nobody sees"


@pytest.mark.parametrize("setting", ["target_bone", "target_root_bone", "pole_bone"])
def test_bones_of_guides_are_chosen_from_the_guides_own(stored_leg, setting):
    other = bpy.data.objects.new("Guide", bpy.data.armatures.new("Guide"))
    bpy.context.scene.collection.objects.link(other)
    chain = stored_leg.twobone.chains[0]
    chain.target = chain.pole = other
    chain.plane = "POLE"
    searched = [
        given[2] for cls in SUBPANELS for name, given, _ in drawn(cls).calls if name == "prop_search" and given[1] == setting
    ]
    assert searched == [other.data]


def test_no_setting_stands_twice_and_no_panel_begins_with_its_own_title(stored_leg):
    chain = stored_leg.twobone.chains[0]
    for name, value in {"plane": "POLE", "reach": "STRETCH", "use_limits": True, "frame_range": "CUSTOM"}.items():
        setattr(chain, name, value)
    shown = [name for cls in SUBPANELS for name in drawn(cls).properties()]
    assert sorted(shown) == sorted(set(shown))
    # A box stands before each of several values, and Live beside one limb and below all.
    shared = {"twobone.switch_setting", "twobone.live"}
    buttons = [button for cls in SUBPANELS for button in drawn(cls).buttons() if button not in shared]
    assert sorted(buttons) == sorted(set(buttons))
    for cls in SUBPANELS[1:]:
        kind, given, named = next(call for call in drawn(cls).calls if call[0] in {"prop", "prop_search", "label"})
        first = "" if named.get("expand") else given[0].bl_rna.properties[given[1]].name if kind != "label" else named["text"]
        assert first != cls.bl_label


def test_buttons_stand_where_they_help(stored_leg):
    chain = stored_leg.twobone.chains[0]
    assert {"twobone.add_pole", "twobone.convert_ik", "twobone.bake_target"} <= set(drawn(TWOBONE_PT_chains).buttons())
    chain.pole, chain.plane = chain.target, "POLE"
    assert "twobone.add_pole" not in drawn(TWOBONE_PT_chains).buttons()
    assert "twobone.read_limits" not in drawn(setting_panels.TWOBONE_PT_reach).buttons()
    chain.use_limits = True
    assert "twobone.read_limits" in drawn(setting_panels.TWOBONE_PT_reach).buttons()


@pytest.mark.parametrize("scale", [1.0, 0.0])
@pytest.mark.parametrize("space", ["WORLD", "ARMATURE", "PARENT"])
def test_how_many_curves_a_bake_writes_or_why_it_cannot(stored_leg, space, scale):
    stored_leg.scale = (scale,) * 3
    bpy.context.view_layer.update()
    chain = stored_leg.twobone.chains[0]
    chain.plane_space = space
    (said,) = [text for text in drawn(setting_panels.TWOBONE_PT_keys).texts() if "curves to bake" in text]
    if scale:
        bpy.context.scene.frame_end = 3
        bpy.ops.twobone.bake()
        assert int(said.split()[0]) == len(curve_bag(stored_leg).fcurves)
    chain.step = 0.0
    assert "Step is 0." in " ".join(drawn(setting_panels.TWOBONE_PT_keys).texts())


def test_the_display_panel_has_a_switch_for_each_part(stored_leg):
    assert drawn(setting_panels.TWOBONE_PT_display, method="draw_header").properties() == ["show_overlay"]
    assert len(drawn(setting_panels.TWOBONE_PT_display).properties()) == 7


def test_after_a_bake_what_is_on_target_what_is_not_and_the_figures_are_listed(stored_leg):
    chain = stored_leg.twobone.chains[0]
    assert not result_panel.TWOBONE_PT_result.poll(sidebar())
    bpy.context.scene.frame_end = 4
    chain.target.location = (0, 0.5, 0.2)
    bpy.ops.twobone.bake()
    assert result_panel.TWOBONE_PT_result.poll(sidebar())
    report = json.loads(chain.report)
    far = {"kind": "OUT_OF_REACH", "values": {"count": 3, "distance": "12 cm", "frame": "2"}}
    far["ranges"] = [[1, 1], [2, 3.5], *([n, n] for n in range(9))]
    report |= {
        "notes": ["Something to know."],
        "said": [Sentence("Something to know.").to_dict()],
        "out_of_reach": far["ranges"],
        "statements": [far],
    }
    chain.report = json.dumps(report)
    shown = drawn(result_panel.TWOBONE_PT_result)
    assert {"Something to know.", "Keys", "Frames", "+ 3"} <= set(shown.texts())
    assert "3 out of reach, up to 12 cm at frame 2" in " ".join(shown.texts())
    frames = [named["text"] for name, given, named in shown.calls if given == ("twobone.jump_to_frame",)]
    assert frames[:2] == ["1", "2 \u2013 3.5"]


def labels(shown):
    """The labels of buttons, in their order."""
    return [named["text"] for name, _, named in shown.calls if name == "operator" and named.get("text")]


def test_a_visible_limb_on_ik_is_switched_and_baked_by_one_button(empty_file):
    rig = switched_leg()
    set_range(1, 3)
    goal, target = bpy.data.objects["IK goal"], add_empty("Goal")
    key_places(goal, [(0, -0.2, 0.2), (0, -0.1, 0.3), (0, 0, 0.4)])
    key_places(target, [(0, -0.3, 0.3), (0, -0.3, 0.35), (0, -0.3, 0.4)])
    for name in ("Leg", "Off"):
        chain = rig.twobone.chains.add()
        chain.name, chain.upper, chain.lower, chain.target = name, "thigh_fk", "shin_fk", target
    chain.enabled = False
    rig.twobone.active_index = 0
    bpy.context.scene.frame_set(2)
    shown = drawn(TWOBONE_PT_chains)
    assert {"Switch to FK and Bake", "Switch All Limbs and Bake"} <= set(labels(shown))
    assert not {"Bake", "Bake All", "Switch to FK"} & set(labels(shown))
    assert "twobone.switch" not in shown.buttons(), "one button does both"
    assert bpy.ops.twobone.bake(**shown.values("twobone.bake")) == {"FINISHED"}
    for frame in range(1, 4):
        bpy.context.scene.frame_set(frame)
        seen = rig.matrix_world @ rig.pose.bones["foot_def"].head
        assert (seen - target.matrix_world.translation).length < 1e-4
    shown = drawn(TWOBONE_PT_chains)
    assert {"Bake", "Bake All"} <= set(labels(shown))
    assert "switch_first" not in shown.values("twobone.bake")


def test_a_constraint_that_no_switch_takes_off_is_named_beside_the_bake(stored_leg):
    copy = stored_leg.pose.bones["lower"].constraints.new("COPY_ROTATION")
    copy.target = add_empty("Leader")
    bpy.context.view_layer.update()
    shown = drawn(TWOBONE_PT_chains)
    assert 'Constraint "Copy Rotation" poses lower' in " ".join(shown.texts())
    assert "Switch to FK and Bake" not in labels(shown)


def test_a_limb_on_its_own_ik_constraint_is_offered_the_switch(stored_leg):
    add_ik(stored_leg, "lower")
    bpy.context.view_layer.update()
    shown = drawn(TWOBONE_PT_chains)
    assert "Switch to FK and Bake" in labels(shown)
    assert shown.values("twobone.bake")["switch_first"]


def test_buttons_stand_below_the_name_of_what_they_are_about_and_stay_for_every_chain(stored_leg):
    shown = drawn(TWOBONE_PT_chains)
    assert shown.texts().index("Leg") < shown.texts().index("Rig")
    assert {"twobone.plant", "twobone.bake_all", "twobone.flip"} <= set(shown.buttons())
    chain = stored_leg.twobone.chains[0]
    chain.limb, chain.bend = "ARM", "KEEP"
    assert drawn(TWOBONE_PT_chains).buttons() == shown.buttons()


def test_a_number_and_its_unit_stay_on_one_line():
    sentence = "hand on target in all 40 frames (< 0.1 mm); hips moved by up to 7 mm, turned by 13 degrees"
    for characters in range(16, 60):
        lines = wrapped(sentence, characters, len)
        assert " ".join(lines) == sentence
        for whole in ("40 frames", "(< 0.1 mm)", "7 mm", "13 degrees"):
            assert any(whole in line for line in lines), (whole, lines)


def columns(text):
    """Width in half columns of a terminal, in which a Japanese or Chinese character is as wide as two letters."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@pytest.mark.parametrize(
    "sentence",
    [
        "LeftFootは全250フレームでターゲット上にあります(< 0.1 mm)。",
        "ターゲット「Target LeftFoot」はどのフレームでも、キーの間でも追従しました。",
        "LeftFoot 在全部 250 帧中都位于目标上（< 0.1 mm），没有帧超出范围。",  # noqa: RUF001
        "Chain_with_an_extremely_long_name.001 has no target",
    ],
)
def test_sentences_without_spaces_wrap_as_well_and_no_line_is_wider_than_its_room(sentence):
    for room in range(16, 60):
        lines = wrapped(sentence, room, columns)
        assert max(map(columns, lines)) <= room
        assert "".join(lines).replace(" ", "") == sentence.replace(" ", "")
        assert not [line for line in lines[1:] if line[0] in "、。，）」"]  # noqa: RUF001
        if columns(sentence) > 2 * room and "_" not in sentence:
            assert len(lines) <= columns(sentence) / room * 1.8 + 1, "lines break too early"


def test_planted_feet_leave_the_sentence_and_the_worst_contacts_first(empty_file):
    armature, _ = build_walker(Walk(slide=0.02))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.twobone.plant()
    told = json.loads(bpy.context.window_manager.twobone_report)
    shown = drawn(result_panel.TWOBONE_PT_planting)
    assert " ".join(shown.texts()).startswith(told["sentence"])
    moved = {(leg["chain"], each["first"]): each["moved"] for leg in told["chains"] for each in leg["contacts"]}
    chain, first = max(moved, key=moved.get)
    assert max(each["slide_between"] for leg in told["chains"] for each in leg["contacts"]) < 1e-4, "none still slides"
    slid, now, by = re.search(r"slid (.*?), now (.*?); moved ([\d.<]+ \w+)", " ".join(shown.texts())).groups()
    assert now == "< 0.1 mm"
    assert {slid.split()[1], by.split()[1]} <= {"mm", "cm"}
    texts = [named["text"] for name, given, named in shown.calls if given == ("twobone.jump_to_frame",)]
    assert len(texts) == int(told["sentence"].split()[0])
    assert texts[0].startswith(f"{chain}  ")
    start, _, end = texts[0].split()[1:4]
    assert float(start) <= first <= float(end)
    assert shown.values("twobone.jump_to_frame") == {"frame": float(start)}
    bpy.ops.twobone.clear_baked(all_frames=True)
    assert not result_panel.TWOBONE_PT_planting.poll(sidebar())


def test_a_contact_that_planting_left_has_a_row_with_its_frames_and_the_reason(empty_file):
    armature, states = build_walker(Walk(slide=0.5))
    for side in "LR":  # as Find Contacts keys them, so that they are nobody's own
        frames = np.arange(1.0, len(states[side]) + 1.0)
        chain = armature.twobone.chains[f"leg.{side}"]
        write_contacts(armature, frames, [ContactKeys(chain, np.asarray(states[side]), np.zeros(len(frames), dtype=bool))])
    bpy.context.view_layer.objects.active = armature
    bpy.ops.twobone.plant()
    told = json.loads(bpy.context.window_manager.twobone_report)
    left = [(leg["chain"], contact) for leg in told["chains"] for contact in leg["left"]]
    assert left
    shown = drawn(result_panel.TWOBONE_PT_planting)
    rows = [named["text"] for _, given, named in shown.calls if given == ("twobone.jump_to_frame",)]
    for chain, contact in left:
        assert f"{chain}  {contact['first']:g} \u2013 {contact['last']:g}" in rows[: len(left)]
    assert " ".join(shown.texts()).count("left as it is: planting would move it by ") == len(left)


def test_one_button_clears_what_was_baked_on_all_limbs(empty_file):
    armature, _ = build_walker(Walk(slide=0.02))
    bpy.context.view_layer.objects.active = armature
    before = all_keys(armature)
    bpy.ops.twobone.plant()
    assert all_keys(armature) != before
    shown = drawn(panels.TWOBONE_PT_chains)
    at = next(number for number, (_, _, named) in enumerate(shown.calls) if named.get("text") == "Clear All Limbs")
    assert bpy.ops.twobone.clear_baked(**shown.calls[at + 1][1][0].values) == {"FINISHED"}
    assert all_keys(armature) == before


def test_planting_shows_first_what_people_change_and_says_what_is_automatic(empty_file):
    acting = Acting(TWOBONE_OT_plant, layout=Layout(), armature="", refusal=None)
    for option in TWOBONE_OT_plant.table.own:
        setattr(acting, option.name, option.default)
    acting.bl_rna = bpy.ops.twobone.plant.get_rna_type()
    TWOBONE_OT_plant.draw(acting, sidebar())
    names = acting.layout.properties()
    assert {"actions_listed", "ground", "root_motion", "keep_targets"} <= set(names[:8])
    assert "Advanced" in acting.layout.texts()
    assert names.index("enter_speed") > names.index("keep_targets")
    labels = [named.get("text") for name, given, named in acting.layout.calls if given[1:] == ("enter_speed",)]
    assert labels == ["Contact Speed (Automatic)"]


def test_no_menu_is_too_long_for_a_small_screen(registered_addon):
    for menu in (menus.TWOBONE_MT_pose, menus.TWOBONE_MT_list, menus.TWOBONE_MT_contacts):
        assert len(drawn(menu).buttons()) <= 16


def test_the_chains_menu_offers_what_there_is(empty_file):
    shown = drawn(panels.TWOBONE_MT_chains)
    assert len(shown.buttons()) >= 2
    assert shown.values("twobone.bake_target") == {"scope": "ACTIVE"}


BY_BUTTON_ONLY = {
    "twobone.audit_show",
    "twobone.contact_jump",
    "twobone.contact_tick",
    "twobone.edit_quietly",
    "twobone.jump_to_frame",
    "twobone.preset_add",
    "twobone.select_limb",
    "twobone.switch_setting",
}
"""They are about one row or frame of a result, the presets' own popover, a box in front of a value, and a step of ours."""


@pytest.mark.parametrize("menu", ["VIEW3D_MT_object", "VIEW3D_MT_pose"])
def test_menu_search_finds_every_operator_in_both_modes(registered_addon, menu):
    """Menu Search goes through the menus of the header; what is in none of them is not found."""
    assert menus.draw_submenu in getattr(bpy.types, menu).draw._draw_funcs
    found = {
        button
        for cls in (menus.TWOBONE_MT_pose, menus.TWOBONE_MT_list, menus.TWOBONE_MT_contacts)
        for button in drawn(cls).buttons()
    }
    ours = {f"twobone.{name}" for name in dir(bpy.ops.twobone)}
    assert ours - found == BY_BUTTON_ONLY


def test_the_pose_menu_has_our_menu_and_the_manual_leads_to_the_extension(registered_addon):
    layout = Layout()
    menus.draw_submenu(SimpleNamespace(layout=layout), None)
    assert ("menu", ("TWOBONE_MT_pose",), {"icon": "CON_KINEMATIC"}) in layout.calls
    address, patterns = menus.manual()
    assert address.startswith("file://")
    assert address.endswith("help.html")
    assert all(pattern.startswith("bpy.") for pattern, _ in patterns)


def test_the_redo_panel_shows_what_one_tries_out(stored_leg):
    layout = Layout()
    chosen = {option.name: option.default for option in OPTIONS}
    operator = Acting(TWOBONE_OT_bake, layout=layout, bl_rna=bpy.ops.twobone.bake.get_rna_type(), **chosen)
    TWOBONE_OT_bake.draw(operator, sidebar())
    assert {"plane", "bend", "reach", "step"} <= set(layout.properties())
    assert not {"armature", "upper"} & set(layout.properties())


@pytest.mark.parametrize("limb, rows", [("NONE", {"limb"}), ("ARM", {"limb", "side"}), ("LEG", {"limb", "side", "toe"})])
def test_which_limb_it_is_can_be_seen_and_corrected(stored_leg, limb, rows):
    stored_leg.twobone.chains[0].limb = limb
    assert set(drawn(setting_panels.TWOBONE_PT_chain).properties()) & {"limb", "side", "toe"} == rows


def test_nudges_of_the_active_limb_are_listed_with_what_changes_and_removes_them(stored_leg):
    chain = stored_leg.twobone.chains[0]
    assert not nudge_panel.TWOBONE_PT_nudges.poll(sidebar())
    for frame in (4, 9):
        named = {"armature": stored_leg.name, "chain": chain.name, "frame": frame}
        assert bpy.ops.twobone.nudge(**named, offset=(0.0, 0.1, 0.1), before=2, after=3) == {"FINISHED"}
    assert nudge_panel.TWOBONE_PT_nudges.poll(sidebar())
    calls = drawn(nudge_panel.TWOBONE_PT_nudges).calls
    rows = [named["text"] for name, given, named in calls if name == "operator" and given[0] == "twobone.jump_to_frame"]
    assert rows == ["4: 14 cm, -2 +3", "9: 14 cm, -2 +3"]
    pressed = [given[0].values for name, given, _ in calls if name == "pressed" and given[0].idname == "twobone.nudge"]
    named = {"armature": stored_leg.name, "chain": chain.name, "frame": 4.0}
    assert pressed[:2] == [named, {**named, "remove": True}]


def test_all_of_one_action_say_what_the_action_says(empty_file):
    said = {}
    for actions in ("ACTIVE", "ALL"):
        bpy.data.batch_remove([*bpy.data.objects, *bpy.data.actions])
        build_walker(Walk(slide=0.02))
        bpy.ops.twobone.plant(actions=actions)
        said[actions] = json.loads(bpy.context.window_manager.twobone_report)["sentence"]
    assert said["ALL"] == f"{bpy.data.objects['Walker'].animation_data.action.name}: {said['ACTIVE']}"


def test_found_contacts_are_listed_before_planting_and_one_taken_off_is_not_planted(empty_file):
    """Those that planting moves farthest come first. The oracle is what Plant Feet reports, and that the feet stay there."""
    armature, _ = build_walker(Walk(slide=0.02))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.twobone.find_contacts()
    told = json.loads(bpy.context.window_manager.twobone_report)
    shown = drawn(setting_panels.TWOBONE_PT_contacts)
    rows = [named["text"] for name, given, named in shown.calls if given == ("twobone.jump_to_frame",)]
    farthest = max((max(leg["moved"]), leg["chain"]) for leg in told["chains"])
    assert rows[0].startswith(f"{farthest[1]}  ")
    said = re.findall(r"slides (\S+) (\w+); planting moves it (\S+) (\w+); (\d+) % sure", " ".join(shown.texts()))
    assert len(said) == len(rows) > 2
    millimetres = [float(by) * {"mm": 1, "cm": 10}[unit] for _, _, by, unit, _ in said]
    assert millimetres == sorted(millimetres, reverse=True)
    assert millimetres[0] == pytest.approx(1000 * farthest[0], rel=0.06)
    ticks = [given[0].values for name, given, _ in shown.calls if name == "pressed" and given[0].idname == "twobone.contact_tick"]
    off = ticks[1]
    assert bpy.ops.twobone.contact_tick(**off) == {"FINISHED"}
    again = drawn(setting_panels.TWOBONE_PT_contacts)
    boxes = [named["icon"] for name, given, named in again.calls if given == ("twobone.contact_tick",)]
    assert boxes == ["CHECKBOX_HLT", "CHECKBOX_DEHLT", *["CHECKBOX_HLT"] * (len(rows) - 2)]

    def first_flat():
        """A landing on a heel that nothing shows is not planted."""
        for frame in range(int(off["first"]), int(off["last"])):
            bpy.context.scene.frame_set(frame)
            if armature.twobone.chains[off["chain"]].contact != "HEEL":
                return frame
        return None

    def planted():
        bpy.ops.twobone.plant()
        legs = json.loads(bpy.context.window_manager.twobone_report)["chains"]
        leg = next(leg for leg in legs if leg["chain"] == off["chain"])
        return [each for each in leg["contacts"] if each["first"] <= off["last"] and each["last"] >= off["first"]]

    assert not planted()
    assert bpy.ops.twobone.contact_tick(**{**off, "stands": True}) == {"FINISHED"}
    expected = [first_flat(), off["last"]]
    assert [planted()[0]["first"], planted()[-1]["last"]] == expected
