"""Every test gets the same random numbers on every run."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)
