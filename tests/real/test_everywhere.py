"""Every limb of every rig at hand, with its own motion, in every plane and destination."""

from dataclasses import asdict

import bpy
import pytest

from tests.real.everywhere import DESTINATIONS, PLANES, bake_everywhere
from tests.real.record import record
from tests.real.rigs import LIMBS, open_rig

FRAMES = 8
"""Of each motion: its beginning is as good as any other part."""


@pytest.mark.parametrize("file", sorted({real.file for real in LIMBS}))
def test_every_limb_is_on_target_in_every_plane_and_destination(empty_file, data_folder, file):
    measured = []
    for number, real in enumerate(real for real in LIMBS if real.file == file):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, limb = open_rig(data_folder, real)
        frames = (real.frames[0], real.frames[0] + FRAMES - 1)
        measured += [asdict(each) for each in bake_everywhere(armature, limb, frames, number)]
    assert {each["plane"] for each in measured} == set(PLANES)
    assert {each["destination"] for each in measured} == set(DESTINATIONS)
    record(file, measured)
