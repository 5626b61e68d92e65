"""Characters as other programs build them: no wrong limb, none missing, also with random names and however they lie."""

import numpy as np
import pytest

from tests.limbs.builder import found, moved, renamed
from tests.limbs.characters import ALL
from tests.limbs.things import NONE

EVERY = {**ALL, **{name: (make, set()) for name, make in NONE.items()}}


def limbs_of(name):
    make, limbs = EVERY[name]
    return make().skeleton(), limbs


@pytest.mark.parametrize("name", EVERY)
def test_the_limbs_and_nothing_else(name):
    skeleton, limbs = limbs_of(name)
    assert found(skeleton) == limbs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EVERY)
def test_random_names_change_nothing(name, seed):
    skeleton, limbs = limbs_of(name)
    nameless, before = renamed(skeleton, seed)
    again = {(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(nameless)}
    assert again == limbs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EVERY)
def test_lying_anyhow_changes_nothing(name, seed):
    skeleton, limbs = limbs_of(name)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn)) * 10.0 ** (seed - 1)
    assert found(moved(skeleton, turn, offset=(1.0, 2.0, 3.0))) == limbs
