"""The exact velocity of a belt on which all feet already stand still."""

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

SAME_GROUND = 0.1
"""Largest relative difference between the velocity of standing feet and the velocity found, for both to be of the same ground."""


def on_their_belt(contacts: ContactPlan, standing: Standing, legs: Sequence[LegMotion]) -> Standing:
    """The contacts with the ground velocity replaced by that of the standing feet, if all of them already stand still on a belt.

    The velocity found is an estimate from all low points, so a motion that is already planted would be planted again.
    """
    found = standing.found
    if contacts.settings.ground_moves != "AUTO" or contacts.surface is not None or not np.any(found.ground_velocity):
        return standing
    feet = [at_frames(leg.foot) for leg in legs]
    points = np.array([foot.points(offset) for foot in feet for offset in (foot.heel, foot.ball)])
    stands = np.array([on for states in standing.states for on in (on_heel(states), on_ball(states))])
    velocity, off = velocity_of_stances(points, stands, contacts.rate)
    velocity = velocity * np.array([1.0, 1.0, 0.0])
    is_other_ground = np.linalg.norm(velocity - found.ground_velocity) > SAME_GROUND * np.linalg.norm(found.ground_velocity)
    if is_other_ground or off > min(settled(leg) for leg in legs):
        return standing
    return replace(standing, found=replace(found, ground_velocity=velocity))
