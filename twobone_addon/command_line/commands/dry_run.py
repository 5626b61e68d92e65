"""The dry run of a bake as text and as JSON: which frames are in reach, and which keys it would write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ...said import as_json
from ...settings.options import ACTIVE
from ...tasks.bake.task import ChainRehearsal, Rehearsal
from ..wanted import NamedSettings


def dry_run_document(wanted: Sequence[NamedSettings], rehearsal: Rehearsal, actions: str) -> dict[str, Any]:
    """Return the rehearsal as a JSON document, each chain with its name in `wanted`, and with its action if there are several."""
    if actions == ACTIVE:
        chains = [_chain(each.label, chain) for each, chain in zip(wanted, rehearsal.chains, strict=True)]
        return {"dry_run": True, "evaluation": rehearsal.evaluation, "chains": chains}
    chains = [{**_chain(_label(wanted, chain), chain), "action": chain.report.action} for chain in rehearsal.chains]
    refused = [asdict(each, dict_factory=as_json) for each in rehearsal.refused]
    return {"dry_run": True, "evaluation": rehearsal.evaluation, "chains": chains, "refused": refused}


def dry_run_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield one line per chain, per action that cannot be baked, and for the file to save."""
    for chain in document["chains"]:
        yield _line(chain)
    for each in document.get("refused", ()):
        yield f'Action "{each["action"]}" of {each["armature"]}: {each["reason"]}'
    if document["save"]:
        yield f'Would save "{document["save"]}"'


def _label(wanted: Sequence[NamedSettings], chain: ChainRehearsal) -> str:
    """Return the name of the first wanted chain with the same bones; empty if there is none."""
    named = {name: getattr(chain.report, name) for name in ("armature", "upper", "lower")}
    return next(
        (each.label for each in wanted if all(getattr(each.settings, name) in {"", value} for name, value in named.items())),
        "",
    )


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
    action = f'Action "{chain["action"]}", ' if chain.get("action") else ""
    name = action + (f"{chain['name']}: " if chain["name"] else "")
    target = f"{chain['target']}/{chain['target_bone']}" if chain["target_bone"] else chain["target"]
    lengths = " + ".join(f"{length:.4g}" for length in chain["lengths"])
    return (
        f"{name}{chain['upper']} to {chain['lower']} of {chain['armature']}, tip at the {chain['tip_at']} of {chain['tip']}, "
        f"follows {target} in {chain['plane']} ({chain['plane_space']}), bend {chain['bend']}, lengths {lengths}, "
        f"frames {chain['frame_start']:g} to {chain['frame_end']:g}: {chain['reached']} of {chain['frames']} in reach, "
        f"{chain['too_far']} too far, {chain['too_near']} too near; would write {_curves_text(chain['curves'])}"
    )


def _curves_text(curves: list[dict[str, Any]]) -> str:
    """List the F-Curves, with the channels of one property grouped: `...rotation_quaternion[0,1,2,3] (24 keys each)`."""
    grouped: dict[tuple[str, int], list[str]] = {}
    for curve in curves:
        grouped.setdefault((curve["data_path"], curve["keys"]), []).append(str(curve["index"]))
    return ", ".join(f"{path}[{','.join(indices)}] ({keys} keys each)" for (path, keys), indices in grouped.items())
