"""Settings are checked when built: nothing without a meaning gets in, nothing is clamped silently."""

import math
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.errors import SettingError
from twobone_addon.settings import OPTIONS, BakeSettings
from twobone_addon.settings.options import OptionKind

NUMBERS = [option for option in OPTIONS if option.kind is OptionKind.NUMBER]
CHOICES = [option for option in OPTIONS if option.kind is OptionKind.CHOICE]
TEXTS = [option for option in OPTIONS if option.kind in {OptionKind.OBJECT, OptionKind.BONE}]
SWITCHES = [option for option in OPTIONS if option.kind is OptionKind.SWITCH]

name = lambda option: option.name  # noqa: E731 - the ids of four parametrised tests


def refusal(**settings):
    with pytest.raises(SettingError) as caught:
        BakeSettings(**settings)
    return str(caught.value)


def test_the_defaults_are_allowed():
    BakeSettings()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("option", NUMBERS, ids=name)
def test_no_number_may_be_infinite_or_none_at_all(option, value):
    assert option.label in refusal(**{option.name: value})


@pytest.mark.parametrize("value", ["1", None, True, [1.0]], ids=str)
@pytest.mark.parametrize("option", NUMBERS, ids=name)
def test_a_number_is_a_number(option, value):
    assert option.label in refusal(**{option.name: value})


@pytest.mark.parametrize("option", NUMBERS, ids=name)
def test_numbers_out_of_range_are_refused_and_never_clamped(option):
    for bound, outside in ((option.minimum, -1), (option.maximum, 1)):
        if math.isfinite(bound):
            sentence = refusal(**{option.name: math.nextafter(bound, outside * math.inf)})
            assert option.label in sentence
            assert "Use" in sentence
    if option.above:
        assert "above" in refusal(**{option.name: option.minimum})


@pytest.mark.parametrize("option", NUMBERS, ids=name)
def test_numbers_at_the_ends_of_their_range_are_allowed_and_may_be_whole(option):
    for bound in (option.minimum, option.maximum):
        if math.isfinite(bound) and not (option.above and bound == option.minimum):
            assert getattr(BakeSettings(**{option.name: bound}), option.name) == bound
    whole = math.ceil(option.default) if math.ceil(option.default) <= option.maximum else math.floor(option.default)
    assert getattr(BakeSettings(**{option.name: whole}), option.name) == whole


@pytest.mark.parametrize("option", NUMBERS, ids=name)
def test_a_number_too_large_to_compute_with_is_refused(option):
    assert option.label in refusal(**{option.name: 10**400})


@pytest.mark.parametrize("option", CHOICES, ids=name)
def test_an_unknown_choice_is_refused_with_those_there_are(option):
    sentence = refusal(**{option.name: "NOWHERE"})
    assert all(choice.value in sentence for choice in option.choices)


@pytest.mark.parametrize("option", TEXTS + CHOICES, ids=name)
def test_names_and_choices_are_texts(option):
    assert "string" in refusal(**{option.name: 3})


@pytest.mark.parametrize("option", SWITCHES, ids=name)
def test_a_switch_is_true_or_false(option):
    assert "true or false" in refusal(**{option.name: 1})


def test_an_end_before_the_start_is_refused_only_where_it_counts():
    assert "ends before it starts" in refusal(frame_range="CUSTOM", frame_start=2.0, frame_end=1.5)
    BakeSettings(frame_start=2.0, frame_end=1.5)
    BakeSettings(frame_range="CUSTOM", frame_start=2.0, frame_end=2.0)


@given(st.floats(-3, 3), st.floats(-3, 3))
def test_limits_are_in_order(low, high):
    for joint in ("upper", "lower"):
        limits = {f"{joint}_min": low, f"{joint}_max": high}
        if low > high:
            assert "Swap" in refusal(**limits)
        else:
            BakeSettings(**limits)


def test_settings_cannot_be_changed_behind_ones_back():
    with pytest.raises(FrozenInstanceError):
        BakeSettings().step = 2.0


@pytest.mark.parametrize("option", OPTIONS, ids=name)
def test_every_option_says_what_it_is_as_blenders_own_do(option):
    assert option.label
    assert option.text[0].isupper()
    assert not option.text.endswith(".")
    assert getattr(BakeSettings(), option.name) == option.default
    if option.kind is OptionKind.CHOICE:
        assert option.default in {choice.value for choice in option.choices}
