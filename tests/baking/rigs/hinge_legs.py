"""Legs whose joints are hinges, more or less, and what the add-on says of them beforehand."""

from tests.baking.checks.checking import RIG
from tests.baking.scenes import BoneShape
from twobone_addon.baking.hinges.hinges import curve_forecast
from twobone_addon.settings import BakeSettings


def leg(roll_upper=0.0, roll_lower=0.0, lean=0.0):
    """A straight leg down the Z axis in the plane YZ, bones rolled, with a foot; its bones lean out of the plane."""
    return (
        BoneShape("parent", (0, 0, 0), (0, 0, 1)),
        BoneShape("upper", (0, 0, 0), (lean, 0.1, -1), "parent", roll=roll_upper),
        BoneShape("lower", (lean, 0.1, -1), (2 * lean, 0, -1.75), "upper", connected=True, roll=roll_lower),
        BoneShape("foot", (2 * lean, 0, -1.75), (2 * lean, -0.3, -1.8), "lower", connected=True, roll=0.4),
    )


def forecast(**settings):
    return curve_forecast(BakeSettings(**{**RIG.names(), "plane": "YZ", **settings}))
