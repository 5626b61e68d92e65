"""Turn settings into a plan: bones, frames, what to sample. Everything that can be refused is refused here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...core.array_types import KeyFrames
from ...core.rig.bones import RestChain
from ...core.rig.posing import bone_that_stops_stretch, scale_carriers
from ...errors import ChainError, DependencyError, ObjectError
from ...records import replace
from ...said import Sentence, note
from ...scene.blender_types import Channel, Object, PoseBone, Scene
from ...scene.bones import ChainNames, read_rest_bone, scale_path
from ...scene.graph.rig_graph import Dependencies, Node, dependencies
from ...scene.keys.guarding import refuse_stretched_time, refuse_unwritable
from ...scene.keys.ledger import baked_channels, stretched_paths
from ...scene.keys.reading import AT_REST, is_animated, moving_curves, read_keyed, repeats
from ...scene.keys.tables import read_keys
from ...scene.lookup import LOST, find_object, is_in_a_scene, object_named, objects_by_name
from ...scene.rig.constraints import is_acting, is_constrained
from ...scene.rig.rest_reading import carrier_of
from ...scene.sampling.quantities import Quantity
from ...scene.visible.feet_beside import feet_along
from ...settings import BakeSettings
from ...settings.options import without_effect
from .chain_plan import ChainPlan, FootAlong, followed_by, target_node
from .found_chain import FoundChain, end_bone_of, find_chain, refuse_unknown
from .frame_choice import choose_frames
from .planes_of_rig import decided
from .source_limbs import source_limb
from .stored import ANIMATABLE

MOST_CHANNELS = 4
"""Most channels that one property has: those of a quaternion."""


def plan_bake(scene: Scene, settings: BakeSettings, active: Object | None) -> ChainPlan:
    """`plan_before_keys` with the present keys of the chain's channels."""
    return with_own_keyed(plan_before_keys(scene, settings, active))


def plan_before_keys(scene: Scene, settings: BakeSettings, active: Object | None) -> ChainPlan:
    """Find and check everything that a bake with these settings needs, but the present keys of the chain's channels.

    Raises a `TwoBoneError` if something is missing.
    """
    chain = find_chain(settings, active)
    find_object("Target", settings.target, settings.target_bone)
    plan = _plan(scene, settings, chain)
    refuse_unwritable_chain(scene, plan)
    # A chain's pointer keeps an object in the file after it was deleted.
    for role, name, bone in followed_by(plan.settings):
        if not is_in_a_scene(find_object(role, name, bone)):
            raise ObjectError(LOST, role=Sentence(role), object=name)
    return plan


def plan_chain(scene: Scene, settings: BakeSettings, active: Object | None) -> ChainPlan:
    """Find and check what is needed to pose the chain; raises a `TwoBoneError`.

    The chain may have no target, if the caller supplies the tip's goal, and its channels need not be writable.
    """
    return with_own_keyed(_plan(scene, settings, find_chain(settings, active)))


def refuse_unwritable_chain(scene: Scene, plan: ChainPlan, *, is_motion: bool = False) -> None:
    """Raise a `TwoBoneError` if a bake could not write the chain's channels, see `guarding.refuse_unwritable`."""
    refuse_stretched_time(scene)
    armature = object_named(plan.names.armature)
    refuse_unwritable(armature, plan.keyed_paths(), plan.settings.destination, is_motion=is_motion)


def _plan(scene: Scene, settings: BakeSettings, chain: FoundChain) -> ChainPlan:
    armature, names, rest = chain.armature, chain.names, chain.rest
    settings = decided(settings, armature)
    refuse_unknown(scene, settings)
    _refuse_unfit(settings, rest)
    end_bone, end_parent = end_bone_of(chain, settings, target_node(settings))
    parent = armature.pose.bones[names.upper].parent
    followed = followed_by(settings)
    chosen = choose_frames(scene, settings, armature, [bone.name for bone in rest.bones])
    return ChainPlan(
        settings=settings,
        names=names,
        rest=rest,
        frames=chosen.sampled,
        report_rows=chosen.reported,
        kept_frames=chosen.kept,
        reads_scene=_reads_scene(armature, followed, names, rest),
        parent=Quantity("POSE", armature.name, parent.name) if parent else None,
        constrained=tuple(index for index, bone in enumerate(rest.bones) if is_constrained(armature.pose.bones[bone.name])),
        stretched_before=_stretched_before(armature, rest, chosen.keyed),
        end_bone=end_bone,
        end_parent=end_parent,
        along=_feet_along(armature, names, target_node(settings)),
        keyed={},
        repeats=_repeats(armature, settings, rest),
        animated_settings=_animated_settings(armature, settings),
        source=source_limb(scene, settings, armature, rest, end_bone, frames=chosen.sampled),
        notes=(
            *_notes(armature, rest),
            *without_effect(settings, settings.asked).values(),
            *([note("Loop has no effect: there is a single key.")] if settings.loop == "ON" and len(chosen.keyed) == 1 else []),
        ),
    )


def _feet_along(armature: Object, names: ChainNames, target: Node | None) -> tuple[FootAlong, ...]:
    return tuple(
        FootAlong(
            read_rest_bone(foot),
            Quantity("CHANNELS", armature.name, foot.name),
            Quantity("POSE", armature.name, foot.parent.name) if foot.parent else None,
        )
        for foot in feet_along(armature, names, target)
    )


def with_own_keyed(plan: ChainPlan) -> ChainPlan:
    """The plan with the present keys of its chain's channels."""
    return with_keyed(plan, object_named(plan.names.armature), plan.keyed_paths())


def with_keyed(plan: ChainPlan, armature: Object, paths: Iterable[str]) -> ChainPlan:
    """The plan with the present keys of the channels at further data paths."""
    paths = list(paths)
    # Only of Euler angles some channels may stay without keys.
    baked = baked_channels(armature, {path for path in paths if path.endswith("rotation_euler")})
    channels = (Channel(path, index) for path in paths for index in range(MOST_CHANNELS))
    within = plan.within
    keyed = {channel: read_keyed(armature, *channel, *within, baked=channel in baked) for channel in channels}
    return replace(plan, keyed=plan.keyed | keyed)


def _reads_scene(armature: Object, followed: list[tuple[str, str, str]], names: ChainNames, rest: RestChain) -> bool:
    """Check everything the chain follows, and return whether any of it depends on the scene itself."""
    reads_scene = dependencies(objects_by_name(), [(armature.name, carrier_of(armature, names))]).reads_scene
    for role, name, bone in followed:
        thing = find_object(role, name, bone)
        above = dependencies(objects_by_name(), [(thing.name, bone)])
        _refuse_feedback(role, above, names, rest, thing)
        reads_scene = reads_scene or above.reads_scene
    return reads_scene


def _refuse_unfit(settings: BakeSettings, rest: RestChain) -> None:
    """Raise `ChainError` for settings that these bones cannot follow."""
    stops = bone_that_stops_stretch(rest) if settings.reach == "STRETCH" else None
    if stops is not None:
        raise ChainError(
            'Bone "{bone}" between the joints does not inherit scale, so the chain cannot stretch evenly. Set its Inherit Scale '
            "to Full, or choose another reach.",
            bone=stops.name,
        )
    # Limits for a different number of joints were made for other bones.
    if settings.use_limits and settings.joints == "ALL" and len(settings.limits) not in {0, len(rest.turning)}:
        raise ChainError(
            'The chain from "{upper}" to "{lower}" has {joints} joints, but limits for {limits}. Read the limits again, or '
            "remove them.",
            upper=rest.upper.name,
            lower=rest.lower.name,
            joints=len(rest.turning),
            limits=len(settings.limits),
        )


def _stretched_before(armature: Object, rest: RestChain, frames: KeyFrames) -> dict[int, tuple[float, ...]]:
    scales = {index: scale_path(rest.bones[index]) for index in scale_carriers(rest)}
    stretched = stretched_paths(armature, scales.values(), float(frames[0]), float(frames[-1]))
    return {index: AT_REST["scale"] for index, path in scales.items() if path in stretched}


def _animated_settings(armature: Object, settings: BakeSettings) -> dict[str, Quantity]:
    index = armature.twobone.chains.find(settings.stored) if settings.stored else -1
    if index < 0:
        return {}
    paths = {name: f"twobone.chains[{index}].{name}" for name in ANIMATABLE}
    return {name: Quantity("VALUE", armature.name, path=path) for name, path in paths.items() if is_animated(armature, path)}


def _repeats(armature: Object, settings: BakeSettings, rest: RestChain) -> bool:
    bone, turning = settings.target_bone, (rest.bones[index].name for index in rest.turning)
    follows = bool(settings.target) and repeats(find_object("Target", settings.target, bone), bone)
    return follows or any(repeats(armature, name) for name in turning)


def constrained(bone: PoseBone) -> list[Sentence]:
    """A note if constraints may keep a bone from being where its keys put it."""
    acting = [constraint.name for constraint in bone.constraints if is_acting(constraint)]
    text = 'Bone "{bone}" has constraints that act on top of the keys: {constraints}.'
    return [note(text, bone=bone.name, constraints=", ".join(acting))] if acting else []


def _notes(armature: Object, rest: RestChain) -> tuple[Sentence, ...]:
    notes = []
    for index in rest.turning:
        bone = armature.pose.bones[rest.bones[index].name]
        notes += [*constrained(bone), *_changing_mode(armature, bone)]
        locked = [letter for letter, lock in zip("XYZ", bone.lock_rotation, strict=True) if lock]
        if locked:
            notes.append(
                note(
                    'Bone "{bone}" has its rotation locked about {axes}, but was keyed anyway.',
                    bone=bone.name,
                    axes=", ".join(locked),
                )
            )
    return tuple(notes)


def _changing_mode(armature: Object, bone: PoseBone) -> list[Sentence]:
    """A note if a bone's rotation mode is keyed to others than the one whose channels get keys."""
    keyed = {
        round(float(value))
        for fcurve in moving_curves(armature, bone.path_from_id("rotation_mode"))
        for value in read_keys(fcurve)["co"][:, 1].tolist()
    }
    if not keyed:
        return []
    modes = bone.bl_rna.properties["rotation_mode"].enum_items
    others = sorted(mode.name for mode in modes if mode.value in keyed and mode.identifier != bone.rotation_mode)
    if not others:
        return []
    text = (
        'The rotation mode of bone "{bone}" is keyed: where it is {others}, the keys do not act, for they are for {mode}. Remove '
        "that curve, or keep one mode in the range."
    )
    return [note(text, bone=bone.name, others=", ".join(others), mode=modes[bone.rotation_mode].name)]


def _refuse_feedback(role: str, above: Dependencies, names: ChainNames, rest: RestChain, followed: Object) -> None:
    if followed.name == names.armature and not any(owner == names.armature and bone for owner, bone in above.nodes):
        raise DependencyError(
            'The armature "{armature}" cannot be its own {role}. Choose another object, or one of its bones.',
            armature=names.armature,
            role=Sentence(role.lower()),
        )
    chain = {bone.name for bone in rest.bones}
    for owner, bone in sorted(above.nodes):
        if owner == names.armature and bone in chain:
            raise DependencyError(
                '{role} "{object}" depends on bone "{bone}" of the chain that should follow it. Choose an object that does not '
                "move with the chain.",
                role=Sentence(role),
                object=followed.name,
                bone=bone,
            )


def refuse_overlap(plans: Sequence[ChainPlan]) -> None:
    """Raise `ChainError` if a later chain would overwrite keys that an earlier one has just written."""
    keyed_by: dict[tuple[str, str], list[int]] = {}
    for number, plan in enumerate(plans):
        for path in plan.keyed_paths():
            earlier = keyed_by.setdefault((plan.names.armature, path), [])
            for before in earlier:
                if _share_frames(plans[before], plan):
                    names = [_name(plans[before]), _name(plan)]
                    # Chains without names of their own are told apart by their numbers.
                    if names[0] == names[1]:
                        names = [f"{name} ({position + 1})" for name, position in zip(names, (before, number), strict=True)]
                    raise ChainError(
                        'Chains "{first}" and "{second}" of "{armature}" both key {path} at the same frames. Disable one of '
                        "them, give them ranges of their own, or let the last one win.",
                        first=names[0],
                        second=names[1],
                        armature=plan.names.armature,
                        path=path,
                    )
            earlier.append(number)


def _share_frames(first: ChainPlan, second: ChainPlan) -> bool:
    """Whether two chains share more than the frame at which one range ends and the other begins."""
    start, end = max(first.within[0], second.within[0]), min(first.within[1], second.within[1])
    return bool(start < end or first.within[0] == first.within[1] == start == end)


def _name(plan: ChainPlan) -> str:
    return plan.settings.label or plan.settings.stored or f"{plan.names.upper} to {plan.names.lower}"
