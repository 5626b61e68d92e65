"""What is measured: one definition for each word. Pages take it from here, and each measured field of a report has one word.

Where two things are measured that people would call by one word, they have two: a *slide* is from the pin, a *slide a contact*
from the first third of a contact to its last, *skating* is among frames on the ground, the *skate share* among low frames.
"""

from __future__ import annotations

from dataclasses import dataclass

LENGTH, LIMB = "world units", "limb lengths"
DEGREES, RADIANS = "degrees", "radians"
SHARE = "0 to 1"
REPORTED = "baked frames"
STANDING = "frames of the contact"
QUARTERS = "frames of the contact and the quarters between"
RANGE = "all frames of the range"

OF_BAKES = ("bake", "inspect", "convert", "give")
EVERY_REPORT = (
    *OF_BAKES, "switch", "clear", "align", "find_limbs", "find_contacts", "import_contacts", "export_contacts", "plant",
    "finish_retarget", "fit_root", "nudge", "audit",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measure:
    """One word for one thing that is measured."""

    word: str
    kinds: tuple[str, ...]
    """Reports that have it."""
    fields: tuple[str, ...]
    """Names of the fields that have its value, with the field that they are in where another has the name too."""
    formula: str
    frames: str
    """Frames at which it is measured."""
    unit: str


MEASURES = (
    Measure(
        "error", OF_BAKES, ("max_error", "mean_error"),
        "tip to the target's projection on the plane", "baked frames in reach", LENGTH,
    ),
    Measure(
        "goal error", OF_BAKES, ("max_goal_error",),
        "tip to its goal after clamping, softening and limits", REPORTED, LENGTH,
    ),
    Measure(
        "goal error", ("nudge",), ("max_error",),
        "tip to its goal, the old place plus the nudge", "keyed frames in reach", LENGTH,
    ),
    Measure(
        "missed by", ("nudge",), ("max_missed",),
        "tip to its goal, the old place plus the nudge", "keyed frames out of reach", LENGTH,
    ),
    Measure("nudged by", ("nudge",), ("nudged_by",), "tip from its place without nudges", "the nudge's frame", LENGTH),
    Measure("off the plane", OF_BAKES, ("max_off_plane",), "joint to the plane through the root joint", REPORTED, LENGTH),
    Measure(
        "distance to the target, off", OF_BAKES, ("max_distance_to_target",),
        "tip to the target itself", REPORTED, LENGTH,
    ),
    Measure(
        "beside the plane", OF_BAKES, ("target_off_plane",),
        "part of the distance to the target across the plane", REPORTED, LENGTH,
    ),
    Measure("between frames", OF_BAKES, ("between_frames",), "tip to the target itself", "between the baked frames", LENGTH),
    Measure(
        "drift", OF_BAKES, ("max_drift", "max_drift_middle"),
        "joint with fewer keys to joint with a key on every frame", RANGE, LENGTH,
    ),
    Measure(
        "twist", OF_BAKES, ("max_twist",),
        "rotation of a bone about itself in its joint against the pose before", REPORTED, DEGREES,
    ),
    Measure(
        "visible distance", (*OF_BAKES, "plant"), ("max_distance",),
        "end of the visible limb to where it belongs", REPORTED, LENGTH,
    ),
    Measure("moved", ("convert",), ("max_moved",), "any point of the limb's bones from its place before", REPORTED, LENGTH),
    Measure(
        "moved", ("switch",), ("max_moved",),
        "visible joint from its place before", "all frames of the parts that were switched", LENGTH,
    ),
    Measure(
        "moved outside", EVERY_REPORT, ("max_moved_outside",),
        "any point of a touched bone or object from its place before", "some frames outside the new keys", LENGTH,
    ),
    Measure(
        "round trip", ("give", "plant"), ("max_round_trip",),
        "joint by a bake with the new target from the joint", REPORTED, LENGTH,
    ),
    Measure(
        "end rotation", ("give",), ("max_end_turn",),
        "rotation of the bone at the tip by such a bake", REPORTED, DEGREES,
    ),
    Measure("slide", ("plant",), ("slide_before", "slide_after"), "standing point to its pin", STANDING, LENGTH),
    Measure(
        "slide", ("plant", "finish_retarget"), ("slide_between_before", "slide_between"),
        "standing point to its pin", QUARTERS, LENGTH,
    ),
    Measure(
        "off the floor", ("plant",), ("over_floor",),
        "standing sole over the floor of the rest pose, below it negative, where it is farthest from it", STANDING, LENGTH,
    ),
    Measure(
        "slide a contact", ("audit", "plant"), ("slide",),
        "mean place of a standing point in the last third of the contact from that in the first; of several contacts the median",
        STANDING, f"{LENGTH}; of all feet {LIMB}",
    ),
    Measure("repair, moved", ("plant",), ("moved",), "standing point from its place before planting", STANDING, LENGTH),
    Measure(
        "repair, moved", ("find_contacts", "import_contacts", "export_contacts"), ("moved",),
        "standing point from where it would be planted", STANDING, LENGTH,
    ),
    Measure("departure", ("plant",), ("max_departure",), "heel or ball from its place before planting", RANGE, LENGTH),
    Measure("departure", ("audit",), ("departure",), "heel or ball from its place before planting", RANGE, LIMB),
    Measure(
        "travel", ("find_contacts", "import_contacts", "export_contacts", "plant"), ("travel",),
        "standing point from where it is at the first frame, over its ground", STANDING, LENGTH,
    ),
    Measure(
        "skating", ("plant",), ("skating_before", "skating_after"),
        "standing points under 5 % of the leg that move over 0.5 m a second", "frames on the ground", SHARE,
    ),
    Measure(
        "skate share", ("plant", "audit", "finish_retarget"),
        ("skate_share", "skate_share_before", "skate_share_after", "skate_share_source"),
        "balls that move over 0.56 legs a second", "frames with the ball low: 5.6 % of the leg over its lowest 2 %", SHARE,
    ),
    Measure("depth", ("plant",), ("penetration_before", "penetration_after"), "sole below the ground", RANGE, LENGTH),
    Measure("sinking", ("audit",), ("sinking",), "sole below the floor", "all frames but the deepest hundredth", LENGTH),
    Measure("sinking share", ("audit",), ("sinking_share",), "soles deeper than the limit", RANGE, SHARE),
    Measure(
        "floating", ("audit",), ("floating",),
        "median height of standing soles over the floor", "contacts", f"{LENGTH}; of all feet {LIMB}",
    ),
    Measure("floating share", ("audit",), ("floating_share",), "soles higher than the limit", "frames on the ground", SHARE),
    Measure(
        "sole's error", ("finish_retarget",), ("sole_before", "sole_after"),
        "height of the sole against the source's, scaled; 95th percentile", RANGE, LENGTH,
    ),
    Measure(
        "palms' error", ("finish_retarget",), ("palms_off",),
        "distance of the palms against the source's, scaled; median", "frames at which palms are near", LENGTH,
    ),
    Measure("scale", ("finish_retarget",), ("scale",), "length of the legs to that of the source's legs", RANGE, "ratio"),
    Measure(
        "facing", ("finish_retarget",), ("angle",),
        "heading of the source to that of the character about the vertical", RANGE, DEGREES,
    ),
    Measure(
        "move of the root", ("plant", "fit_root", "finish_retarget"), ("max_move",),
        "root from its place before", RANGE, LENGTH,
    ),
    Measure(
        "least move", ("plant", "fit_root"), ("least_move",),
        "least that standing feet require with legs at full length", RANGE, LENGTH,
    ),
    Measure(
        "root motion", ("plant", "fit_root"), ("root.travel",),
        "motion added to the root from the first frame to the last", "first and last frame", LENGTH,
    ),
    Measure(
        "gap", ("plant",), ("cycle_gap",),
        "joint at the last frame from its place at the first", "first and last frame", LENGTH,
    ),
    Measure(
        "loop gap", ("audit",), ("loop_gap",),
        "joint at the last frame from its place at the first, about the root", "first and last frame", LIMB,
    ),
    Measure(
        "loop speed gap", ("audit",), ("loop_speed_gap",),
        "velocity at the last frame from that at the first, about the root", "first and last frame", f"{LIMB} a second",
    ),
    Measure(
        "knee acceleration", ("plant",), ("knee_acceleration_before", "knee_acceleration_after"),
        "second difference of the knee's angle", RANGE, f"{RADIANS} per second squared",
    ),
    Measure(
        "ball acceleration", ("plant",), ("ball_acceleration_before", "ball_acceleration_after"),
        "second difference of the ball's place over a thirtieth of a second", RANGE, f"{LENGTH} per second squared",
    ),
    Measure(
        "foot turned", ("plant",), ("foot_turned",),
        "angle from heel to ball against that before planting", RANGE, RADIANS,
    ),
    Measure("stretch", ("plant",), ("max_stretch",), "length of the leg to its length before", RANGE, "ratio"),
    Measure(
        "knee pop", ("audit",), ("knee_pop", "knee_pop_worst"),
        "second difference of the bend over a thirtieth of a second: 99.5th percentile, and largest", RANGE, RADIANS,
    ),
    Measure("limb pop", ("audit",), ("limb_pop",), "second difference of middle joint and tip about the root", RANGE, LIMB),
    Measure("toe pop", ("audit",), ("toe_pop",), "second difference of the ball's place, 99.5th percentile", RANGE, LIMB),
    Measure(
        "foot pop", ("audit",), ("foot_pop",),
        "second difference of the direction from heel to ball, 99.5th percentile", RANGE, RADIANS,
    ),
    Measure("hyperextension", ("audit",), ("hyperextension",), "bend to the side opposite to the usual one", RANGE, RADIANS),
    Measure("stretched", ("audit",), ("stretched",), "limbs within a thousandth of their full length", RANGE, SHARE),
    Measure(
        "jitter", ("audit",), ("jitter",),
        "standard deviation of the noise of middle joint and tip about the root", RANGE, LIMB,
    ),
    Measure(
        "torn", ("audit",), ("torn",),
        "distance of a foot from the limb's end, more than before it was keyed", RANGE, LIMB,
    ),
    Measure("badness", ("audit",), ("badness",), "measure to its limit, the largest ratio", RANGE, "ratio"),
)  # fmt: skip
"""All words, each with the fields that have its value."""
