"""The redo panel runs an operator on a scene that Blender has evaluated nothing of since it went back a step."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.interface.baking.playing import playing
from tests.interface.recording import sidebar
from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon.interface.operators.of_tasks import OPERATORS
from twobone_addon.interface.running.progress import ShowsProgress
from twobone_addon.scene.keys.contact_keys import keyed_states

LYING = Matrix.Rotation(math.radians(90.0), 4, "X")
"""As importers make them of files in which Y is up: bones that lie, on an object that is turned up."""


@pytest.mark.parametrize("operator", [OPERATORS["find_contacts"], OPERATORS["plant"]], ids=lambda operator: operator.__name__)
def test_heels_and_soles_are_those_of_the_armature_as_it_stands_in_the_scene(empty_file, operator):
    expected, found = (contacts_of(operator, is_lying=is_lying) for is_lying in (False, True))
    assert all(any(states) for states in expected.values())
    assert found == expected


def contacts_of(operator, *, is_lying):
    """What the operator keys with nothing evaluated since the armature was turned; the same walk in the world."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature, _ = build_walker(Walk(frames=49, step_time=1.0))
    if is_lying:
        armature.data.transform(LYING)
        bpy.context.view_layer.update()
        armature.matrix_basis = LYING.inverted() @ armature.matrix_basis
        assert armature.matrix_world == Matrix()
    acting = playing(operator)
    assert ShowsProgress.execute(acting, sidebar(scene=bpy.context.scene)) == {"FINISHED"}
    return {chain.name: keyed_states(armature, chain, np.arange(1.0, 50.0)).tolist() for chain in armature.twobone.chains}
