import bpy

chain = bpy.types.TWOBONE_PT_presets.active_chain()

chain.plane = "REST"
chain.bend = "POSITIVE"
chain.reference = "REST"
chain.depth = "KEEP"
chain.joints = "TWO"
chain.end_rotation = "NONE"
chain.target_offset = "NONE"
chain.reach = "CLAMP"
chain.softness = 0.0
chain.softness_near = 0.0
chain.keys = "REDUCE"
chain.step = 1.0
chain.tolerance = 0.001
chain.key_before = False
chain.key_after = False
