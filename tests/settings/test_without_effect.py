"""Settings that change nothing beside the others are found, each with a sentence; the others are not."""

import pytest

from twobone_addon.settings import OPTION, OPTIONS, BakeSettings
from twobone_addon.settings.options import without_effect


@pytest.mark.parametrize(
    "given, sentence",
    [
        ({"softness": 0.5}, "Softness has no effect: Reach is Clamp, not Soften or Stretch."),
        ({"tolerance": 0.5}, "Tolerance has no effect: Keys is Every Frame, not Reduce."),
        ({"upper_min": -0.1}, "Upper Minimum has no effect: Joint Limits is off, not on."),
        ({"pole": "Pole"}, "Pole has no effect: Plane is Automatic, not Pole."),
        ({"frame_end": 9.0}, "End has no effect: Frame Range is Scene, not Custom."),
        ({"keys": "TARGET_KEYS", "step": 3.0}, "Step has no effect: Keys is Target's Keys, not Every Frame or Reduce."),
        ({"reach": "SOFTEN"}, "Reach Soften has no effect: Softness and Softness Near are both 0."),
        (
            {"reach": "STRETCH", "stretch_max": 1.0},
            "Reach Stretch has no effect: Stretch Maximum and Compress Minimum are both 1.",
        ),
        ({"use_limits": True}, "Joint Limits has no effect: all limits are +/-180 degrees."),
    ],
    ids=str,
)
def test_a_setting_that_changes_nothing_is_named_with_its_reason(given, sentence):
    assert [said.text() for said in without_effect(BakeSettings(**given), given).values()] == [sentence]


@pytest.mark.parametrize(
    "given",
    [
        {"reach": "SOFTEN", "softness": 0.5},
        {"reach": "STRETCH", "softness": 0.5, "stretch_max": 2.0},
        {"use_limits": True, "upper_min": -0.1},
        {"plane": "POLE", "pole": "Pole", "pole_angle": 1.0},
        {"frame_range": "CUSTOM", "frame_start": 5.0, "frame_end": 9.0},
        {"keys": "REDUCE", "tolerance": 0.5, "step": 2.0},
        {"influence": 0.0, "min_distance": 1.0, "key_before": True},
        {"reach": "SOFTEN", "softness_near": 0.5},
        {"reach": "CLAMP"},
        {"reach": "STRETCH", "compress_min": 0.5},
        {"use_limits": False},
        {"softness": 0.0, "tolerance": BakeSettings().tolerance, "pole": ""},
    ],
    ids=str,
)
def test_a_setting_that_makes_a_difference_is_not_named(given):
    assert without_effect(BakeSettings(**given), given) == {}


def test_several_are_named_once_each_in_the_order_of_the_interface():
    order = [option.name for option in OPTIONS]
    given = {"tolerance": 0.5, "softness": 0.5, "pole": "Pole", "frame_end": 9.0}
    found = list(without_effect(BakeSettings(**given), [*given, *reversed(given)]))
    assert found == sorted(given, key=order.index)


def test_what_nobody_gave_is_not_named():
    assert without_effect(BakeSettings(softness=0.5), {"reach"}) == {}


def test_every_setting_names_another_setting_and_values_that_it_can_have():
    for option in OPTIONS:
        if option.needs is not None:
            other = OPTION[option.needs.setting]
            known = {choice.value for choice in other.choices} or {True, False}
            assert set(option.needs.values) < known, option.name
