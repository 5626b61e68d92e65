"""Legs whose joints are hinges, more or less, and what the add-on says of them beforehand."""

from tests.tasks.checks.checking import RIG
from tests.tasks.scenes import BoneShape
from twobone_addon.settings import BakeSettings
from twobone_addon.tasks.align import curve_forecast


def rolled_leg(roll_upper=0.0, roll_lower=0.0, lean=0.0):
    """A straight leg down the Z axis in the plane YZ, bones rolled, with a foot; its bones lean out of the plane."""
    return (
        BoneShape("parent", (0, 0, 0), (0, 0, 1)),
        BoneShape("upper", (0, 0, 0), (lean, 0.1, -1), "parent", roll=roll_upper),
        BoneShape("lower", (lean, 0.1, -1), (2 * lean, 0, -1.75), "upper", connected=True, roll=roll_lower),
        BoneShape("foot", (2 * lean, 0, -1.75), (2 * lean, -0.3, -1.8), "lower", connected=True, roll=0.4),
    )


def forecast(**settings):
    """How many curves a bake takes, and the sentences that say why."""
    count, reasons = curve_forecast(BakeSettings(**{**RIG.names(), "plane": "YZ", **settings}))
    return count, tuple(reason.text() for reason in reasons)
