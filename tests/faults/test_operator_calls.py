"""Every operator called with any values: it finishes, or it says one sentence and nothing has changed."""

import math
import os
import random

import bpy
import pytest

from tests.faults.attacking import assert_one_sentence, make_leg, store_leg
from tests.tasks.checks.file_dump import differences, dump_file
from tests.tasks.scenes import sentence_of

CALLS = int(os.environ.get("TWOBONE_OPERATOR_CALLS", "250"))
"""How many; a person who has changed an operator asks for 5,000."""

SEED = 7253
CALLS_IN_A_FILE = 50
MODAL = {"drag", "live"}
"""Wait for the mouse, or go on after the call; they have tests of their own."""

NUMBERS = (math.nan, math.inf, -math.inf, 1e30, -1e9, -1.0, 0.0, 1e-45, 0.5, 1.0, 6.0, 12.0)
TEXTS = ("", "Rig", "Target", "upper", "lower", "parent", "leg", "leg.001", "Nobody", 'a"]["b', "\n", "腕", "x" * 300)
LONGEST_RANGE = 30.0


def operators():
    names = [name for name in dir(bpy.ops.twobone) if name not in MODAL and not name.startswith("live_keys_")]
    return [(name, getattr(bpy.ops.twobone, name)) for name in names]


def any_value(chance, prop):
    if prop.type == "BOOLEAN":
        return chance.random() < 0.5
    if prop.type == "ENUM":
        items = [item.identifier for item in prop.enum_items]
        return chance.choice(items) if items else None
    if getattr(prop, "is_array", False):
        return tuple(chance.choice(NUMBERS) for _ in range(prop.array_length))
    if prop.type == "FLOAT":
        return chance.choice(NUMBERS) if chance.random() < 0.7 else chance.uniform(-2.0, LONGEST_RANGE)
    if prop.type == "INT":
        return chance.randint(-3, 9)
    return chance.choice(TEXTS) if prop.type == "STRING" else None


def any_settings(chance, operator):
    properties = [prop for prop in operator.get_rna_type().properties if prop.identifier != "rna_type" and not prop.is_readonly]
    chosen = chance.sample(properties, chance.randint(0, min(6, len(properties))))
    made = {prop.identifier: any_value(chance, prop) for prop in chosen}
    return {name: value for name, value in made.items() if value is not None}


def make_file(chance):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig, target = make_leg()
    for _ in range(chance.randint(0, 2)):
        store_leg(rig, target)
    if chance.random() < 0.3:
        bpy.ops.object.mode_set(mode="POSE")
    if chance.random() < 0.2:
        bpy.context.view_layer.objects.active = target


def call(operator, settings):
    """The sentence of a refusal, after which the file is as it was; empty where the operator finished."""
    before = dump_file()
    try:
        ended = operator(**settings)
    except RuntimeError as error:
        sentence = sentence_of(error)
        assert differences(before, dump_file()) == []
        return sentence
    assert ended <= {"FINISHED", "CANCELLED"}
    return ""


def test_no_call_ends_in_a_traceback_and_no_refusal_changes_anything(empty_file):
    chance = random.Random(SEED)  # noqa: S311 - the same calls every time
    refused = finished = 0
    for number in range(CALLS):
        if number % CALLS_IN_A_FILE == 0:
            make_file(chance)
        name, operator = chance.choice(operators())
        settings = any_settings(chance, operator)
        try:
            sentence = call(operator, settings)
            if sentence and ".poll()" not in sentence:
                assert_one_sentence(sentence)
        except AssertionError as error:
            pytest.fail(f"call {number}: twobone.{name}({settings}): {error}")
        refused, finished = refused + bool(sentence), finished + (not sentence)
    assert min(refused, finished) > CALLS // 20
