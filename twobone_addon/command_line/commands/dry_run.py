"""The dry run in words and in JSON: what a bake would find and what it would write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...baking.rehearsing import ChainRehearsal, Rehearsal


def dry_run_document(labels: list[str], rehearsal: Rehearsal) -> dict[str, Any]:
    """The rehearsal as JSON has it; `labels` name the chains."""
    chains = [_chain(label, chain) for label, chain in zip(labels, rehearsal.chains, strict=True)]
    return {"dry_run": True, "evaluation": rehearsal.evaluation, "chains": chains}


def dry_run_lines(document: dict[str, Any]) -> Iterator[str]:
    """One line per chain."""
    for chain in document["chains"]:
        yield _line(chain)
    if document["save"]:
        yield f'Would save "{document["save"]}"'


def _chain(label: str, chain: ChainRehearsal) -> dict[str, Any]:
    report, settings = chain.report, chain.settings
    return {
        "name": label,
        "armature": report.armature,
        "upper": report.upper,
        "lower": report.lower,
        "tip": report.tip,
        "tip_at": "tail" if chain.tip_at_tail else "head",
        "target": report.target,
        "target_bone": settings.target_bone,
        "plane": settings.plane,
        "plane_space": settings.plane_space,
        "bend": settings.bend,
        "depth": settings.depth,
        "lengths": list(chain.rest_lengths),
        "frames": report.frames,
        "frame_start": report.frame_start,
        "frame_end": report.frame_end,
        "reached": report.reached,
        "too_far": report.too_far,
        "too_near": report.too_near,
        "degenerate": report.degenerate,
        "out_of_reach": report.out_of_reach,
        "destination": settings.destination,
        "curves": [{"data_path": curve.path, "index": curve.index, "keys": curve.keys} for curve in chain.curves],
    }


def _line(chain: dict[str, Any]) -> str:
    name = f"{chain['name']}: " if chain["name"] else ""
    target = f"{chain['target']}/{chain['target_bone']}" if chain["target_bone"] else chain["target"]
    lengths = " + ".join(f"{length:.4g}" for length in chain["lengths"])
    return (
        f"{name}{chain['upper']} to {chain['lower']} of {chain['armature']}, tip at the {chain['tip_at']} of {chain['tip']}, "
        f"follows {target} in {chain['plane']} ({chain['plane_space']}), bend {chain['bend']}, lengths {lengths}, "
        f"frames {chain['frame_start']:g} to {chain['frame_end']:g}: {chain['reached']} of {chain['frames']} in reach, "
        f"{chain['too_far']} too far, {chain['too_near']} too near; would write {_curves_text(chain['curves'])}"
    )


def _curves_text(curves: list[dict[str, Any]]) -> str:
    """Channels of one property together: `...rotation_quaternion[0,1,2,3] (24 keys each)`."""
    together: dict[tuple[str, int], list[str]] = {}
    for curve in curves:
        together.setdefault((curve["data_path"], curve["keys"]), []).append(str(curve["index"]))
    return ", ".join(f"{path}[{','.join(indices)}] ({keys} keys each)" for (path, keys), indices in together.items())
