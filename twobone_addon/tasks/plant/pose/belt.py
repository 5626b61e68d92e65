"""Feet that stand still on a belt already tell how fast it is, to the last digit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....core.contacts.ground import velocity_of_stances
from ....core.contacts.states import on_ball, on_heel
from ..plan.contacts import Standing
from ..plan.feet import LegMotion, at_frames
from .standing import settled

if TYPE_CHECKING:
    from ..plan.planning import ContactPlan

ALIKE = 0.1
"""Part by which the velocity of feet that stand may differ from the one that was found, and be that of the same ground."""


def on_their_belt(contacts: ContactPlan, standing: Standing, legs: Sequence[LegMotion]) -> Standing:
    """The same with the velocity of the ground that all feet stand on already, if they do.

    It is found from all low points, and so a little different in a motion that has been planted: that would be planted again.
    """
    found = standing.found
    if contacts.settings.ground_moves != "AUTO" or contacts.surface is not None or not np.any(found.ground_velocity):
        return standing
    feet = [at_frames(leg.foot) for leg in legs]
    points = np.array([foot.points(offset) for foot in feet for offset in (foot.heel, foot.ball)])
    stands = np.array([on for states in standing.states for on in (on_heel(states), on_ball(states))])
    velocity, off = velocity_of_stances(points, stands, contacts.rate)
    velocity = velocity * np.array([1.0, 1.0, 0.0])
    another = np.linalg.norm(velocity - found.ground_velocity) > ALIKE * np.linalg.norm(found.ground_velocity)
    if another or off > min(settled(leg) for leg in legs):
        return standing
    return replace(standing, found=replace(found, ground_velocity=velocity))
