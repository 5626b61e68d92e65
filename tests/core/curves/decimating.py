"""Blender's own key reducer, `graph.decimate` by error, on the same motion; needs bpy."""

import bpy
import numpy as np

from tests.core.curves.blender_curves import read_keys
from twobone_addon.core.curves.bezier import evaluate

SEARCH_STEPS = 12


def decimated_keys(values, times, drift, allowed):
    """Fewest keys (all curves together) to which Blender decimates `values : (F, K)`, keyed on frames 1, 2, ..., while
    the tip drifts at most `allowed` at `times`. Its error margin is searched for by halving.

    The first and last frame do not count: there Blender's automatic handles are level, which no margin mends.
    """
    inside = np.flatnonzero((times > 2) & (times < len(values) - 1))
    fewest = values.size
    low, high = np.log(1e-6), np.log(1.0)
    for _ in range(SEARCH_STEPS):
        middle = 0.5 * (low + high)
        curves = _decimated(values, np.exp(middle))
        shown = np.stack([evaluate(keys, times[inside]) for keys in curves], axis=-1)
        if drift(shown, inside).max() <= allowed:
            low = middle
            fewest = min(fewest, sum(len(keys.frames) for keys in curves))
        else:
            high = middle
    return fewest


def _decimated(values, margin):
    owner = bpy.data.objects.new("Decimated", None)
    bpy.context.scene.collection.objects.link(owner)
    window = bpy.context.window_manager.windows[0]
    area = window.screen.areas[0]
    kind = area.type
    area.type = "GRAPH_EDITOR"
    try:
        _key(owner, values)
        region = next(region for region in area.regions if region.type == "WINDOW")
        context = {"window": window, "area": area, "region": region, "active_object": owner, "object": owner}
        with bpy.context.temp_override(**context, selected_objects=[owner]):
            area.spaces.active.dopesheet.show_only_selected = False
            bpy.ops.graph.decimate(mode="ERROR", remove_error_margin=margin)
        return [read_keys(fcurve) for fcurve in _fcurves(owner)]
    finally:
        area.type = kind
        action = owner.animation_data.action
        bpy.data.objects.remove(owner)
        bpy.data.actions.remove(action)


def _key(owner, values):
    for index in range(values.shape[1]):
        owner[f"channel {index}"] = 0.0
        owner.keyframe_insert(f'["channel {index}"]', frame=1)
    for fcurve, channel in zip(_fcurves(owner), values.T, strict=True):
        points = fcurve.keyframe_points
        points.clear()
        points.add(len(channel))
        frames = np.arange(1, len(channel) + 1)
        points.foreach_set("co", np.stack([frames, channel], axis=-1).astype(np.float32).ravel())
        fcurve.update()
        fcurve.select = True


def _fcurves(owner):
    action = owner.animation_data.action
    if not hasattr(action, "layers"):
        return list(action.fcurves)
    return list(action.layers[0].strips[0].channelbag(owner.animation_data.action_slot).fcurves)
