"""Clear Baked Keys by length: a limb with an animator's key on every frame and channel is baked, and cleared again.

Run: python tests/benchmark/bench_clearing.py [FRAMES ...]

Prints seconds of the processor and the peak of memory above what was held before the clearing, which only Linux tells.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
from rivals import bake_ours
from shots import two_bones

from twobone_addon.interface.stored import properties
from twobone_addon.pipeline.run import run
from twobone_addon.scene.versions import curve_bag
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.tasks import ClearSettings
from twobone_addon.tasks.clear import CLEAR

LENGTHS = (2_753, 10_000, 40_000)


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("frames", nargs="*", type=int, default=LENGTHS)
    properties.register()
    for frames in parser.parse_args().frames:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        shot = two_bones(frames)
        bake_ours(shot, verify=False)
        turn_into_own(shot)
        bake_ours(replace(shot, frames=frames - 1), verify=False)
        Path("/proc/self/clear_refs").write_text("5")
        start, held = time.process_time(), megabytes("VmRSS")
        limb = shot.limbs[0]
        last = {"frame_range": "CUSTOM", "frame_start": 1.0, "frame_end": float(frames - 1)}
        chain = BakeSettings(armature=limb.armature, upper=limb.upper, lower=limb.lower, **last)
        report = run(bpy.context.scene, CLEAR, ClearSettings(chains=(chain,)))
        spent = time.process_time() - start
        print(
            f"{frames} frames: {spent:.2f} s, {megabytes('VmHWM') - held:.0f} MB, {report.keys_removed} keys removed", flush=True
        )


def turn_into_own(shot):
    """Make the baked keys an animator's own."""
    for fcurve in curve_bag(bpy.data.objects[shot.limbs[0].armature]).fcurves:
        fcurve.keyframe_points.foreach_set("type", np.zeros(len(fcurve.keyframe_points), dtype=np.int32))
        fcurve.update()


def megabytes(name):
    status = Path("/proc/self/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith(name)).split()[1]) / 1024


if __name__ == "__main__":
    main()
    os._exit(0)
