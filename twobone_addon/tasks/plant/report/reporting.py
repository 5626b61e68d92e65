"""Measure planted feet, before and after, and make their report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ....core.array_types import Array, Codes, Mask
from ....core.arrays import every_row, magnitude
from ....core.audit import STEP, may_skate, metre, pops, stances_of, standing_speed
from ....core.contacts.skating import skate_share
from ....core.contacts.states import Contact, contacts_of_states, on_ball, on_heel, runs
from ....core.curves.frames import ranges
from ....core.planting.cycles import round_way, ways_gone
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.ground import Ground
from ....core.planting.pins import Pin
from ....pipeline.motion.plan_motion import points
from ....pipeline.proof import VisibleEnd, visible_end
from ....pipeline.report.reporting import along_notes
from ....pipeline.report.reports import Visible
from ....records import replace
from ....said import Sentence, note
from ....scene.lookup import object_named
from ....scene.rig.constraints import acts_on
from ....scene.rig.rest_reading import scaled_bone_above
from ....scene.sampling.quantities import Quantity, Samples
from ....scene.visible.skin import Skins
from ....settings.tasks import AuditSettings
from ...find_contacts.task import steps
from ..keys.curves import ChannelPieces
from ..plan.contacts import floor_at_rest, ground_after
from ..plan.feet import LegMotion
from ..plan.planning import LegPlan, PlantingPlan
from ..pose.standing import LARGE_REPAIR, Footing, LeftContact, Planted, PlantedLeg, least_moves
from .reports import LegReport, Lengths, PartlyPlanted, PlantedContact, PlantReport, RootReport, SlidingContact

SKATING_SPEED = 0.5
"""Metres per second; a standing point that is faster skates."""

LOW = 0.05
"""Height above the ground, relative to leg length, from which a point is in the air and does not skate."""


@dataclass(frozen=True, slots=True)
class LegTrack:
    """The evaluated motion of one leg in world space."""

    frames: Array
    """`(M,)` frames and subframes."""
    heels: Array
    """`(M, 3)` positions."""
    balls: Array
    """`(M, 3)` positions."""
    joints: Array
    """`(M, 3, 3)` positions of hip, knee and ankle."""

    def at(self, frames: Array) -> LegTrack:
        """The track at some of its frames."""
        rows = np.searchsorted(self.frames, frames)
        return LegTrack(frames, self.heels[rows], self.balls[rows], self.joints[rows])


def foot_pose(leg: LegPlan) -> Quantity:
    """The pose quantity of the bone that carries heel and ball."""
    return leg.plan.end_pose or leg.plan.poses[-1]


def proof_quantities(plan: PlantingPlan) -> list[Quantity]:
    """The quantities to sample for the tracks of all legs."""
    quantities = []
    for leg in plan.legs:
        carriers = [leg.plan.pose(index) for index in (*leg.plan.rest.turning, len(leg.plan.rest.bones) - 1)]
        quantities += [leg.plan.armature_world, foot_pose(leg), *carriers]
    return list(dict.fromkeys(quantities))


def proof_frames(plan: PlantingPlan, states: list[Codes]) -> Array:
    """All frames, and the quarter frames during which a foot stands."""
    measured = np.zeros(len(plan.samples), dtype=bool)
    measured[::SAMPLES_PER_FRAME] = True
    for leg_states in states:
        for first, last in runs(leg_states > 0):
            measured[first * SAMPLES_PER_FRAME : last * SAMPLES_PER_FRAME] = True
    return plan.samples[measured]


def track(leg: LegPlan, samples: Samples) -> LegTrack:
    """The track of one leg at the frames of the samples."""
    count, plan = len(samples.frames), leg.plan
    world = samples[plan.armature_world]
    foot = samples[foot_pose(leg)]
    last = samples[plan.poses[-1]]
    places = [*(samples[plan.pose(index)][:, :3, 3] for index in plan.rest.turning), points(last, plan.rest.tip)]
    joints = np.stack([every_row(points(world, place), count) for place in places], axis=1)
    heels, balls = (every_row(points(world, points(foot, offset)), count) for offset in (leg.points.heel, leg.points.ball))
    return LegTrack(samples.frames, heels, balls, joints)


def knee_acceleration(leg_track: LegTrack, frames_per_second: float) -> Array:
    """Angular acceleration of the knee `(F - 2,)` in radians per second squared, for a track at every frame."""
    upper, lower = leg_track.joints[:, 1] - leg_track.joints[:, 0], leg_track.joints[:, 2] - leg_track.joints[:, 1]
    angles = np.arctan2(magnitude(np.cross(upper, lower)), np.sum(upper * lower, axis=-1))
    return np.diff(angles, 2) * frames_per_second**2


def slides(leg_track: LegTrack, frames: Array, place: Array, *, is_ball: bool) -> tuple[float, float]:
    """Largest distances of a point from its pin `place` `(3,)`: at the frames of a contact, and at all its sampled subframes."""
    rows = slice(np.searchsorted(leg_track.frames, frames[0]), np.searchsorted(leg_track.frames, frames[-1], side="right"))
    away = magnitude((leg_track.balls if is_ball else leg_track.heels)[rows] - place)
    return float(away[np.isin(leg_track.frames[rows], frames)].max(initial=0.0)), float(away.max(initial=0.0))


def repair(before: LegTrack, after: LegTrack, frames: Array, *, is_ball: bool) -> float:
    """Largest distance of a point after planting from its place before, at the frames of a contact."""
    old, new = before.at(frames), after.at(frames)
    return float(magnitude(new.balls - old.balls if is_ball else new.heels - old.heels).max(initial=0.0))


def frames_within(frames: Array, contact: PlantedContact | Contact) -> Array:
    """Those of the range's frames `(F,)` that a contact has; their steps are not whole where the ends of the range are none."""
    return frames[(frames >= contact.first) & (frames <= contact.last)]


def slid_more(
    contacts: Sequence[PlantedContact], frames: Array, before: LegTrack, after: LegTrack, *, tolerated: float
) -> list[SlidingContact]:
    """The contacts in which a standing point goes farther from where it stands down than it did before, by more than tolerated.

    Pins do not tell that, where a foot stood still beside its pin.
    """
    sliding = []
    for contact in contacts:
        within = frames_within(frames, contact)
        old, new = before.at(within), after.at(within)
        pairs = [(old.balls, new.balls)] if contact.point != "HEEL" else []
        pairs += [(old.heels, new.heels)] if contact.point != "BALL" else []
        slides_of = [tuple(float(magnitude(places - places[0]).max()) for places in pair) for pair in pairs]
        then, now = max(slides_of, key=lambda pair: pair[1] - pair[0])
        if now - then > tolerated:
            sliding.append(SlidingContact(contact.first, contact.last, then, now))
    return sliding


LIKELY = 0.5
"""Part of the slide that Audit tolerates from which on a contact held in part is worth being found again."""


def partly_planted(
    leg: PlantedLeg, given: Codes, after: LegTrack, rate: float, *, left: Sequence[LeftContact], tolerated: float
) -> list[PartlyPlanted]:
    """The `given` contacts `(F,)` that the planted leg holds only in part and over which it slides by more than tolerated.

    Contacts that are `left` are said as such: in a cycle they may begin with the end of one that is held.
    """
    partly, places = [], np.stack([after.heels, after.balls])
    for first, last in runs(given > 0):
        held = leg.states[first : last + 1] > 0
        is_left = any(contact.first <= after.frames[last] and after.frames[first] <= contact.last for contact in left)
        if held.any() and not held.all() and not is_left:
            whole = np.zeros_like(given)
            whole[first : last + 1] = given[first : last + 1]
            slide = max((stance.slide for stance in stances_of(places, places[..., 2], whole, rate)), default=0.0)
            if slide > tolerated:
                partly.append(PartlyPlanted(float(after.frames[first]), float(after.frames[last]), slide))
    return partly


def skating(
    leg_track: LegTrack, over: tuple[Array, Array], states: Codes, *, low: float, fast: float, frames_per_second: float
) -> float:
    """Share of the frames on the ground at which a standing point is lower than `low` and faster than `fast`, in world units.

    over : (F,) heights of the heel and of the ball above the ground
    """
    stands = np.zeros(len(states), dtype=bool)
    skates = np.zeros(len(states), dtype=bool)
    for places, heights, on in zip((leg_track.heels, leg_track.balls), over, (on_heel(states), on_ball(states)), strict=True):
        stands |= on
        speeds = magnitude(np.diff(places, axis=0)) * frames_per_second
        # The step with which a point lands or lifts is no skating.
        stays = on[:-1] & on[1:]
        skates[:-1] |= stays & (speeds > fast) & (heights[:-1] < low)
    return float(np.count_nonzero(skates)) / max(1, int(np.count_nonzero(stands)))


def penetration(heels: Array, balls: Array) -> float:
    """Largest depth of the sole below the ground, from its heights `(F,)` above the ground under heel and under ball."""
    return max(0.0, float(-heels.min()), float(-balls.min()))


def standing(states: Codes) -> Mask:
    """Mask `(F,)` of the frames at which heel or ball is on the ground."""
    return on_heel(states) | on_ball(states)


VISIBLE_SLIDE = 2e-4
"""Slide up to which a planted foot visibly stands still, relative to leg length."""

CAUSE_SHARE = 0.3
"""Smallest change of a foot's shape, relative to its slide, that is named as the cause."""


OF_BONE = (
    'The scale of bone "{scaled}" changes the shape of bone "{bone}" while it stands, so it still slides. '
    'Set Inherit Scale of bone "{bone}" to None.'
)

ABOVE = (
    'The scale above bone "{bone}" changes its shape while it stands, so it still slides. '
    "Scale the character evenly, and without keys."
)


CONSTRAINED = 'Constraints of bone "{bone}" act on top of the keys, so the foot still slides. Mute them first.'


def sliding_causes(leg: LegMotion, contacts: Sequence[PlantedContact], after: Samples | None) -> list[Sentence]:
    """Note the cause of a visible slide in the evaluated motion; nothing without such a slide or without a known cause."""
    sliding = [contact for contact in contacts if (contact.slide_after or 0.0) > VISIBLE_SLIDE * leg.length]
    if after is None or not sliding:
        return []
    plan = leg.leg.plan
    armature = object_named(plan.names.armature)
    foot = foot_pose(leg.leg).bone
    turned = [*(plan.rest.bones[index].name for index in plan.rest.turning), foot]
    constrained = next((name for name in turned if acts_on(armature.pose.bones[name])), None)
    if constrained is not None:
        return [note(CONSTRAINED, bone=constrained)]
    if not any(_shape_change(leg, contact, after) >= CAUSE_SHARE * (contact.slide_after or 0.0) for contact in sliding):
        return []
    bone = scaled_bone_above(armature, foot)
    if bone is None:
        return [note(ABOVE, bone=foot)]
    return [note(OF_BONE, scaled=bone, bone=foot)]


def _shape_change(leg: LegMotion, contact: PlantedContact, after: Samples) -> float:
    """Largest change of a distance between ankle, heel and ball during a contact, world units."""
    rows = (after.frames >= contact.first) & (after.frames <= contact.last)
    world, foot = (after.every(matrices)[rows, :3, :3] for matrices in (leg.leg.plan.armature_world, foot_pose(leg.leg)))
    points = leg.leg.points
    vectors = np.stack([points.heel, points.ball, points.ball - points.heel])
    lengths = magnitude(np.einsum("fij,pj->fpi", world @ foot, vectors))
    return float(np.ptp(lengths, axis=0).max(initial=0.0))


def cycle_gap(tracks: Sequence[tuple[LegTrack, LegTrack]], leg_length: float, travel: Array) -> float | None:
    """Largest distance of a leg's point at the last frame from its place by the first pose, world units.

    `None` if the motion was no cycle, that is if its last pose differed from its first by more than a common displacement.

    tracks : tracks of each leg in world space, before and after
    travel : (3,) added root motion from the first frame to the last
    """
    before, after = (
        np.concatenate([ways_gone(leg.joints, leg.heels, leg.balls) for leg in side]) for side in zip(*tracks, strict=True)
    )
    if round_way(before, leg_length) is None:
        return None
    return float(magnitude(after - before - travel).max())


def visible_ends(plan: PlantingPlan) -> list[VisibleEnd | None]:
    """The visible end of each leg; `None` where nothing deforms."""
    armature, skins = object_named(plan.armature), Skins()
    return [visible_end(armature, leg.plan.names, leg.plan.rest, skins) for leg in plan.legs]


def visible_leg(end: VisibleEnd | None, samples: Samples | None) -> Visible | None:
    """The visible bone of a leg; `samples` are those of its poses, `None` if nothing was sampled."""
    if end is None or samples is None or not end.is_doubtful:
        return None if end is None else Visible(end.shown.bone, end.shown.follows, None)
    apart = end.apart(samples)
    return Visible(end.shown.bone, apart is None, apart)


TOLERATED_SLIDE = 0.01
"""Leg lengths by which a foot may slide more in a contact than before: 9 mm of a leg of 0.9 m, where a foot rolls or turns."""

TOLERATED_DEPTH = 0.02
"""Tolerated depth of a standing sole below the surface, relative to leg length: soles are soft."""

REACHED = 2e-6
"""Distance by which a goal may be too far and still count as reached, relative to leg length: invisible and single precision."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The planted motion as Blender evaluates it."""

    samples: Samples | None
    """Samples of the new keys; `None` without verification."""
    visible: list[Visible | None]
    """The visible bone of each leg; `None` where nothing deforms."""


def plant_report(
    footing: Footing,
    planted: Planted,
    before: Samples,
    proof: Proof,
    keys: Sequence[ChannelPieces],
    *,
    given: Sequence[Codes],
    travel: Array,
    root_motion: str,
) -> PlantReport:
    """Make the report from the samples `before` planting, the contacts `given` to it, and the proof of the result."""
    plan, chains, track_pairs, places, moved, after = footing.plan, [], [], [], [], proof.samples
    lefts, over = planted.left or [()] * len(planted.legs), _over_floor(footing, planted, before)
    for leg, visible, left, leg_given, off in zip(planted.legs, proof.visible, lefts, given, over, strict=True):
        leg_plan = leg.before.leg
        paths = {path for path, _ in leg_plan.plan.keyed}
        written = [channel for channel in keys if channel.pieces[0].path in paths]
        # Root motion that is added takes the ground under the feet along.
        later = ground_after(footing.ground, travel)
        old, new = track(leg_plan, before.on(plan.samples)), None if after is None else track(leg_plan, after)
        then, now = _measured(footing, leg, footing.ground, old), None if new is None else _measured(footing, leg, later, new)
        track_pairs += [] if new is None else [(old, new)]
        places.append([then.places, *([] if now is None else [now.places])])
        moved += [] if now is None else [now]
        leg_report = _leg_report(footing, planted, leg, then, now, given=leg_given, left=left, keys=written)
        causes = sliding_causes(leg.before, leg_report.contacts, after)
        notes = [*leg_report.notes, *causes]
        chains.append(replace(leg_report, visible=visible, over_floor=off, notes=notes))
    root, notes = None, list(plan.notes)
    if plan.root is not None:
        written = [channel for channel in keys if channel.pieces[0].path == plan.root.path]
        notes += plan.root.notes if written else ()
        farthest = float(magnitude(planted.moves).max())
        least = float(magnitude(least_moves(planted)).max())
        root = RootReport(plan.root.name, farthest, count_keys(written), travel[-1].tolist(), root_motion, least)
    lengths = Lengths(plan.units, max(leg.before.length for leg in planted.legs))
    notes += _far_repairs(chains, lengths.leg)
    gap = cycle_gap(track_pairs, lengths.leg, travel[-1]) if track_pairs and not len(footing.cuts) else None
    shares = [skate_share(np.stack(of_legs), lengths.leg, plan.frames_per_second) for of_legs in zip(*places, strict=True)]
    return PlantReport(
        chains=chains,
        root=root,
        evaluation=before.evaluation,
        notes=notes,
        lengths=lengths,
        skate_share_before=shares[0],
        skate_share_after=shares[1] if track_pairs else None,
        still_skates=bool(moved) and _still_skates(plan, moved, given, lengths.leg),
        cycle_gap=gap,
    )


def _still_skates(plan: PlantingPlan, legs: Sequence[_Measures], given: Sequence[Codes], leg_length: float) -> bool:
    """Whether any of the planted legs skates, as Audit says it: in the contacts `given` to planting, or where it has none."""
    tracks, rate, units = (
        [leg.track.at(plan.frames) for leg in legs],
        plan.frames_per_second,
        metre(leg_length, 1.0 / plan.units.scale),
    )
    places = np.array([(track.heels, track.balls) for track in tracks])
    speed = standing_speed(places, np.array(given), units, rate)
    stances = [stances_of(points, points[..., 2], states, rate) for points, states in zip(places, given, strict=True)]
    most = AuditSettings().max_skate
    return any(leg.skate_share > most and may_skate(speed, stands=bool(stood)) for leg, stood in zip(legs, stances, strict=True))


ONE_FLOOR, ANOTHER_FLOOR = 0.1, 0.5
"""Leg lengths by which contacts on one floor may differ in height, half a step of stairs; and from which on feet stand on another
floor than that of the rest pose."""


def _over_floor(footing: Footing, planted: Planted, samples: Samples) -> list[float | None]:
    """For each leg, the height of its sole over the floor of the rest pose where that is farthest; see `LegReport.over_floor`."""
    legs, plan = [leg.before for leg in planted.legs], footing.plan
    known = footing.ground.surface is None and plan.contacts.settings.ground == "AUTO"
    if not known or not all(leg.leg.points.source in {"REST", "MESH", "BONE"} and leg.leg.points.is_stand for leg in legs):
        return [None] * len(legs)
    floor = floor_at_rest(plan, legs, samples.on(plan.samples))
    heights = [[float(pin.place[2]) - leg.before.ball_height * pin.is_ball - floor for pin in leg.pins] for leg in planted.legs]
    pins, length = [height for of_leg in heights for height in of_leg], max(leg.length for leg in legs)
    if not pins or max(pins) - min(pins) > ONE_FLOOR * length or abs(max(pins, key=abs)) > ANOTHER_FLOOR * length:
        return [None] * len(legs)
    return [max(of_leg, key=abs) if of_leg else None for of_leg in heights]


def count_keys(channels: Sequence[ChannelPieces]) -> int:
    """Number of keys of all channels."""
    return sum(len(piece.frames) for channel in channels for piece in channel.pieces)


def _leg_report(
    footing: Footing,
    planted: Planted,
    leg: PlantedLeg,
    then: _Measures,
    now: _Measures | None,
    *,
    given: Codes,
    left: Sequence[LeftContact],
    keys: Sequence[ChannelPieces],
) -> LegReport:
    plan, leg_plan, frames = footing.plan, leg.before.leg, footing.plan.frames
    before, after = then.track, None if now is None else now.track
    contacts = list(_contacts(footing, leg, before, after))
    return LegReport(
        armature=plan.armature,
        chain=leg_plan.chain,
        upper=leg_plan.plan.names.upper,
        lower=leg_plan.plan.names.lower,
        tip=leg_plan.plan.names.tip,
        frames=len(frames),
        frame_start=float(frames[0]),
        frame_end=float(frames[-1]),
        keys=count_keys(keys),
        channels=len(keys),
        contacts=contacts,
        skating_before=then.skating,
        skating_after=now.skating if now else None,
        skate_share_before=then.skate_share,
        skate_share_after=now.skate_share if now else None,
        out_of_reach=ranges(frames, _missed(leg, planted.moves) & standing(leg.states)),
        penetration_before=then.penetration,
        penetration_after=now.penetration if now else None,
        knee_acceleration_before=then.knee_acceleration,
        knee_acceleration_after=now.knee_acceleration if now else None,
        ball_acceleration_before=then.ball_acceleration,
        ball_acceleration_after=now.ball_acceleration if now else None,
        foot_turned=None if after is None else _turned(before.at(frames), after.at(frames)),
        max_departure=None if after is None else _departure(before.at(frames), after.at(frames)),
        notes=[
            *leg_plan.plan.notes,
            *along_notes(leg_plan.plan.feet_along, [channel.pieces[0].path for channel in keys]),
            *_stretched(leg),
            *_without_ground(footing, leg_plan.chain, leg.pins),
            *_inside_ground(footing, leg),
        ],
        left=list(left),
        max_stretch=float(leg.ratios.max()),
        slid_more=[]
        if after is None
        else slid_more(contacts, frames, before, after, tolerated=TOLERATED_SLIDE * leg.before.length),
        partly=[]
        if after is None
        else partly_planted(
            leg,
            given,
            after.at(frames),
            plan.frames_per_second,
            left=left,
            tolerated=LIKELY * AuditSettings().max_slide * leg.before.length,
        ),
    )


def _turned(before: LegTrack, after: LegTrack) -> float:
    """Largest angle between two tracks of a foot; 0 for a foot without length."""
    old, new = before.balls - before.heels, after.balls - after.heels
    return float(np.arctan2(magnitude(np.cross(old, new)), np.sum(old * new, axis=-1)).max(initial=0.0))


def _departure(before: LegTrack, after: LegTrack) -> float:
    return float(max(magnitude(after.heels - before.heels).max(), magnitude(after.balls - before.balls).max()))


def _stretched(leg: PlantedLeg) -> list[Sentence]:
    percent = 100.0 * (float(leg.ratios.max()) - 1.0)
    if not percent:
        return []
    return [note('"{chain}" stretches by up to {percent:.2g} %.', chain=leg.before.leg.chain, percent=percent)]


@dataclass(frozen=True, slots=True)
class _Measures:
    """Measurements of one leg, before or after planting."""

    track: LegTrack
    """With heels and balls in ground space."""
    skating: float
    penetration: float
    knee_acceleration: float
    ball_acceleration: float
    places: Array
    """`(F, 3)` positions of the ball in ground space, with its height above the ground."""
    skate_share: float


def _measured(footing: Footing, leg: PlantedLeg, ground: Ground, leg_track: LegTrack) -> _Measures:
    """Transform a leg's track to ground space and measure it at the frames; `ground` is sampled as the plan."""
    plan = footing.plan
    below = ground.at(np.searchsorted(plan.samples, leg_track.frames))
    whole = replace(leg_track, heels=below.into(leg_track.heels), balls=below.into(leg_track.balls))
    leg_track = whole.at(plan.frames)
    rate, fast = plan.frames_per_second, SKATING_SPEED / plan.units.scale
    heels, balls = footing.ground.over(leg_track.heels), footing.ground.over(leg_track.balls)
    low, places = LOW * leg.before.length, np.column_stack([leg_track.balls[:, :2], balls])
    return _Measures(
        whole,
        skating(leg_track, (heels, balls), leg.states, low=low, fast=fast, frames_per_second=rate),
        penetration(heels, balls - leg.before.ball_height),
        float(np.abs(knee_acceleration(leg_track, rate)).max(initial=0.0)),
        float(pops(leg_track.balls, rate).max()) / STEP**2,
        places,
        skate_share(places, leg.before.length, rate),
    )


def _without_ground(footing: Footing, chain: str, pins: Sequence[Pin]) -> list[Sentence]:
    """Note the first contact without any ground above or below it."""
    pin = next((pin for pin in pins if not footing.ground.is_below(pin.place)), None)
    if pin is None:
        return []
    frame = footing.plan.frames[pin.first]
    return [
        note(
            'There is no ground below "{chain}" at frame {frame:g}. The foot kept its height. Extend the ground mesh.',
            chain=chain,
            frame=frame,
        )
    ]


def _inside_ground(footing: Footing, leg: PlantedLeg) -> list[Sentence]:
    """Note the first contact at which a foot across an edge of the surface is partly inside the ground."""
    before = leg.before
    for pin in leg.pins if footing.ground.surface is not None else ():
        over = float(footing.ground.over(pin.place[None])[0]) - before.ball_height * pin.is_ball
        if over < -TOLERATED_DEPTH * before.length:
            return [
                note(
                    'The foot of "{chain}" stands partly inside the ground at frame {frame:g}, across an edge of it. '
                    "Move the ground or the character.",
                    chain=before.leg.chain,
                    frame=footing.plan.frames[pin.first],
                )
            ]
    return []


def _missed(leg: PlantedLeg, moves: Array) -> Array:
    """Mask `(F,)` of the frames at which the leg does not reach its ankle goal."""
    extensions = leg.before.extensions_for(leg.ankles - leg.before.joints[:, 0] - moves) / leg.ratios
    return (extensions > 1.0 + REACHED)[::SAMPLES_PER_FRAME]


def _far_repairs(chains: Sequence[LegReport], leg_length: float) -> list[Sentence]:
    """Note how many contacts have a repair that is large enough to be seen as another motion, and the largest of them."""
    far, count = [], 0
    for chain in chains:
        moved = [(contact.moved or 0.0, contact.first, contact.last, chain.chain) for contact in chain.contacts]
        moved = [entry for entry in moved if entry[0] > LARGE_REPAIR * leg_length]
        stances = steps((contact.first, contact.last) for contact in chain.contacts)
        count += sum(any(first <= at <= last for _, at, _, _ in moved) for first, last in stances)
        far += moved
    if not far:
        return []
    moved, first, last, name = max(far)
    return [
        note(
            'Contacts planted far from the animation: {count}; "{chain}" by {percent:.0f} % of the leg at frames '
            "{first:g}-{last:g}. Look at them, or lower Maximum Repair.",
            count=count,
            chain=name,
            percent=100.0 * moved / leg_length,
            first=first,
            last=last,
        )
    ]


def _contacts(footing: Footing, leg: PlantedLeg, before: LegTrack, after: LegTrack | None) -> Iterator[PlantedContact]:
    frames = footing.plan.frames
    takes = zip(np.split(leg.states, footing.cuts), np.split(frames, footing.cuts), strict=True)
    for contact in (contact for take in takes for contact in contacts_of_states(*take)):
        row = int(np.searchsorted(frames, contact.first))
        pins = [pin for pin in leg.pins if pin.first <= row <= pin.last]
        contact_pins = [pin for pin in pins if contact.point in ("BOTH", "BALL" if pin.is_ball else "HEEL")]
        within = frames_within(frames, contact)
        old = [slides(before, within, pin.place, is_ball=pin.is_ball) for pin in contact_pins]
        new = None if after is None else [slides(after, within, pin.place, is_ball=pin.is_ball) for pin in contact_pins]
        yield PlantedContact(
            contact.first,
            contact.last,
            contact.point,
            height=min(float(pin.place[2]) for pin in contact_pins),
            slide_before=max(at for at, _ in old),
            slide_after=None if new is None else max(at for at, _ in new),
            slide_between_before=max(between for _, between in old),
            slide_between=None if new is None else max(between for _, between in new),
            moved=None if after is None else max(repair(before, after, within, is_ball=pin.is_ball) for pin in contact_pins),
        )
