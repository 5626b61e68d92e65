"""Limbs under an uneven scale: their tips run around ellipses, which nothing but a search solves."""

import numpy as np
import pytest

from twobone_addon.core.rig.inverse import closest, search_angles

LENGTHS = np.array([0.6, 0.45])
SCALES = {"stretched": [[2.0, 0.0], [0.0, 0.7]], "sheared": [[1.0, 0.6], [0.0, 1.3]], "flattened": [[1.0, 0.0], [0.0, 0.2]]}

each_scale = pytest.mark.parametrize("scale", SCALES.values(), ids=SCALES)


def links_under(scale):
    """Links of a limb whose joints are turned first and then scaled."""

    def links_at(angles):
        turned = np.cumsum(angles, axis=-1)
        return np.stack([np.cos(turned), np.sin(turned)], axis=-1) * LENGTHS[:, None] @ np.array(scale).T

    return links_at


def off(links, goals):
    return np.linalg.norm(links.sum(axis=-2) - goals, axis=-1)


@each_scale
@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_a_goal_that_some_pose_reaches_is_reached_with_that_bend(rng, scale, bend):
    links_at = links_under(scale)
    knees = bend * rng.uniform(0.2, 2.9, 200)
    goals = links_at(np.stack([rng.uniform(-3.0, 3.0, 200), knees], axis=-1)).sum(axis=-2)
    found = links_at(search_angles(goals, np.full(200, bend), 2, links_at))
    assert off(found, goals).max() < 1e-8
    assert (np.linalg.det(found) * bend > 0.0).all()


@each_scale
@pytest.mark.parametrize("distance", [4.0, 0.1], ids=["too far", "too near"])
def test_no_pose_is_nearer_to_a_goal_out_of_reach(rng, scale, distance):
    links_at = links_under(scale)
    ways = rng.uniform(-np.pi, np.pi, 24)
    goals = distance * np.stack([np.cos(ways), np.sin(ways)], axis=-1)
    found = off(links_at(closest(goals, np.ones(24), 2, links_at)), goals)
    turns, knees = np.meshgrid(np.linspace(-np.pi, np.pi, 721), np.linspace(0.0, np.pi, 181), indexing="ij")
    tips = links_at(np.stack([turns.ravel(), knees.ravel()], axis=-1)).sum(axis=-2)
    nearest = np.linalg.norm(tips - goals[:, None], axis=-1).min(axis=-1)
    assert (found <= nearest + 1e-6).all()
