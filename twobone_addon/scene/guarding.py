"""What keeps keys from being written, found before anything is: one sentence each."""

from __future__ import annotations

from ..errors import WriteError
from .blender_types import FCurve, Object
from .versions import curve_bag


def refuse_unwritable(armature: Object, paths: list[str]) -> None:
    """Raise `WriteError` where the armature's animation, or a curve at one of the data paths, cannot take keys."""
    if not armature.is_editable:
        raise WriteError(
            f'Armature "{armature.name}" is linked from another file. Make it local or override it first.'
        )
    data = armature.animation_data
    if data is not None:
        if data.use_tweak_mode:
            raise WriteError(
                f'Armature "{armature.name}" is in NLA tweak mode. Leave tweak mode (Tab in the NLA editor) first.'
            )
        if data.action is not None and not data.action.is_editable:
            raise WriteError(
                f'Action "{data.action.name}" is linked from another file. Assign a local action to "{armature.name}".'
            )
        for fcurve in data.drivers:
            if fcurve.data_path in paths:
                raise WriteError(
                    f"Channel {fcurve.data_path}[{fcurve.array_index}] is driven, so keys would have no effect. "
                    "Remove the driver first."
                )
    bag = curve_bag(armature)
    for fcurve in bag.fcurves if bag else ():
        if fcurve.data_path in paths:
            _refuse_curve(fcurve)


def _refuse_curve(fcurve: FCurve) -> None:
    name = f"{fcurve.data_path}[{fcurve.array_index}]"
    if fcurve.lock or (fcurve.group is not None and fcurve.group.lock):
        raise WriteError(f"Curve {name} is locked. Unlock it in the Graph Editor first.")
    if fcurve.sampled_points:
        raise WriteError(f"Curve {name} holds samples instead of keys. Convert it to keys first.")
