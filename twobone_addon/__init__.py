"""Two-Bone IK: bake analytic two-bone inverse kinematics to keyframes.

The packages in `core` need NumPy only, so they can be imported and tested without Blender. `registration` lists the modules that
are registered with Blender.
"""
