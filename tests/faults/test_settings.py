"""Any values of any settings: either a finite report, or one sentence and nothing changed."""

import math

import bpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.attacking import bake_all, make_leg, report_or_refusal, store_leg
from twobone_addon.settings import OPTIONS
from twobone_addon.settings.options import OptionKind

LARGEST = 3.4e38
"""Of single precision, in which Blender holds numbers; the smallest is 1e-45."""

ODD_NUMBERS = (math.nan, math.inf, -math.inf, LARGEST, -LARGEST, 1e9, -1.0, 0.0, -0.0, 1e-45, 1e-9)
ODD_TEXTS = ("", "Nobody", "Rig", "Target", "upper", "lower", "parent", 'a"]["b', "\\", "\n", "腕 🦾", "x" * 300)
NAMES = {OptionKind.OBJECT: ("Target", "Other"), OptionKind.BONE: ("parent", "upper", "lower", "")}
FEW_FRAMES = 40.0
SHORTEST_STEP = 0.125


def numbers(option):
    """Mostly what a person may mean, now and then what has no meaning."""
    low = SHORTEST_STEP if option.name == "step" else max(option.minimum, -FEW_FRAMES)
    return st.one_of(
        st.just(option.default),
        st.floats(low, min(option.maximum, FEW_FRAMES), width=32, exclude_min=option.above and low == option.minimum),
        st.sampled_from(ODD_NUMBERS),
    )


def values(option):
    if option.kind is OptionKind.NUMBER:
        return numbers(option)
    if option.kind is OptionKind.SWITCH:
        return st.booleans()
    if option.kind is OptionKind.CHOICE:
        return st.sampled_from([choice.value for choice in option.choices])
    return st.one_of(st.sampled_from(NAMES[option.kind]), st.sampled_from(NAMES[option.kind]), st.sampled_from(ODD_TEXTS))


FOUND = {"armature", "upper", "lower", "target"}
"""Without these there is no bake; they are spoiled now and then only."""

given_settings = st.fixed_dictionaries({}, optional={each.name: values(each) for each in OPTIONS if each.name not in FOUND})
spoiled = st.fixed_dictionaries({}, optional={each.name: values(each) for each in OPTIONS if each.name in FOUND})

fuzz = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def make_scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    rig, target = make_leg()
    other = bpy.data.objects.new("Other", None)
    bpy.context.scene.collection.objects.link(other)
    other.location = (0.4, 0.3, 0.2)
    return rig, target


@fuzz
@given(given_settings)
def test_any_settings_of_the_operator(registered_addon, wanted):
    make_scene()
    report_or_refusal(**{"target": "Target", "pole": "Other", "plane_object": "Other", **wanted})


@fuzz
@given(given_settings, spoiled)
def test_any_names_of_armature_bones_and_target(registered_addon, wanted, names):
    make_scene()
    report_or_refusal(**{"target": "Target", **wanted, **names})


@fuzz
@given(given_settings)
def test_any_settings_of_a_stored_chain(registered_addon, wanted):
    rig, target = make_scene()
    objects = {name: bpy.data.objects.get(wanted.get(name, "Other")) for name in ("pole", "plane_object")}
    store_leg(rig, target, **{**wanted, **objects})
    report_or_refusal(bake_all)
