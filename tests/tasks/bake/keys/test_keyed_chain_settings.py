"""Keyed settings of a stored chain act in every evaluation, also if the list of chains was changed a moment ago."""

import json

import bpy
import pytest

from tests.blank import empty
from tests.promises.tasks_under_test import LAST, keyed_leg
from tests.tasks.checks.all_keys import all_keys

KEYED = {"influence": (0.0, 1.0), "bend": ("POSITIVE", "NEGATIVE")}


def evaluated_leg(setting):
    """A leg that has been evaluated before a second chain, whose setting is keyed, is added at the list's end."""
    rig = keyed_leg()
    for frame in (1, 5, 1):
        bpy.context.scene.frame_set(frame)
    first = rig.twobone.chains[0]
    chain = rig.twobone.chains.add()
    for name in ("upper", "lower", "target", "plane", "frame_range"):
        setattr(chain, name, getattr(first, name))
    chain.name = "keyed"
    for frame, value in zip((2, 6), KEYED[setting], strict=True):
        setattr(chain, setting, value)
        rig.keyframe_insert(f"twobone.chains[1].{setting}", frame=frame)
    return rig


def added(rig):
    del rig


def first_removed(rig):
    """The keyed chain is the list's first one now, and so are its keys."""
    rig.twobone.chains.remove(0)
    rename_curve(rig, "chains[1]", "chains[0]")


def moved(rig):
    rig.twobone.chains.move(1, 0)
    rename_curve(rig, "chains[1]", "chains[0]")


def rename_curve(rig, old, new):
    from tests.tasks.checks.targets import curves_of

    for curve in curves_of(rig):
        curve.data_path = curve.data_path.replace(old, new)


@pytest.mark.parametrize("setting", KEYED)
@pytest.mark.parametrize("change", [added, first_removed, moved])
@pytest.mark.parametrize("operator", ["bake", "bake_all"])
def test_keyed_settings_act_in_every_evaluation(registered_addon, empty_file, operator, change, setting):
    found = {}
    for evaluation in ("AUTO", "PROBES", "SCENE"):
        empty()
        rig = evaluated_leg(setting)
        change(rig)
        if operator == "bake":
            call = {"armature": "Rig", "stored": "keyed", "evaluation": evaluation}
        else:
            for chain in rig.twobone.chains:
                chain.enabled, chain.evaluation = chain.name == "keyed", evaluation
            call = {}
        assert getattr(bpy.ops.twobone, operator)(**call) == {"FINISHED"}
        found[evaluation] = all_keys(rig)
        report = json.loads(bpy.context.window_manager.twobone_report)["chains"][0]
        assert report["frames"] == LAST
    assert found["AUTO"] == found["PROBES"]
    assert found["AUTO"] == found["SCENE"]
