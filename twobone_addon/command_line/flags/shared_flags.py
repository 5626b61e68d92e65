"""Flags that several sub-commands share."""

from __future__ import annotations

import argparse

from ...baking.actions.choosing import which_actions
from ..files.outputs import file_name, file_path
from ..outcomes import ExitCode
from .chain_flags import add_chain_flags
from .numbers import distance

IN_PLACE = True
"""What `--save` without a file means: the file that was opened. An empty name that is given is refused."""


def add_file(parser: argparse.ArgumentParser) -> None:
    """Which shot, with its scripts or not, which scene of it, and where the result goes."""
    parser.add_argument(
        "--file", type=file_path, metavar="SHOT.blend", help="open this file; default: what Blender was started with"
    )
    add_scripts(parser, "with --file: run the scripts in it")
    parser.add_argument("--scene", metavar="NAME", help="work in this scene of the file; default: the one that is open")
    parser.add_argument(
        "--report", type=file_name, metavar="FILE|-", help="write the result as JSON to a file, or to standard output"
    )


def add_scripts(parser: argparse.ArgumentParser, text: str) -> None:
    """Whether scripts run."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument(
        "--scripts", action="store_const", const=True, help=f"{text}; default: off, or as Blender was told with -y or -Y"
    )
    choice.add_argument(
        "--no-scripts", dest="scripts", action="store_const", const=False, help="run none, however Blender was started"
    )


def add_job(parser: argparse.ArgumentParser) -> None:
    """A job file."""
    parser.add_argument(
        "--job", type=file_path, metavar="FILE", help="take settings and chains from a TOML or JSON file; flags win over it"
    )


def add_chosen_chains(parser: argparse.ArgumentParser) -> None:
    """Which chains."""
    add_job(parser)
    parser.add_argument("--stored", action="store_true", help="use all enabled chains stored in the scene; flags win over them")
    parser.add_argument(
        "--strict-settings",
        action="store_true",
        help="refuse settings that make no difference, as jobs do",
    )
    add_chain_flags(parser)


def add_strictness(parser: argparse.ArgumentParser) -> None:
    """What counts as failure."""
    parser.add_argument(
        "--strict", action="store_true", help=f"exit with {int(ExitCode.STRICT)}, unsaved, when a frame is out of reach"
    )
    parser.add_argument(
        "--max-error", type=distance, metavar="DISTANCE", help="also fail if the measured error exceeds this (implies --strict)"
    )


def add_completeness(parser: argparse.ArgumentParser) -> None:
    """Whether to go on where something is missing."""
    parser.add_argument(
        "--allow-incomplete",
        action="store_true",
        help=f"go on without a library, a linked object or a driver that moves the chain, instead of {int(ExitCode.INCOMPLETE)}",
    )


def add_saving(parser: argparse.ArgumentParser) -> None:
    """Where the shot is saved."""
    parser.add_argument(
        "--save",
        nargs="?",
        type=file_name,
        const=IN_PLACE,
        metavar="FILE",
        help="save afterwards; without FILE over the shot",
    )
    parser.add_argument(
        "--linked", type=file_name, metavar="FILE|-", help="write the files that the shot links, and their SHA-256, as JSON"
    )
    parser.add_argument("--sha256", metavar="HASH", help="refuse a shot whose contents do not have this SHA-256")
    parser.add_argument("--lifeline", type=int, help=argparse.SUPPRESS)
    add_upgrade(parser)


def add_upgrade(parser: argparse.ArgumentParser) -> None:
    """Whether a file of another version may be saved over."""
    parser.add_argument(
        "--upgrade",
        action="store_true",
        help="save over a file of another Blender version, which may be unable to read it then",
    )


def add_actions(parser: argparse.ArgumentParser) -> None:
    """Which actions."""
    parser.add_argument(
        "--actions",
        type=which_actions,
        default="",
        metavar="ACTIVE|ALL|NAMES",
        help="go through all actions, or those named (separated by semicolons), each over its own range; default: the active one",
    )
