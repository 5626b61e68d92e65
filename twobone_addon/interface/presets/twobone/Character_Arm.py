import bpy

chain = bpy.types.TWOBONE_PT_presets.active_chain()

chain.plane = "POSE"
chain.reference = "POSE"
chain.bend = "POSITIVE"
chain.depth = "KEEP"
chain.joints = "TWO"
chain.end_rotation = "NONE"
chain.target_offset = "NONE"
chain.reach = "SOFTEN"
chain.softness = 0.02
chain.softness_near = 0.0
chain.keys = "FRAMES"
chain.step = 1.0
chain.interpolation = "LINEAR"
chain.key_before = False
chain.key_after = False
