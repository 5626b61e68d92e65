"""Many characters are walked in batches: what shares something stays together, and all get what they get together."""

import bpy
import numpy as np

from tests.scene.movers import add_armature, add_empty, animate, animate_bone, animated_empty
from twobone_addon.pipeline.motion.sampling import sample
from twobone_addon.scene.sampling.evaluate import FEW_OBJECTS, Quantity, batches
from twobone_addon.scene.sampling.stepping import part_of_steps

FRAMES = np.array([1.0, 2.0, 2.5, 30.0])


def crowd(count):
    """Rigs that look at targets of their own; what is to be known of them."""
    wanted = []
    for number in range(count):
        rig, target = add_armature(f"Rig{number}"), animated_empty(f"Thing{number}")
        target.delta_location.x = number
        animate(rig, "location", (number, 2, 3))
        animate_bone(rig.pose.bones["upper"])
        rig.pose.bones["lower"].constraints.new("DAMPED_TRACK").target = target
        wanted += [Quantity("WORLD", rig.name), Quantity("POSE", rig.name, "lower"), Quantity("WORLD", target.name)]
    return wanted


def test_a_few_objects_go_together(scene):
    wanted = crowd(3)
    assert batches(wanted, dict(bpy.data.objects.items())) == [wanted]
    assert batches([], {}) == []


def test_many_go_in_companies_none_of_which_is_torn_apart(scene):
    wanted = crowd(40)
    found = batches(wanted, dict(bpy.data.objects.items()))
    assert sorted(map(repr, (quantity for batch in found for quantity in batch))) == sorted(map(repr, wanted))
    names = [{quantity.object.removeprefix("Rig").removeprefix("Thing") for quantity in batch} for batch in found]
    assert sum(map(len, names)) == 40
    assert all(len({quantity.object for quantity in batch}) <= FEW_OBJECTS for batch in found)


def test_those_that_hang_from_the_same_object_stay_together(scene):
    wanted = crowd(40)
    leader = add_empty("Leader")
    for number in (0, 17, 39):
        bpy.data.objects[f"Thing{number}"].parent = leader
    together = [
        batch
        for batch in batches(wanted, dict(bpy.data.objects.items()))
        if any(quantity.object == "Rig17" for quantity in batch)
    ]
    assert {"Rig0", "Rig17", "Rig39"} <= {quantity.object for quantity in together[0]}


def test_all_are_where_they_are_in_the_users_scene(scene):
    wanted = crowd(40)
    apart, together = (sample(scene, wanted, FRAMES, evaluation=way) for way in ("PROBES", "SCENE"))
    for quantity in wanted:
        assert np.array_equal(apart[quantity], together[quantity]), quantity


def test_progress_goes_on_from_one_company_to_the_next():
    def work(result):
        yield 0.5
        return result

    steps = [part_of_steps(work(number), number, 2) for number in range(2)]
    assert [next(step) for step in steps] == [0.25, 0.75]
