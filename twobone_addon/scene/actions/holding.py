"""A property that every action keeps at a value of its own: without a key it would stay as the action before left it."""

from __future__ import annotations

import numpy as np

from ..blender_types import CurveBag
from ..keys.reading import is_keyed_to
from ..keys.tables import ChannelKeys
from ..keys.writing import write_keys
from ..versions import ensure_bag_of
from .finding import OwnAction, key_span


def is_held(own: OwnAction, path: str, value: float) -> bool:
    """Whether an action keeps the number at a data path at a value all along."""
    return is_keyed_to(own.bag, path, value)


def hold(own: OwnAction, path: str, value: float, group: str) -> bool:
    """Key the number at a data path in an action that has no curve for it; false where the action takes no keys."""
    if own.bag is not None and own.bag.fcurves.find(path) is not None:
        return True
    if not own.action.is_editable:
        return False
    span = key_span(own.action)
    first = span[0] if span else 0.0
    bag: CurveBag = ensure_bag_of(own.action, own.slot)
    write_keys(bag, [ChannelKeys(path, 0, group, np.array([first]), np.array([value]), "CONSTANT")], first, first)
    return True
