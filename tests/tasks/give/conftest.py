"""What all tests of targets that take over a leg's motion begin with."""

import pytest

from tests.tasks.give.swinging_leg import swinging_leg


@pytest.fixture
def leg(empty_file):
    """A leg that swings by keys, a target and a pole."""
    return swinging_leg()
