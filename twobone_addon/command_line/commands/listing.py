"""`chains`: what is stored in the file."""

from __future__ import annotations

import argparse
from typing import Any

import bpy

from ...pipeline.plan.completing import stored_chains, stored_values
from ...pipeline.report.reports import headed
from ..files.shot_files import open_shot, refuse_unknown_scene, source_of
from ..outcomes import ExitCode, Outcome
from ..output import Voice
from ..provenance import source_file

COLUMNS = ("name", "enabled", "armature", "upper", "lower", "target", "plane", "bend")


def chains_command(arguments: argparse.Namespace, voice: Voice) -> Outcome:
    """List the stored chains of the scene: a table for people, every setting in the JSON."""
    source = source_file(source_of(arguments.file)) if arguments.report is not None else None
    open_shot(arguments.file, scripts=arguments.scripts)
    refuse_unknown_scene(arguments.scene)
    scene = bpy.data.scenes[arguments.scene] if arguments.scene else bpy.context.scene
    chains = [
        {"name": chain.name, "enabled": chain.enabled, **stored_values(armature, chain)}
        for armature, chain in stored_chains(scene)
    ]
    for line in _table(chains):
        voice.say(line)
    return Outcome(ExitCode.DONE, headed("chains", {"scene": scene.name, "chains": chains}), source=source)


def _table(chains: list[dict[str, Any]]) -> list[str]:
    if not chains:
        return ["No chain is stored in this scene."]
    rows = [COLUMNS, *(tuple(_cell(chain[column]) for column in COLUMNS) for chain in chains)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(COLUMNS))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _cell(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value) or "-"
