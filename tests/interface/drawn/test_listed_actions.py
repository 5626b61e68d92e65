"""Actions are chosen from a list in words; scripts give them as a text."""

import bpy
import pytest

from tests.tasks.rigs.walker import Walk, build_walker
from twobone_addon.interface.stored.option_properties import show_listed


@pytest.fixture
def shown(empty_file):
    """What the redo panel of Plant Feet shows, of a character with two actions."""
    armature, _ = build_walker(Walk())
    walk = armature.animation_data.action
    walk.name = "Walk; slow"
    other = walk.copy()
    other.name, other.use_fake_user = "Run", True
    return bpy.context.window_manager.operator_properties_last("twobone.plant")


@pytest.mark.parametrize("text", ["ACTIVE", "ALL", "Run", "Walk;; slow", "Run; Walk;; slow"])
def test_what_a_script_gives_is_what_the_list_shows(shown, text):
    shown.actions = text
    show_listed(shown)
    assert shown.actions_listed == text
    assert shown.actions == text


@pytest.mark.parametrize("choice", ["ALL", "Run", "Walk;; slow", "ACTIVE"])
def test_what_is_chosen_in_the_list_is_what_is_done(shown, choice):
    shown.actions_listed = choice
    assert shown.actions == choice


def test_the_list_has_words_and_names_not_codes(shown):
    words = {"ACTIVE": "Present Action", "ALL": "All Actions", "Run": "Run", "Walk;; slow": "Walk; slow"}
    found = {value: bpy.types.UILayout.enum_item_name(shown, "actions_listed", value) for value in words}
    assert found == words


def test_a_list_that_nobody_touched_gives_nothing(shown):
    assert not shown.is_property_set("actions_listed")
