"""Characters as other programs build them: no wrong limb, none missing, also with random names and however they lie."""

import pytest

from tests.core.limbs.builder import found, renamed
from tests.core.limbs.characters import ALL
from tests.core.limbs.poses import lying_anyhow
from tests.core.limbs.things import NONE

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
    assert found(lying_anyhow(skeleton, seed)) == limbs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", sorted(set(EVERY) - {"spider", "low_spider"}))
def test_left_is_told_from_right_however_nameless_characters_lie(name, seed):
    """By their toes, knees, elbows or heads; of a spider nothing says where its front is."""
    skeleton, limbs = limbs_of(name)
    nameless, before = renamed(lying_anyhow(skeleton, seed), seed)
    assert {(kind, side, *(before[bone] for bone in bones)) for kind, side, *bones in found(nameless)} == limbs
