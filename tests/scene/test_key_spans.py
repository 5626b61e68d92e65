"""Which keys are in spans of frames: told of all spans at once, the same as of one after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from twobone_addon.scene.keys.tables import are_within, are_within_any

FRAMES = st.lists(st.integers(-400, 400), unique=True, max_size=40).map(lambda each: np.array(sorted(each), np.float32) / 4)
SPANS = st.lists(st.tuples(st.integers(-100, 100), st.integers(0, 30)).map(lambda each: (each[0], each[0] + each[1])), max_size=8)


@given(FRAMES, SPANS)
def test_a_key_is_in_some_span_if_it_is_in_one_of_them(frames, spans):
    one_by_one = [any(are_within(frame[None], *span)[0] for span in spans) for frame in frames]
    assert are_within_any(frames, spans).tolist() == one_by_one
