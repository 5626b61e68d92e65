import bpy

presets = bpy.types.TWOBONE_PT_presets
chain = presets.active_chain()

presets.fit_letters(chain)
chain.reference = "REST"
chain.depth = "KEEP"
chain.joints = "TWO"
chain.end_rotation = "NONE"
chain.target_offset = "NONE"
chain.reach = "CLAMP"
chain.softness = 0.0
chain.softness_near = 0.0
chain.keys = "FRAMES"
chain.step = 1.0
chain.interpolation = "LINEAR"
chain.key_before = False
chain.key_after = False
