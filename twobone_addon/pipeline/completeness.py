"""What a file lacks: missing dependencies of chains, without which a bake is wrong; and what saving would lose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..scene.graph.rig_graph import missing_above
from ..scene.lookup import missing_libraries, objects_by_name
from ..scene.versions import file_version, oldest_reader, own_version, version_text
from ..settings import BakeSettings
from .plan.chain_plan import followed_by


def what_is_missing(settings: Sequence[BakeSettings], chains: Sequence[Mapping[str, Any]]) -> list[str]:
    """A sentence for each dependency of each chain that is missing or does not work.

    `chains` holds, for each of `settings`, the names of armature and bones as in the report of its bake.
    """
    objects, sentences = objects_by_name(), list[str]()
    for asked, chain in zip(settings, chains, strict=True):
        name = "{upper} to {lower} of {armature}".format_map(chain)
        starts = [(chain["armature"], chain[bone]) for bone in ("upper", "lower", "tip")]
        starts += [(owner, bone) for _, owner, bone in followed_by(asked) if owner]
        missing = missing_above(objects, starts)
        sentences += [f"{name}: {entry.what} is missing: {entry.why}." for entry in missing]
    return list(dict.fromkeys(sentences))


def missing_of_chains(settings: Sequence[BakeSettings], chains: Sequence[Mapping[str, Any]]) -> list[str]:
    """`what_is_missing` where several chain reports, one per action, may belong to the same settings, and none to others."""
    pairs = [
        (asked, chain)
        for asked in settings
        for chain in chains
        if all(getattr(asked, name) in {"", chain[name]} for name in ("armature", "upper", "lower"))
    ]
    return what_is_missing([asked for asked, _ in pairs], [chain for _, chain in pairs])


def missing_in_rig(armature: str) -> list[str]:
    """A sentence for each dependency of any bone of an armature that is missing or does not work."""
    objects = objects_by_name()
    thing = objects.get(armature)
    bones = [bone.name for bone in thing.pose.bones] if thing is not None and thing.pose else []
    missing = missing_above(objects, [(armature, ""), *((armature, bone) for bone in bones)])
    return [f"{armature}: {entry.what} is missing: {entry.why}." for entry in missing]


def lost_libraries() -> list[str]:
    """A sentence for each missing library file, whether or not it moves anything."""
    return [f'The library "{path}" is not there.' for path in missing_libraries()]


__all__ = ["change_by_saving", "version_text"]


def change_by_saving() -> str:
    """What saving the open file would lose because another version of Blender saved it last; empty if nothing."""
    file, here_version = file_version(), own_version()
    if oldest_reader() <= file <= here_version:
        return ""
    lost = "What only the newer version knows is lost" if file > here_version else "It can no longer be read by its own version"
    saved, here = (f"{major}.{minor}" for major, minor in (file, here_version))
    return f"It was saved by Blender {saved}, and this is {here}. {lost}, once this one has saved it."
