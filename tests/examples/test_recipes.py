"""Every script on the recipes' page does what its heading says, as Blender evaluates the result."""

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.blender_program import PATIENCE_IN_SECONDS
from tests.house.source import ROOT

bpy = pytest.importorskip("bpy", reason="there is no Blender in this Python")

from tests.examples.recipe_scene import ACTION_LENGTH, ACTIONS, LAST, make_recipe_shot, step_height  # noqa: E402
from tests.examples.seen import characters  # noqa: E402
from tests.tasks.checks.targets import curves_of  # noqa: E402

PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
EVERY = range(1, LAST + 1)
LIMBS_IN_SHOT, AS_AT_REST = 15, 0.99
SEEN = 1e-4
"""Metres below which nothing is seen."""
TOUCH = 0.002
"""Metres by which a toe may be above or in what it stands on: two millimetres."""
BALL_HEIGHT = 0.02
"""Metres from the sole to the ball at rest."""


def script_of(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    (script,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return script


@pytest.fixture
def shot(empty_file):
    make_recipe_shot()


def places(name, bone, end="head", frames=EVERY):
    """World places `(F, 3)` of a bone's end."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        character = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append(character.matrix_world @ getattr(character.pose.bones[bone], end))
    return np.array(found)


def object_places(name, frames=EVERY):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation.copy())
    return np.array(found)


def run(heading):
    """Run the page's script. Knees and elbows then bend about the axes of the rest pose, unless that is its subject."""
    exec(compile(script_of(heading), heading, "exec"), {})  # noqa: S102 - the page's own script
    if "Flip" not in heading:
        joints = {(name, joint): cosine for name, seen in characters().items() for joint, cosine in seen["joints"].items()}
        assert len(joints) >= LIMBS_IN_SHOT
        assert {joint: cosine for joint, cosine in joints.items() if cosine < AS_AT_REST} == {}


def test_the_foot_stays_on_the_prop(shot):
    start = places("Rig", "foot.L", frames=[1])[0] - object_places("Skateboard", [1])[0]
    run("Follow a prop")
    off = places("Rig", "foot.L") - object_places("Skateboard")
    assert np.abs(off - start).max() <= SEEN
    board = bpy.data.objects["Board"]
    top = max(corner[2] for corner in board.bound_box)
    toes = places("Rig", "foot.L", "tail") - object_places("Board")
    assert np.abs(toes[:, 2] - top).max() <= TOUCH
    knee, line = places("Rig", "shin.L"), (places("Rig", "thigh.L") + places("Rig", "foot.L")) / 2.0
    assert (line - knee)[:, 1].min() > 0.0  # The character faces -Y.


def test_a_correction_moves_the_hand_only_while_it_lasts(shot):
    before, elbow = places("Walker", "hand.L"), places("Walker", "forearm.L")
    run("Nudge a hand by 5 cm for twenty frames, on top of mocap")
    moved, elbow_moved = places("Walker", "hand.L") - before, places("Walker", "forearm.L") - elbow
    outside = [frame - 1 for frame in EVERY if not 40 < frame < 60]
    assert np.abs(moved[outside]).max() <= SEEN
    assert np.abs(elbow_moved[outside]).max() <= SEEN
    assert moved[49] == pytest.approx([0.0, 0.0, 0.05], abs=SEEN)


def test_one_leg_follows_the_other(shot):
    run("Follow another character's leg")
    assert np.abs(places("Rig", "foot.L") - places("Walker", "foot.L")).max() <= SEEN
    assert np.abs(places("Rig", "shin.L") - places("Walker", "shin.L")).max() <= SEEN


def test_planted_feet_do_not_slide(shot):
    run("Stop feet from sliding")
    report = json.loads(bpy.context.window_manager.twobone_report)
    contacts = [(chain["chain"], contact) for chain in report["chains"] for contact in chain["contacts"]]
    assert max(contact["slide_before"] for _, contact in contacts) > 0.02
    assert {name for name, _ in contacts} == {"Left Leg", "Right Leg"}
    for name, contact in contacts:
        if contact["point"] != "HEEL":
            ball = places("Hero", f"toe.{name[0]}", frames=range(round(contact["first"]), round(contact["last"]) + 1))
            assert np.ptp(ball, axis=0).max() <= SEEN


def test_a_cycle_has_no_seam(shot):
    run("Loop a game cycle without a seam")
    first, last = (places("Rig", "foot.L", frames=[frame])[0] for frame in (1, LAST))
    assert np.abs(first - last).max() <= SEEN
    curves = curves_of(bpy.data.objects["Rig"])
    assert curves
    for curve in curves:
        before, after = curve.evaluate(LAST) - curve.evaluate(LAST - 0.01), curve.evaluate(1.01) - curve.evaluate(1)
        assert before == pytest.approx(after, abs=1e-5)


def test_feet_stand_on_the_steps(shot):
    run("Put feet on stairs")
    report = json.loads(bpy.context.window_manager.twobone_report)
    stands = [(chain["chain"][0], contact) for chain in report["chains"] for contact in chain["contacts"]]
    flat = [(side, range(round(found["first"]), round(found["last"]) + 1)) for side, found in stands if found["point"] == "BOTH"]
    assert len({round(step_height(places("Climber", f"toe.{side}", frames=frames)[0, 1]), 6) for side, frames in flat}) > 3
    for side, frames in flat:
        for ball in places("Climber", f"toe.{side}", frames=frames):
            assert ball[2] - step_height(ball[1]) == pytest.approx(BALL_HEIGHT, abs=SEEN)


def test_thirty_actions_move_as_before_without_ik(shot):
    fighter = bpy.data.objects["Fighter"]
    actions = [action for action in bpy.data.actions if action.name.startswith("Kick")]
    assert len(actions) == ACTIONS
    before = [played(fighter, action) for action in actions]
    run("Turn thirty IK actions into FK keys")
    assert all(bone.constraints[0].mute for bone in fighter.pose.bones if bone.constraints)
    after = [played(fighter, action) for action in actions]
    assert np.ptp(before, axis=1).max() > 0.05
    assert np.abs(np.array(after) - before).max() <= 5e-4


def played(character, action):
    """Places `(F, 12)` of both knees and ankles in an action."""
    character.animation_data.action = action
    if hasattr(action, "slots"):
        character.animation_data.action_slot = action.slots[0]
    frames = range(1, ACTION_LENGTH + 1)
    return np.hstack([places("Fighter", f"shin.{side}", end, frames) for side in "LR" for end in ("head", "tail")])


def test_a_rigify_leg_goes_to_fk_and_back_unseen(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(script_of("Go from Rigify's IK to FK over a range, and back"), encoding="utf-8")
    program = [sys.executable, str(ROOT / "tests" / "examples" / "rigify_recipe.py"), str(script)]
    done = subprocess.run(program, capture_output=True, text=True, check=False, timeout=PATIENCE_IN_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["way"] > 0.1
    assert told["moved"] <= 1e-3
    on_fk = told["on_fk"]
    assert on_fk[:19] == [0.0] * 19
    assert on_fk[19:39] == [1.0] * 20
    assert on_fk[39:] == [0.0] * (LAST - 39)


def test_the_elbow_flips_at_its_key(shot):
    run("Flip an elbow in the middle of a shot")
    assert np.abs(places("Cut-out", "forearm", "tail") - object_places("Ball")).max() <= SEEN
    elbows, hands, shoulder = places("Cut-out", "forearm"), places("Cut-out", "forearm", "tail"), places("Cut-out", "arm")
    sides = np.sign(np.cross(elbows - shoulder, hands - shoulder)[:, 1])
    assert set(sides[:29]) == {-sides[29]}
    assert set(sides[29:]) == {sides[29]}


def test_the_hind_leg_opens_all_its_joints(shot):
    run("A hind leg with three links")
    assert np.abs(places("Dog", "metatarsus", "tail") - object_places("Paw")).max() <= SEEN
    joints = np.stack(
        [places("Dog", "thigh"), places("Dog", "shin"), places("Dog", "metatarsus"), places("Dog", "metatarsus", "tail")]
    )
    links = np.diff(joints, axis=0)
    upper, lower = (
        np.arctan2(np.cross(first, second)[:, 0], np.sum(first * second, axis=-1)) for first, second in itertools.pairwise(links)
    )
    for bends in (upper, lower):
        assert len(set(np.sign(bends))) == 1
        assert np.ptp(bends) > np.radians(5.0)
    assert np.corrcoef(np.abs(upper), np.abs(lower))[0, 1] > 0.999


def test_every_script_on_the_page_is_tried_here():
    with_script = {section.split("\n")[0] for section in PAGE.split("\n## ")[1:] if "```python" in section}
    tried = set(re.findall(r'(?:run|script_of)\("([^"]+)"\)', Path(__file__).read_text(encoding="utf-8")))
    assert with_script == tried
