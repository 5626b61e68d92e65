"""Whatever a button of the sidebar can refuse, refused once: one sentence, nothing changed, no step to undo.

Before each press something is put wrong, which one Ctrl-Z puts right again: the refused press has left no step of its own.
Started by test_window.py inside a Blender with a window; the zip and the folder for pictures follow ``--``.
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.gui.driver import ICONS_IN_ROW, LEFT_IN_ROW, PLACE_IN_ROW, install_zip, play
from tests.gui.noticing import differences, state
from tests.gui.walking import prepare_walk
from tests.tasks.checks.targets import curves_of

BESIDE = 300
"""Pixels to the left of where a dialog opens to its labels: Esc over a field is about the field."""

dialogs = []
"""Sentences of the dialogs that were drawn."""


def prepare():
    prepare_walk(24)
    bpy.context.scene.frame_set(1)  # An undo step shows what is keyed, so nothing is to be posed beside that.
    bpy.ops.ed.undo_push(message="Made")


def module(name):
    """A module of the installed add-on."""
    return sys.modules[next(path for path in sys.modules if path.endswith(f"twobone_addon.{name}"))]


def listen():
    """Note what dialogs say."""
    refusing = module("interface.refusing")
    draw = refusing.draw_sentence

    def heard(layout, sentence, *arguments, **more):
        dialogs.append(sentence.text())
        draw(layout, sentence, *arguments, **more)

    refusing.draw_sentence = heard


def rig():
    return bpy.data.objects["Walker"]


def leg():
    return rig().twobone.chains[rig().twobone.active_index]


def select(*names):
    for bone in rig().pose.bones:
        holder = bone if hasattr(bone, "select") else bone.bone
        holder.select = bone.name in names


def no_target():
    leg().target = None


def no_targets():
    for chain in rig().twobone.chains:
        chain.target = None


def none_enabled():
    for chain in rig().twobone.chains:
        chain.enabled = False


def bones_apart():
    leg().lower = "shin.R"


def bone_gone():
    leg().lower = "nothing"


def target_hangs_from_its_limb():
    target = leg().target
    target.parent, target.parent_type, target.parent_bone = rig(), "BONE", leg().lower


def own_armature_as_target():
    leg().target = rig()


def no_frames():
    leg().frame_range, leg().frame_start, leg().frame_end = "CUSTOM", 20, 10


def too_many_frames():
    leg().frame_range, leg().frame_start, leg().frame_end = "CUSTOM", 1, 3_000_000


def tiny_step():
    leg().step = 0.0001


def limits_swapped():
    leg().min_distance, leg().max_distance = 1.0, 0.5


def at_rest():
    rig().data.pose_position = "REST"


def driven():
    leg_bone = rig().pose.bones[leg().upper]
    leg_bone.driver_add("rotation_quaternion" if leg_bone.rotation_mode == "QUATERNION" else "rotation_euler", 0)


def scaled_to_nothing():
    rig().scale = (0, 0, 0)


def nothing_put_wrong():
    rig()["note"] = 1


def two_bones_apart():
    select("thigh.L", "shin.R")


def cycle_over_too_many_frames():
    for curve in curves_of(rig()):
        curve.modifiers.new("CYCLES")
    bpy.context.scene.frame_end = 40_000
    leg().frame_range, leg().frame_start, leg().frame_end = "CUSTOM", 3, 5


def cycle_over_too_many_frames_noticed_late():
    cycle_over_too_many_frames()
    module("interface.running.progress").PATIENCE_IN_SECONDS = -1.0


CYCLE = 1, 24
"""First and last frame of the walk, which repeats."""


def is_baked_over_cycle():
    """Whether the leg's curves are keyed over all of their cycle, which repeats as before."""
    paths = {f'pose.bones["{bone}"].rotation_quaternion' for bone in (leg().upper, leg().lower)}
    curves = [curve for curve in curves_of(rig()) if curve.data_path in paths]
    assert len(curves) == 4 * len(paths), sorted(paths)
    baked = [[key.co.x for key in curve.keyframe_points if key.type == "GENERATED"] for curve in curves]
    if not any(baked):
        return False
    assert {(keys[0], keys[-1]) for keys in baked} == {CYCLE}, baked
    assert all(len(curve.keyframe_points) == len(keys) for curve, keys in zip(curves, baked, strict=True))
    period = CYCLE[1] - CYCLE[0]
    for curve in curves:
        assert [modifier.type for modifier in curve.modifiers] == ["CYCLES"]
        for frame in range(CYCLE[0] + 1, CYCLE[1]):
            assert abs(curve.evaluate(frame + 1000 * period) - curve.evaluate(frame)) < 1e-4, (curve.data_path, frame)
    return True


GONE_ON = {cycle_over_too_many_frames: is_baked_over_cycle, cycle_over_too_many_frames_noticed_late: is_baked_over_cycle}
"""What the dialog's own button is clicked for, and whether that is reached."""

MOST_WAITS = 100
"""Looks at whether it is."""


def go_on(user, case, without, is_done):
    """Click the dialog's own button; what it does is one step to undo."""
    opened = yield from user.look(case)
    before = state()
    yield from user.click_go_on(without, opened)
    for _ in range(MOST_WAITS):
        yield from user.wait(3)
        if is_done():
            break
    else:
        raise AssertionError((case, "the button does nothing"))
    yield from user.wait(10)
    yield from user.picture(f"{case}_gone_on")
    assert is_done()
    yield from user.hover("WINDOW")
    yield from user.press("Z", ctrl=True)
    yield from user.wait(8)
    assert not differences(before), (case, "one Ctrl-Z after the button", differences(before)[:3])


ASKED = (
    (no_target, "bake(", "No target is chosen. Choose an object"),
    (bones_apart, "bake(", 'Bone "shin.R" is not a descendant of "thigh.L". Choose'),
    (bone_gone, "bake(", 'Lower bone "nothing" is not in armature "Walker". Choose'),
    (target_hangs_from_its_limb, "bake(", 'depends on bone "shin.L" of the chain that should follow it. Choose'),
    (own_armature_as_target, "bake(", 'The armature "Walker" cannot be its own target. Choose'),
    (no_frames, "bake(", "The frame range ends before it starts (20 to 10). Choose"),
    (too_many_frames, "bake(", "has more than 1,000,000 frames at step 1. Choose"),
    (tiny_step, "bake(", "Step must be above 0.01 frames"),
    (limits_swapped, "bake(", "Minimum Distance (1) is above Maximum Distance (0.5). Swap"),
    (at_rest, "bake(", 'Armature "Walker" shows its rest position. Switch'),
    (driven, "bake(", "is driven, so keys would have no effect. Remove"),
    (scaled_to_nothing, "bake(", 'Armature "Walker" has zero scale at frame 1. Give'),
    (no_targets, "bake_all(", "None of the enabled chains has a target. Add"),
    (none_enabled, "bake_all(", "No enabled chain is stored in the active armature. Add"),
    (nothing_put_wrong, "convert_ik(", 'Armature "Walker" has no IK constraint that acts. Choose'),
    (at_rest, "plant(", 'Armature "Walker" shows its rest position. Switch'),
    (none_enabled, "plant(", "has no enabled chain that is a leg, and no legs were found. Add"),
    (own_armature_as_target, "bake_target(", 'The armature "Walker" cannot be its own target. Choose'),
    (cycle_over_too_many_frames, "bake(", "which is too many to key. Choose the frames of the cycle, 1 to 24,"),
    (cycle_over_too_many_frames_noticed_late, "bake(", "which is too many to key. Choose the frames of the cycle, 1 to 24,"),
)
"""What is put wrong, the button, and what its dialog says."""

TOLD = (
    (bone_gone, "add_pole(", 'Lower bone "nothing" is not in armature "Walker". Choose one of its bones.'),
    (
        two_bones_apart,
        "chain_add(",
        'Bones "thigh.L" and "shin.R" are not on one limb. Choose a bone and one of its descendants.',
    ),
)
"""The same of buttons that have no settings to ask for: it is an error in Blender's status bar."""


def scenario(user):
    listen()
    yield from user.look_from("RIGHT")
    yield from user.open_sidebar("Two-Bone IK")
    yield from user.wait(10)
    as_made = state()
    for put_wrong, button, words in (*ASKED, *TOLD):
        case = f"{button[:-1]}_{put_wrong.__name__}"
        put_wrong()
        bpy.ops.ed.undo_push(message=case)
        yield from user.wait(3)
        before = state()
        # What is wrong may be said in the panel, which moves the buttons down.
        part = ICONS_IN_ROW if button == "chain_add(" else LEFT_IN_ROW if button == "live(" else PLACE_IN_ROW
        place = yield from user.find_button(f"bpy.ops.twobone.{button}", part)
        dialogs.clear()
        without = (yield from user.look(case)) if put_wrong in GONE_ON else None
        yield from user.click(*place)
        yield from user.wait(5)
        yield from user.picture(case)
        x, y = user.place
        if put_wrong in GONE_ON:
            yield from go_on(user, case, without, GONE_ON[put_wrong])
        else:
            yield from user.move(x - BESIDE, y)
            yield from user.press("ESC")
            yield from user.wait(3)
        if (put_wrong, button, words) in ASKED:
            (said,) = set(dialogs)
        else:
            said = (yield from user.told())[-1]
            print(f"was to be said: {said}", flush=True)
        assert words in said, (case, said)
        assert not differences(before), (case, differences(before)[:3])
        yield from user.hover("WINDOW")
        yield from user.press("Z", ctrl=True)
        yield from user.wait(8)
        assert not differences(as_made), (case, "one Ctrl-Z", differences(as_made)[:3])


install_zip()
prepare()
play(scenario)
