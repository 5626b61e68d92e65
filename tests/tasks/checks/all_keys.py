"""What a person sees of all keys."""

from tests.tasks.checks.targets import curves_of


def all_keys(armature):
    """Everything that a person sees of the keys of each curve of the bones and of the object."""
    return {
        (curve.data_path, curve.array_index): [
            (*key.co, *key.handle_left, *key.handle_right, key.type, key.interpolation, key.handle_left_type)
            for key in curve.keyframe_points
        ]
        for curve in curves_of(armature)
        if not curve.data_path.startswith("twobone")
    }
