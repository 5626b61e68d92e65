"""What a job is for, and which settings such a job has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...options import Option
from ...settings import OPTION, BakeSettings
from ...settings.contacts import CONTACT_OPTIONS, ContactSettings
from ...settings.planting import PLANT_OPTIONS, ROOT_OPTIONS, PlantSettings, RootFitSettings

USES = ("bake", "convert", "target", "clear", "limbs", "contacts", "plant", "fit-root", "switch")
"""What a batch does with each shot: the sub-command of that name."""

GROUND_VELOCITY = "ground_velocity"
"""Key of three numbers, so it is no option."""

OWN_OPTIONS: dict[str, Mapping[str, Option]] = {
    "limbs": {"armature": OPTION["armature"]},
    "contacts": {option.name: option for option in CONTACT_OPTIONS},
    "plant": {option.name: option for option in PLANT_OPTIONS},
    "fit-root": {option.name: option for option in ROOT_OPTIONS},
}
"""Settings of what is about one armature, and has no chains of its own in a job."""

RECORDS: dict[str, Callable[..., object]] = {"contacts": ContactSettings, "plant": PlantSettings, "fit-root": RootFitSettings}
"""What such settings make."""

ON_THE_GROUND = {"contacts", "plant"}
"""Those that have a ground velocity."""

ONLY_FOR = {
    "bone": {"convert"},
    "switch_off": {"convert"},
    "rigify": {"convert"},
    "rotate": {"bake", "target"},
    "targets": {"limbs"},
    "to": {"switch"},
    "motion": {"switch"},
    "actions": {"bake", "convert", "target", "clear"},
    "stored": set(USES) - OWN_OPTIONS.keys(),
    "chains": set(USES) - OWN_OPTIONS.keys(),
}
"""Keys that not every job has, and the uses of those that do; `bake` takes a job with `rotate`, which it does not need."""


def options_for(use: str) -> Mapping[str, Option]:
    """The settings of a job, by name."""
    return OWN_OPTIONS.get(use, OPTION)


def refuse_contradicting(use: str, values: Mapping[str, Any]) -> None:
    """Raise `SettingError` for settings that cannot be had together."""
    RECORDS.get(use, BakeSettings)(**values)
