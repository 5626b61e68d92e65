"""Every script on the recipes' page does what its heading says, as Blender evaluates the result."""

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.house.source import ROOT

bpy = pytest.importorskip("bpy", reason="there is no Blender in this Python")

from tests.baking.targets import curves_of  # noqa: E402
from tests.examples.recipe_scene import LAST, make_recipe_shot  # noqa: E402

PAGE = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
EVERY = range(1, LAST + 1)
SEEN = 1e-4
"""Metres below which nothing is seen."""


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
    exec(compile(script_of(heading), heading, "exec"), {})  # noqa: S102 - the page's own script


def test_the_foot_stays_on_the_prop(shot):
    start = places("Rig", "foot.L", frames=[1])[0] - object_places("Skateboard", [1])[0]
    run("Follow a prop")
    off = places("Rig", "foot.L") - object_places("Skateboard")
    assert np.abs(off - start).max() <= SEEN


def test_a_correction_moves_the_foot_only_while_it_lasts(shot):
    before = places("Walker", "foot.L")
    run("Move a foot by 5 cm for twenty frames, on top of its animation")
    moved = places("Walker", "foot.L") - before
    outside = [frame - 1 for frame in EVERY if not 40 < frame < 60]
    assert np.abs(moved[outside]).max() <= SEEN
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


def test_the_puppet_moves_as_before_without_ik(shot):
    before = [places("Puppet", bone, end) for bone, end in (("shin.L", "head"), ("shin.R", "tail"))]
    run("Bake the limbs of a character that uses IK")
    assert all(bone.constraints[0].mute for bone in bpy.data.objects["Puppet"].pose.bones if bone.constraints)
    after = [places("Puppet", bone, end) for bone, end in (("shin.L", "head"), ("shin.R", "tail"))]
    assert np.abs(np.array(after) - before).max() <= 5e-4


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
    bends = [np.cross(first, second)[:, 0] for first, second in itertools.pairwise(links)]
    assert all(len(set(np.sign(bend))) == 1 for bend in bends)


def test_every_script_on_the_page_is_tried_here():
    with_script = {section.split("\n")[0] for section in PAGE.split("\n## ")[1:] if "```python" in section}
    tried = set(re.findall(r'run\("(.+)"\)', Path(__file__).read_text(encoding="utf-8")))
    assert with_script == tried
