"""A limb that Blender's own evaluation poses: what it is made of is decided by the code that bakes, and compared over the range.

The nodes add only the closed form. All else must be constant where the helper stands, over the frames that a bake would key; what
is not cannot be exact, and is refused with the setting that asks for it: Bake is the remedy.
"""

from __future__ import annotations

from ast import literal_eval
from contextlib import suppress
from typing import Any
from zlib import crc32

import numpy as np

from ..core.array_types import Array, SampledFrames
from ..core.arrays import across, every_row, magnitude
from ..core.rig.channels import to_eulers
from ..core.rig.inverse import is_uneven
from ..core.rig.limb_normals import CLEAR_SINE, is_bent_at_rest, limb_bends
from ..core.rig.plane_frames import letter_axes
from ..core.rig.posing import hinge_axis, laid_links, scale_carriers
from ..core.rig.rotations import carried, determinant, nearest_rotation, unit
from ..core.solver.softness import far_zone, near_zone
from ..errors import DependencyError, SettingError, TwoBoneError
from ..records import replace
from ..said import Sentence
from ..scene.blender_types import Object, Scene
from ..scene.bones import rest_numbers, rotation_channel, rotation_path
from ..scene.keys.reading import is_animated, moving_curves
from ..scene.keys.tables import HANDLES, KeyTable, read_keys
from ..scene.live.limb_nodes import Angles, Followed, LimbNodes, PosedLimb, Source, build_limb
from ..scene.live.limbs import LiveLimb, drop_limb, live_limbs, write_limb
from ..scene.lookup import find_armature, object_named, rotation_values
from ..scene.rig.constraints import is_constrained
from ..settings import LIMB_PLANES, OPTION, BakeSettings
from .gate import refuse_posed, who_poses
from .motion.plan_motion import AimedMotion, followed_motion, motion_quantities
from .motion.sampling import sample
from .plan.chain_plan import ChainPlan
from .plan.found_chain import chain_names, find_chain
from .plan.planning import plan_bake
from .pose.chain_task import chain_task, target_offset
from .pose.limb_plane import Unaimed
from .pose.solving import kept_end_turn, unaimed_limbs

MOST_FRAMES = 24
"""Frames of the range at which a limb is looked at: what makes it uneven is keyed over more than a few frames."""

CONSTANT = 2e-5
"""Greatest change of what must be constant, relative to the limb: Blender itself scales some rest matrices by half of that."""

EVEN = 1e-4
"""Greatest difference of scale along axes that counts as none: a constraint that mixes almost opposite rotations makes a third of
it."""

ROUNDED = 3e-7
"""Greatest difference of a rest matrix from a rotation that single precision leaves in any case."""

LINKS = 2

UNEVEN = "bones of the limb that are keyed in location or scale"


def go_live(scene: Scene, settings: BakeSettings) -> Object:
    """Let Blender pose a limb from now on, as a bake would; returns the helper object. Raises what `live_limb` does."""
    return build_limb(live_limb(scene, settings))


def drop_live(settings: Any, active: Object | None) -> None:
    """Take away what poses the live limbs of some settings' chains; one that cannot be found is left to the task."""
    limbs_of: dict[Object, list[LiveLimb]] = {}
    for chain in settings.chains:
        with suppress(TwoBoneError):
            armature = find_armature(chain.armature, active)
            if armature not in limbs_of:
                limbs_of[armature] = live_limbs(armature)
            if not limbs_of[armature]:
                continue
            names = chain_names(armature, chain)
            for limb in limbs_of[armature]:
                if {names.upper, names.lower} & set(limb.bones):
                    drop_limb(limb)


def live_limb(scene: Scene, settings: BakeSettings) -> LimbNodes:
    """What a limb with these settings is made of; raises a `TwoBoneError` where a bake would, or where nodes are not exact."""
    plan = plan_bake(scene, settings, None)
    armature = object_named(plan.names.armature)
    refuse_posed(who_poses(scene, armature, plan.names, plan.within))
    _refuse_inexact(plan, armature)
    seen = plan.frames[np.unique(np.linspace(0, len(plan.frames) - 1, MOST_FRAMES).round().astype(int))]
    plan = replace(plan, frames=SampledFrames(seen), report_rows=np.arange(len(seen)))
    motion = followed_motion(plan, sample(scene, motion_quantities(plan), plan.frames))
    (unaimed,) = unaimed_limbs([plan], [motion])
    return _LimbConstants(armature, unaimed, motion).nodes()


def write_numbers(armature: Object, settings: BakeSettings, limb: LiveLimb) -> bool:
    """Write to a live limb's nodes what is only a number; `False`, with nothing done, where more has changed."""
    try:
        before = literal_eval(limb.reference)
    except (ValueError, SyntaxError):
        return False
    bones = tuple(bone.name for bone in find_chain(settings, armature).rest.bones)
    now = fingerprint(armature, settings, bones)
    if limb.tree is None or now[1:] != before[1:]:
        return False
    changed = {name for name, _ in set(now[0]) ^ set(before[0])}
    # With the whole influence the limb's own pose is not asked for, and may be anything.
    is_whole = 1.0 in {dict(values).get("influence") for values in (before[0], now[0])}
    if not changed <= NUMBERS or ("influence" in changed and is_whole):
        return False
    if not changed:
        return True
    lengths = np.array([limb.number(f"{link} Length") for link in ("Upper", "Lower")])
    influence = settings.influence if "influence" in changed else None
    write_limb(limb, {**_plain_inputs(settings), **_zone_inputs(settings, lengths)}, influence, now)
    return True


NUMBERS = {"influence", "pole_angle", "softness", "softness_near", "stretch_start", "stretch_max", "compress_min"}
"""Settings of which only a number in the nodes or the constraints depends."""


def fingerprint(armature: Object, settings: BakeSettings, bones: tuple[str, ...]) -> tuple[Any, ...]:
    """Plain values of all that a limb's numbers are made from; where they have changed since, it is to be rebuilt.

    Rotations that a person keys are read by the nodes, but to which side they bend the limb is not; those that show through a
    partial influence are read by Blender.
    """
    pose = armature.pose.bones
    known = [pose[name] for name in bones if name in pose]
    # Of what is keyed the keys count, not what it is just now.
    curves = {path.rpartition(".")[2]: moving_curves(armature, path) for path in _animated_paths(armature, settings)}
    without = WITHOUT_EFFECT | {name for name, found in curves.items() if found}
    values = tuple((name, getattr(settings, name)) for name in BakeSettings.__dataclass_fields__ if name not in without)
    channels = tuple(
        (*bone.location, *bone.scale, *(() if is_animated(armature, _rotation_path(bone)) else rotation_values(bone)))
        for bone in known
    )
    keyed = tuple(
        (name, *(point for curve in found for key in curve.keyframe_points for point in key.co))
        for name, found in curves.items()
        if found
    )
    keyed += tuple((path, _sum_of_keys(armature, path)) for path in map(_rotation_path, known) if is_animated(armature, path))
    return values, tuple(map(rest_numbers, known)), channels, keyed


def _sum_of_keys(armature: Object, path: str) -> int:
    """A number that changes with the keys of a path."""
    total = 0
    for curve in moving_curves(armature, path):
        points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
        curve.keyframe_points.foreach_get("co", points)
        total = crc32(points.tobytes(), total)
    return total


WITHOUT_EFFECT = {
    *("frame_range", "frame_start", "frame_end", "keys", "keep_keys", "step", "tolerance", "interpolation", "loop", "key_before"),
    *("key_after", "destination", "verify", "evaluation", "asked", "stored", "armature", "limits"),
    *("automatic", "label"),
}
"""Settings of a bake that change nothing of what a limb is made of."""

NOT_EXACT = 'Live cannot show {what} of "{upper}" to "{lower}" exactly. Use Bake for this limb.'


def _not_exact(plan: ChainPlan, what: str, **values: Any) -> SettingError:
    names = {"upper": plan.names.upper, "lower": plan.names.lower}
    return SettingError(NOT_EXACT, what=Sentence(what, values), **names)


def _rotation_path(bone: Any) -> str:
    return f"{bone.path_from_id()}.{rotation_channel(bone.rotation_mode)}"


def _animated_paths(armature: Object, settings: BakeSettings) -> list[str]:
    index = armature.twobone.chains.find(settings.stored) if settings.stored else -1
    return [f"twobone.chains[{index}].{name}" for name in ("influence", "bend")] if index >= 0 else []


def _refuse_inexact(plan: ChainPlan, armature: Object) -> None:
    """Raise a `TwoBoneError` for settings whose result depends on the frames around, or is not constant."""
    settings, turned = plan.settings, [plan.rest.bones[index].name for index in plan.rest.turning]
    is_straight = settings.plane in {"REST", "POLE"} and not is_bent_at_rest(plan.rest)
    from_pose = settings.plane == "POLE" and settings.reference == "POSE"
    end = armature.pose.bones[plan.end_bone.name] if plan.end_bone is not None else None
    asked = {
        "Joints All": len(turned) != LINKS,
        "Joint Limits": settings.use_limits,
        "Minimum Distance and Maximum Distance": settings.min_distance or settings.max_distance,
        "Depth Flatten": settings.depth == "FLATTEN" and settings.plane not in LIMB_PLANES,
        "Bend Keep": settings.bend == "KEEP" and settings.plane != "POSE",
        "Plane Rest or Pole for bones that are straight at rest": is_straight,
        "Bend Negative with Reference Current Pose": from_pose and settings.bend != "POSITIVE",
        "a limb with constraints of its own": plan.constrained or (end is not None and is_constrained(end)),
    }
    for what, is_asked in asked.items():
        if is_asked:
            raise _not_exact(plan, what)
    if _depends_on_keys(plan) and any(keyed.baked for keyed in plan.keyed.values()):
        raise DependencyError(
            'Bones "{upper}" and "{lower}" have baked keys, from which Live would start. Clear Baked Keys first, or bake again.',
            upper=plan.names.upper,
            lower=plan.names.lower,
        )
    for name, quantity in plan.animated_settings.items():
        curves = moving_curves(armature, quantity.path)
        if len(curves) != 1 or curves[0].driver is not None or curves[0].modifiers or not curves[0].keyframe_points:
            raise _not_exact(plan, "the animation of {setting}", setting=Sentence(OPTION[name].label))


def _depends_on_keys(plan: ChainPlan) -> bool:
    return plan.settings.plane == "POSE" or plan.settings.reference == "POSE" or _is_partial(plan)


def _is_partial(plan: ChainPlan) -> bool:
    """Whether the limb's own pose is seen in part."""
    return plan.settings.influence < 1.0 or "influence" in plan.animated_settings


def _is_skewed(worlds: Array) -> bool:
    """Whether any of the matrices `(F, 4, 4)` mirrors, or scales unevenly."""
    sizes = np.linalg.svd(worlds[:, :3, :3], compute_uv=False)
    return bool((sizes[:, 0] > sizes[:, 2] * (1.0 + EVEN)).any() or (np.linalg.det(worlds[:, :3, :3]) < 0.0).any())


class _LimbConstants:
    """The numbers of a limb in the space of its helper, at some frames of the range: constant, or the limb is refused."""

    def __init__(self, armature: Object, unaimed: Unaimed, motion: AimedMotion) -> None:
        plan, reference = unaimed.plan, unaimed.reference
        self.armature, self.plan, self.unaimed, self.motion, self.rest = armature, plan, unaimed, motion, plan.rest
        self.count = len(plan.frames)
        self.offset = target_offset(plan, motion)
        self.task, _ = chain_task(unaimed, motion, self.offset)
        parent = motion.chain.parent_pose
        self.parent, base = (None if parent is None else self._rows(parent)), self._rows(np.eye(4)[None])
        # A bone that inherits no rotation is rigid in the armature's space, and only its root joint moves with its parent.
        self.is_in_armature = self.parent is None or not self.rest.upper.inherit_rotation
        if self.parent is not None and not self.is_in_armature:
            base = self.parent.copy()
        self._refuse_uneven(base)
        inherited = [self._rows(matrix) for matrix in reference.inherited]
        standing = np.linalg.solve(base[:, :3, :3], inherited[0])
        standing /= np.cbrt(determinant(standing))[:, None, None]
        self.standing = self._constant(standing, 1.0, UNEVEN)
        base[:, :3, :3] @= self.standing
        self.axes, self.turn = base[:, :3, :3], nearest_rotation(base[:, :3, :3])
        metric = np.swapaxes(self.turn, -1, -2) @ self.axes
        self.metric = self._constant(metric / np.cbrt(determinant(metric))[:, None, None], 1.0, UNEVEN)
        self.joints = _carried_points(np.linalg.inv(base), self._rows(reference.joints))
        self.length = float(np.mean(magnitude(np.diff(self.joints, axis=1)).sum(axis=1)))
        self.rotations = [self._rows(np.reshape(rotation, (-1, 3, 3))) for rotation in reference.rotations]
        self.lower = nearest_rotation(np.linalg.solve(self.axes, inherited[1]))
        self.between = np.swapaxes(self.rotations[0], -1, -2) @ self.lower
        self.steps = np.diff(self.joints, axis=1)
        upper, lower = self.rest.turning
        bone = self.rest.bones[lower]
        is_near = np.abs(self.metric - np.eye(3)).max() <= ROUNDED or lower != upper + 1
        is_enough = bone.inherit_scale == "FULL" and plan.settings.plane in LIMB_PLANES and plan.settings.reach == "CLAMP"
        self.inherits = "" if is_near or is_enough else bone.inherit_scale
        if self.inherits:
            self._set_lower_apart(inherited[1])
        self.posed = self._posed_limb()

    def _set_lower_apart(self, inherited: Array) -> None:
        """Give the lower link as if it turned with the upper bone: the nodes add how it inherits what is not quite a rotation."""
        turn, link = self.rotations[0], self._rows(self.unaimed.reference.links[1])
        self.between = self._rows(nearest_rotation(self.rest.bones[self.rest.turning[1]].offset[None, :3, :3]))
        self.lower = turn @ self.between
        size = np.cbrt(determinant(inherited) / determinant(self.axes))
        if self.inherits == "ALIGNED":
            size /= magnitude((self.metric @ turn)[..., 1])
        self.steps[:, 1] = carried(self.lower, link) * size[:, None]

    def _rows(self, values: Array) -> Array:
        return np.array(every_row(values, self.count))

    def _refuse_uneven(self, base: Array) -> None:
        sizes = np.linalg.svd(base[:, :3, :3], compute_uv=False)
        if is_uneven(self.unaimed.reference).any() or (sizes[:, 0] > sizes[:, 2] * (1.0 + EVEN)).any():
            raise _not_exact(self.plan, "uneven scale of the limb's bones or of those above")
        if (np.linalg.det(base[:, :3, :3]) < 0.0).any():
            raise _not_exact(self.plan, "mirrored bones above the limb")

    def _constant(self, values: Array, size: float, what: str) -> Array:
        """The one row of values that are the same at all frames; raises `SettingError` if they are not."""
        values = self._rows(values)
        if np.ptp(values, axis=0).max() > CONSTANT * max(size, np.finfo(float).tiny):
            raise _not_exact(self.plan, what)
        return values.mean(axis=0)

    def _rotation(self, matrices: Array, what: str = UNEVEN) -> Angles:
        first, second, third = to_eulers(nearest_rotation(self._constant(matrices, 1.0, what)), "XYZ").tolist()
        return first, second, third

    def _vector(self, values: Array, what: str = UNEVEN) -> Any:
        return tuple(self._constant(values, self.length, what).tolist())

    def _posed_limb(self) -> PosedLimb | None:
        """What the nodes read of the limb's own rotations, where these move and anything but the influence follows from them."""
        settings = self.plan.settings
        moves_normal, moves_reference = settings.plane == "POSE", settings.reference == "POSE"
        bones = [self.rest.bones[index] for index in self.rest.turning]
        is_moving = any(is_animated(self.armature, rotation_path(bone)) for bone in bones)
        if not is_moving or not (moves_normal or moves_reference):
            return None
        is_opposite = settings.plane in LIMB_PLANES and self._is_bent_to_the_other_side()
        steps = magnitude(self.steps)
        links = [
            np.swapaxes(rotation, -1, -2) @ unit(self._rows(link))[..., None] * steps[:, number, None, None]
            for number, (rotation, link) in enumerate(zip(self.rotations, self.unaimed.reference.links, strict=True))
        ]
        return PosedLimb(
            between=self._rotation(self.between),
            links=tuple(self._vector(link[..., 0]) for link in links),
            is_opposite=is_opposite,
            moves_normal=moves_normal,
            moves_reference=moves_reference,
        )

    def _is_bent_to_the_other_side(self) -> bool:
        """Whether the limb's own keys bend it clockwise about its normal; raises `SettingError` if not at all frames alike."""
        area, sines = limb_bends(self._rows(self.unaimed.joints))
        if (sines <= CLEAR_SINE).any():
            frame = float(self.plan.frames[np.argmin(sines)])
            raise _not_exact(self.plan, "a limb whose own keys make it straight (frame {frame:g})", frame=frame)
        own = self.task.laying.own
        signs = np.sign(np.sum(self._rows(self.unaimed.bends[0] if own is None else own[..., 2]) * area, axis=-1))
        if np.ptp(signs):
            raise _not_exact(self.plan, "a limb whose own keys bend it to both sides")
        return bool(signs[0] < 0.0)

    def nodes(self) -> LimbNodes:
        """The limb; raises `SettingError` where anything is not constant."""
        plan, settings = self.plan, self.plan.settings
        parent = self.armature.pose.bones[plan.names.upper].parent
        above = parent.name if parent is not None else ""
        still = settings.plane not in LIMB_PLANES
        sides = self._sides()
        stretched = scale_carriers(self.rest)
        turn = plan.source.turn if plan.source is not None else np.eye(3)
        kept = kept_end_turn(plan, self.motion) if settings.end_rotation == "TARGET" and plan.end_bone is not None else np.eye(3)
        upper, lower = self.rest.turning
        return LimbNodes(
            armature=plan.names.armature,
            chain=settings.stored,
            upper=self.rest.bones[upper].name,
            lower=self.rest.bones[lower].name,
            end=plan.end_bone.name if plan.end_bone is not None else "",
            above="" if self.is_in_armature else above,
            standing=tuple(map(tuple, self.standing.tolist())),
            metric=tuple(map(tuple, self.metric.tolist())),
            inherits=self.inherits,
            plane="STILL" if still else "POLE" if settings.plane == "POLE" else "NORMAL",
            reach=settings.reach,
            inputs={**self._inputs(still=still), "Side": sides[0]},
            target=Followed(settings.target, settings.target_bone),
            target_offset=tuple((turn @ self.offset).tolist()),
            source=self._source(),
            root_bone=above if self.is_in_armature else "",
            pole=Followed(settings.pole, settings.pole_bone) if settings.plane == "POLE" else None,
            axes=self._axes() if still else None,
            axes_space="OBJECT" if settings.plane == "OBJECT" else settings.plane_space,
            plane_object=settings.plane_object if settings.plane == "OBJECT" else "",
            end_rotation=settings.end_rotation if plan.end_bone is not None else "NONE",
            end_carried=self._end_carried(),
            end_kept=self._end_kept(),
            end_turn=self._rotation((turn @ kept)[None]),
            influence=settings.influence,
            influence_keys=self._keys("influence"),
            side_keys=sides[1],
            scales=(self._own_scale(upper), self._own_scale(lower)),
            scales_lower=lower in stretched,
            posed=self.posed,
            reference=fingerprint(self.armature, settings, tuple(bone.name for bone in self.rest.bones)),
        )

    def _source(self) -> Source | None:
        source, settings = self.plan.source, self.plan.settings
        if source is None:
            return None
        heading = float(np.arctan2(source.heading[1, 0], source.heading[0, 0]))
        return Source(Followed(settings.target, settings.target_root_bone), source.scale, heading)

    def _own_scale(self, index: int) -> tuple[float, float, float]:
        scale = self._rows(self.motion.chain.channels[index].scale)
        x, y, z = self._constant(scale, 1.0, "a limb whose scale is keyed").tolist()
        return x, y, z

    def _axes(self) -> Any:
        letters = "XY" if self.plan.settings.plane == "OBJECT" else self.plan.settings.plane
        return tuple(tuple(axis) for axis in letter_axes(letters).T.tolist())

    def _keys(self, name: str) -> KeyTable | None:
        """The keys of a setting of the stored chain; `None` where it is not keyed."""
        if name not in self.plan.animated_settings:
            return None
        (curve,) = moving_curves(self.armature, self.plan.animated_settings[name].path)
        return read_keys(curve)

    def _sides(self) -> tuple[float, KeyTable | None]:
        """The side of the bend, +1 or -1, and its keys: that which is asked for, or the other where the pose has it so."""
        settings, bend = self.plan.settings, self._rows(self.task.bend)
        asked = self.motion.bend
        asked = np.full(self.count, -1.0 if settings.bend == "NEGATIVE" else 1.0) if asked is None else self._rows(asked)
        of_pose = bend * np.where(asked < 0.0, -1.0, 1.0)
        if np.ptp(of_pose):
            raise _not_exact(self.plan, "a straight limb, whose side depends on the frames around")
        table = self._keys("bend")
        if table is not None:
            for name in ("co", *HANDLES):
                table[name][:, 1] = np.where(table[name][:, 1] < 0.0, -1.0, 1.0) * of_pose[0]
            table["interpolation"][:] = 0
        return float(bend[0]), table

    def _inputs(self, *, still: bool) -> dict[str, Any]:
        """Numbers for the inputs of the shared tree, but the side."""
        settings, reference, task = self.plan.settings, self.unaimed.reference, self.task
        root, steps = self._root(), self.steps
        lengths = np.stack([self._constant(magnitude(step), self.length, UNEVEN) for step in np.moveaxis(steps, 1, 0)])
        inputs: dict[str, Any] = {
            "Root": root,
            **_plain_inputs(settings),
        }
        reads_reference = self.posed is not None and self.posed.moves_reference
        if still:
            after = [self.rotations[0], self.lower @ self.rotations[1]]
            if not reads_reference:
                inputs |= {name: self._vector(steps[:, row]) for row, name in enumerate(("Link Upper", "Link Lower"))}
            if settings.reach != "CLAMP":
                normals = hinge_axis(self.axes, self._rows(task.frames[..., 2]))[:, None]
                flat = magnitude(across(steps, np.broadcast_to(normals, steps.shape)))
                lengths = self._constant(flat, self.length, "Reach Soften or Stretch in a plane that turns")
        else:
            laid = laid_links(reference, task.frames, task.laying)
            after = [self._rows(link.back) @ rotation for link, rotation in zip(laid, self.rotations, strict=True)]
            if settings.plane == "POSE" and self.posed is None:
                inputs["Normal"] = self._direction(self.unaimed.bends[0])
            elif settings.plane == "REST":
                inputs["Normal"] = self._direction(self.unaimed.normal_at_rest)
        if not reads_reference:
            inputs |= {
                "Upper After": self._rotation(after[0]),
                "Lower Before": self._rotation(np.swapaxes(after[0] @ self.between, -1, -2)),
                "Lower After": self._rotation(after[1]),
            }
        inputs |= _zone_inputs(settings, lengths)
        return inputs | {"Upper Length": float(lengths[0]), "Lower Length": float(lengths[1])}

    def _root(self) -> Any:
        """The root joint in the helper's space, or in that of the bone that carries it."""
        if not self.is_in_armature or self.parent is None:
            return self._vector(self.joints[:, 0])
        joints = self._rows(self.unaimed.reference.joints)
        return self._vector(_carried_points(np.linalg.inv(self.parent), joints[:, :1])[:, 0])

    def _direction(self, normals: Array) -> Any:
        turned = (np.swapaxes(self.turn, -1, -2) @ self._rows(normals)[..., None])[..., 0]
        return tuple(self._constant(turned, 1.0, "a limb whose plane turns with its own keys").tolist())

    def _end_carried(self) -> tuple[Angles, Angles] | None:
        """What the lower bone inherits from the upper one, and the end bone from the lower one, where it is that one's child."""
        end = self.plan.end_bone
        if end is None or self.plan.end_parent != self.rest.turning[1] or not end.inherit_rotation:
            return None
        return self._rotation(self.between), self._rotation(end.offset[None, :3, :3])

    def _end_kept(self) -> Angles:
        plan, motion = self.plan, self.motion
        if plan.end_bone is None or motion.end_pose is None:
            return 0.0, 0.0, 0.0
        settings = plan.settings
        if settings.end_rotation == "TARGET":
            if any(_is_skewed(world) for world in (motion.target_world, motion.world_from_armature)):
                raise _not_exact(plan, "End Rotation Copy Target with mirrored or unevenly scaled objects")
            if settings.influence == 1.0 and "influence" not in plan.animated_settings:
                return 0.0, 0.0, 0.0
        own = np.swapaxes(self.turn, -1, -2) @ nearest_rotation(self._rows(motion.end_pose)[:, :3, :3])
        return self._rotation(own, "End Rotation for a bone with keys of its own")


def _plain_inputs(settings: BakeSettings) -> dict[str, float]:
    """Settings that the nodes take as they are."""
    return {"Pole Angle": settings.pole_angle, "Stretch Max": settings.stretch_max, "Compress Min": settings.compress_min}


def _zone_inputs(settings: BakeSettings, lengths: Array) -> dict[str, float]:
    """Where links `(2,)` of these lengths ease into straight and into folded."""
    softness = max(settings.softness, 1.0 - settings.stretch_start if settings.reach == "STRETCH" else 0.0)
    inputs: dict[str, float] = {}
    for name, zone in {"Far": far_zone(lengths, softness), "Near": near_zone(lengths, settings.softness_near)}.items():
        inputs |= {f"{name} Start": float(zone.start), f"{name} Turn": float(zone.turn), f"{name} Travel": float(zone.travel)}
    return inputs


def _carried_points(matrices: Array, places: Array) -> Array:
    """Points `(F, n, 3)` transformed by `matrices` `(F, 4, 4)`."""
    return np.einsum("fij,fnj->fni", matrices[:, :3, :3], places) + matrices[:, None, :3, 3]
