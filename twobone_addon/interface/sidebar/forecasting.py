"""The forecast of a bake in the panel: how many F-Curves it will write, and why more than one for a joint.

It takes milliseconds on a big rig, so it is cached until something changes; during moves and playback the old one is kept.
"""

from dataclasses import dataclass
from typing import Any

import bpy
from bpy.app.handlers import depsgraph_update_post, persistent
from bpy.app.translations import pgettext_iface

from ...errors import TwoBoneError
from ...pipeline.plan.completing import StoredChain, stored_settings
from ...said import Sentence
from ...settings import BakeSettings
from ...tasks.align.hinges import curve_forecast
from ..rows import draw_sentence
from ..stored.where import is_busy


@dataclass(slots=True)
class Kept:
    """The cached forecast, and the settings it was made for."""

    settings: BakeSettings | None = None
    forecast: tuple[int, tuple[Sentence, ...]] = (0, ())
    is_old: bool = True


kept = Kept()


def draw_forecast(layout: bpy.types.UILayout, chain: StoredChain, context: bpy.types.Context) -> None:
    """Draw the number of curves, the reasons for more than one per joint, and the button that removes them."""
    try:
        count, reasons = _forecast(chain, context)
    except TwoBoneError as error:
        draw_sentence(layout, error.sentence, context)
        return
    column = layout.column(align=True)
    text = pgettext_iface("1 curve to bake") if count == 1 else pgettext_iface("{count} curves to bake").format(count=count)
    column.label(translate=False, text=text, icon="FCURVE")
    for reason in reasons:
        draw_sentence(column, reason, context)
    if reasons:
        column.operator("twobone.align_hinge")


def _forecast(chain: StoredChain, context: bpy.types.Context) -> tuple[int, tuple[Sentence, ...]]:
    settings = stored_settings(chain.id_data, chain, {})
    if settings != kept.settings or (kept.is_old and not is_busy(context.window_manager)):
        kept.settings = None
        kept.forecast = curve_forecast(settings, chain.id_data)
        kept.settings, kept.is_old = settings, False
    return kept.forecast


@persistent
def _notice_changes(_scene: bpy.types.Scene, _depsgraph: Any) -> None:
    kept.is_old = True


def register() -> None:
    """Add the handler that invalidates the cache."""
    depsgraph_update_post.append(_notice_changes)


def unregister() -> None:
    """Remove the handler, and clear the cache."""
    depsgraph_update_post.remove(_notice_changes)
    kept.settings = None
