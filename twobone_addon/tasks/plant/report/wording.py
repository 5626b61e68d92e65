"""Parts of the sentence about planted feet: separate texts for singular and plural, so that every language can inflect them."""

from __future__ import annotations

from ....said import Translate


def planted(contacts: int, feet: int, translate: Translate) -> str:
    """Number of contacts planted."""
    if contacts == 1:
        return translate("1 contact planted")
    if feet == 1:
        return translate("{contacts} contacts of one foot planted").format(contacts=contacts)
    return translate("{contacts} contacts of {chains} feet planted").format(contacts=contacts, chains=feet)


def none_stands(translate: Translate, *, was_planted: bool) -> str:
    """There are no contacts to plant."""
    if was_planted:
        return translate("No contacts left; the earlier planting was removed")
    return translate("No foot contacts found; nothing was changed")


def still_already(contacts: int, feet: int, translate: Translate) -> str:
    """Number of contacts that were planted already."""
    if contacts == 1:
        return translate("1 contact was already planted")
    if feet == 1:
        return translate("{contacts} contacts on one foot were already planted").format(contacts=contacts)
    return translate("{contacts} contacts on {chains} feet were already planted").format(contacts=contacts, chains=feet)


def slid(*, only_between: bool, translate: Translate) -> str:
    """Template for the slide, with `{before}` and `{after}`."""
    if only_between:
        return translate("slide was up to {before}, now {after} between frames")
    return translate("slide was up to {before}, now {after}")


def slide_as_before(distance: str, *, only_between: bool, translate: Translate) -> str:
    """The slide, unchanged by planting."""
    if only_between:
        return translate("sliding by up to {distance} between frames, as before").format(distance=distance)
    return translate("sliding by up to {distance}, as before").format(distance=distance)


def root_motion(bone: str, distance: str, *, is_added: bool, translate: Translate) -> str:
    """Root motion added or removed; an empty distance if there was none."""
    if not distance:
        return translate("no root motion to add") if is_added else translate("no root motion to remove")
    if is_added:
        return translate("root motion of {distance} added to {bone}").format(distance=distance, bone=bone)
    return translate("root motion of {distance} removed from {bone}").format(distance=distance, bone=bone)


def stretched(factor: float, translate: Translate) -> str:
    """Largest factor by which legs are scaled, as what they gain."""
    return translate("legs stretched by up to {percent:.2g} %").format(percent=100.0 * (factor - 1.0))


def moved(bone: str, distance: str, translate: Translate) -> str:
    """Largest move of the root that lets legs reach."""
    return translate("{bone} moved by up to {distance}").format(bone=bone, distance=distance)
