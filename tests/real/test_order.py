"""In whatever order the panel's buttons are pressed: what must not move does not, and both orders end alike or say why not."""

import json
import os

import pytest

from tests.real.own_python import run

DRAWS = int(os.environ.get("TWOBONE_ORDER_DRAWS", "2"))
"""Pairs of buttons on each rig."""
SEED = os.environ.get("TWOBONE_ORDER_SEED", "1")
FROM_FILES = {"bvh", "fbx"}


@pytest.mark.parametrize("rig", ["legs", "robot", "rigify", "bvh", "fbx"])
def test_pairs_of_buttons_leave_what_must_stay_and_end_alike_in_both_orders(rig, tmp_path, request):
    folder = request.getfixturevalue("data_folder") if rig in FROM_FILES else tmp_path
    seen = json.loads(run("order_scenario.py", tmp_path, rig, SEED, str(DRAWS), str(folder)).splitlines()[-1])
    assert seen["faults"] == []
    assert 0 < seen["pairs"] <= DRAWS
