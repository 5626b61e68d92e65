"""Two-Bone IK: bake analytic two-bone inverse kinematics to keyframes.

The pure packages (`solver`, `rig`, `curves`) need NumPy only, so they can be imported
and tested without Blender. What Blender registers is listed in `registration`.
"""
