"""Import contacts from a file and export them to one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...core.array_types import Codes
from ...core.contacts.labels import labels_as_file, read_labels
from ...errors import ChainError, RangeError, SettingError, TwoBoneError, WriteError
from ...files import refuse_unwritable, write
from ...pipeline.proof import doubtful_poses
from ...pipeline.story import Sample, Story, Task, Write
from ...records import replace
from ...said import note
from ...scene.actions import OwnAction
from ...scene.blender_types import Object, Scene
from ...scene.lookup import file_at, find_armature
from ...scene.versions import curve_bag
from ...settings.feet import ContactFileSettings, ContactSettings, ExportContactSettings
from ...settings.tasks import TABLES
from .plan import SIDES, ContactPlan, plan_contacts
from .solve import solve_contacts
from .task import ContactReport, contact_report, key_contacts, visible_feet

CONTACTS = "a contacts file"

SAME_RATE = 1e-3
"""Frames per second below which a difference of frame rates is ignored."""


def import_contacts(
    scene: Scene, settings: ContactFileSettings, active: Object | None, _chosen: OwnAction | None
) -> Story[ContactReport]:
    """Key the contacts in a file; raises a `TwoBoneError` where it does not fit the armature's action."""
    path, rate = _path(settings), scene.render.fps / scene.render.fps_base
    labels = read_labels(path)
    if settings.fps and labels.fps and abs(settings.fps - labels.fps) > SAME_RATE:
        raise SettingError(
            'File "{file}" has {own:g} frames a second, not {given:g}. Leave Frame Rate at 0 to use its own.',
            file=path.name,
            own=labels.fps,
            given=settings.fps,
        )
    labels = replace(labels, fps=settings.fps or labels.fps or rate)
    armature = find_armature(settings.armature, active)
    last = settings.frame_start + (labels.states.shape[1] - 1) * rate / labels.fps
    start, end = _action_range(scene, armature)
    if last >= end + 1.0:
        raise RangeError(
            'File "{file}" has contacts from frame {first:g} to {last:g}, but the action ends at {end:g}. '
            "Check First Frame and Frame Rate.",
            file=path.name,
            first=settings.frame_start,
            last=last,
            end=end,
        )
    plan = _planned_until(scene, settings, armature, min(last, end))
    untold = None
    if settings.frame_start - start >= 1.0 or end - last >= 1.0:
        untold = note(
            "The file covers frames {first:g} to {last:g}; the action's other frames ({start:g} to {end:g}) are unchanged.",
            first=settings.frame_start,
            last=last,
            start=start,
            end=end,
        )
    states = _states_of_feet(plan, labels.at((plan.frames - settings.frame_start) / rate))
    return (yield from key_contacts(scene, replace(plan, labels=states, untold=untold)))


def export_contacts(
    scene: Scene, settings: ExportContactSettings, active: Object | None, _chosen: OwnAction | None
) -> Story[ContactReport]:
    """Write the keyed contacts to a file; raises a `TwoBoneError` if there are none, or a file is in the way."""
    path = _path(settings)
    labels_as_file(path, np.zeros((2, 1), int), 1.0, 1.0)
    if path.exists() and not settings.overwrite:
        raise WriteError('File "{file}" already exists. Choose another name, or turn on Overwrite.', file=str(path))
    refuse_unwritable(path, _is_contacts, CONTACTS)
    armature = find_armature(settings.armature, active)
    plan = _planned_until(scene, settings, armature, _action_range(scene, armature)[1])
    if plan.legs.found or not any(keyed.is_keyed for keyed in plan.keyed):
        raise ChainError('Armature "{armature}" has no contacts yet. Find or key them first.', armature=armature.name)
    _states_of_feet(plan, np.zeros((2, 1), int))
    plan = replace(plan, labels=np.array([keyed.states for keyed in plan.keyed]))
    ends = visible_feet(plan)
    samples = yield Sample([*plan.quantities(), *doubtful_poses(ends.values())], plan.frames, plan.settings.evaluation)
    found = solve_contacts(plan, samples)
    fps = settings.fps or plan.rate
    # Rounding must not lose the last row.
    count = int((plan.frames[-1] - plan.frames[0]) / plan.rate * fps + 1e-6) + 1
    rows = np.clip(np.floor(np.arange(count) / fps * plan.rate + 0.5).astype(int), 0, len(plan.frames) - 1)
    states = np.zeros((len(SIDES), len(rows)), int)
    for foot, foot_states in zip(plan.feet, found.states, strict=True):
        states[SIDES[plan.legs.sides[foot.chain]]] = foot_states[rows]
    content = labels_as_file(path, states, fps, float(plan.frames[0]))
    may_replace = _is_contacts if settings.overwrite else (lambda _: False)
    report = contact_report(scene, plan, found, samples=samples, ends=ends)
    yield Write([], lambda: report, then=lambda: write(path, content, may_replace, CONTACTS))
    return report


def _is_contacts(path: Path) -> bool:
    try:
        return bool(read_labels(path).states.size)
    except TwoBoneError:
        return False


def _path(settings: ContactFileSettings) -> Path:
    if not settings.filepath:
        raise SettingError("No file is named. Choose one that ends in .npz, .csv or .json.")
    return file_at(settings.filepath)


def _action_range(scene: Scene, armature: Object) -> tuple[float, float]:
    """Whole frames around the action's keys, except those of contacts; the range of the scene without any keys."""
    bag = curve_bag(armature)
    keyed = [curve.range() for curve in (bag.fcurves if bag else ()) if not curve.data_path.startswith("twobone.")]
    firsts, lasts = ([contact[end] for contact in keyed] for end in (0, 1))
    return float(np.floor(min(firsts, default=scene.frame_start))), float(np.ceil(max(lasts, default=scene.frame_end)))


def _planned_until(scene: Scene, settings: ContactFileSettings, armature: Object, end: float) -> ContactPlan:
    first = settings.frame_start
    if end < first:
        raise RangeError("The action ends at frame {end:g}, before the first frame, {first:g}.", end=end, first=first)
    span = (first, float(np.floor(end)))
    return plan_contacts(scene, ContactSettings(armature=armature.name, evaluation=settings.evaluation), armature, span)


def _states_of_feet(plan: ContactPlan, states: Codes) -> Codes:
    """States `(C, F)` of the feet of a plan, from `states` `(2, F)` of left and right; raises `ChainError` for other feet."""
    sides = [plan.legs.sides[foot.chain] for foot in plan.feet]
    if len(set(sides)) < len(sides) or not set(sides) <= set(SIDES):
        raise ChainError(
            'A contacts file has one left and one right foot, but the legs of armature "{armature}" are {sides}. '
            "Set the Side of their chains, or disable the others.",
            armature=plan.armature,
            sides=", ".join(sides),
        )
    return np.array([states[SIDES[side]] for side in sides], dtype=int)


IMPORT_CONTACTS = Task("import_contacts", TABLES["import_contacts"], import_contacts, ContactReport)
EXPORT_CONTACTS = Task("export_contacts", TABLES["export_contacts"], export_contacts, ContactReport)
