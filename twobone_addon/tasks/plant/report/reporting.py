"""Make the report of Plant Feet from a solution and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ....core.array_types import Array
from ....core.arrays import magnitude
from ....core.contacts.skating import skate_share
from ....core.contacts.states import contacts_of_states
from ....core.curves.frames import ranges
from ....core.planting.goals import SAMPLES_PER_FRAME
from ....core.planting.ground import Ground
from ....core.planting.pins import Pin
from ....pipeline.report.reports import Visible
from ....said import Sentence, note
from ....scene.sampling.quantities import Samples
from ..keys.curves import ChannelPieces
from ..plan.contacts import ground_after
from ..pose.standing import Footing, Planted, PlantedLeg, least_moves
from .causes import sliding_causes
from .cycles import cycle_gap
from .plant_report import ContactReport, LegReport, Lengths, PlantReport, RootReport
from .proof import LOW, SKATING_SPEED, Track, knee_acceleration, on_ground, penetration, skating, slides, standing, track

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
    samples: tuple[Samples, Proof],
    keys: Sequence[ChannelPieces],
    seconds: dict[str, float],
    *,
    travel: Array,
    root_motion: str,
) -> PlantReport:
    """Make the report; `samples` are the samples before planting, and the proof of the result."""
    plan, (before, proof) = footing.plan, samples
    chains, track_pairs, places, after = [], [], [], proof.samples
    for leg, visible in zip(planted.legs, proof.visible, strict=True):
        leg_plan = leg.before.leg
        paths = {path for path, _ in leg_plan.plan.keyed}
        written = [channel for channel in keys if channel.pieces[0].path in paths]
        later = ground_after(footing.ground, travel)
        old, new = track(leg_plan, before.on(plan.samples)), None if after is None else track(leg_plan, after)
        tracks = _measured(footing, leg, footing.ground, old), None if new is None else _measured(footing, leg, later, new)
        track_pairs += [] if new is None else [(old, new)]
        places.append([each[1].places for each in tracks if each is not None])
        leg_report = _leg_report(footing, planted, leg, tracks, written)
        causes = sliding_causes(leg.before, leg_report.contacts, after)
        chains.append(replace(leg_report, visible=visible, notes=[*leg_report.notes, *causes]))
    root, notes = None, list(plan.notes)
    if plan.root is not None:
        written = [channel for channel in keys if channel.pieces[0].path == plan.root.path]
        notes += plan.root.notes if written else ()
        farthest = float(magnitude(planted.moves).max())
        least = float(magnitude(least_moves(planted)).max())
        root = RootReport(plan.root.name, farthest, count_keys(written), travel[-1].tolist(), root_motion, least)
    lengths = Lengths(plan.units, max(leg.before.length for leg in planted.legs))
    gap = cycle_gap(track_pairs, lengths.leg, travel[-1]) if track_pairs else None
    shares = [skate_share(np.stack(each), lengths.leg, plan.frames_per_second) for each in zip(*places, strict=True)]
    return PlantReport(
        chains, root, seconds, before.evaluation, notes, lengths, shares[0], shares[1] if track_pairs else None, cycle_gap=gap
    )


def count_keys(channels: Sequence[ChannelPieces]) -> int:
    """Number of keys of all channels."""
    return sum(len(piece.frames) for channel in channels for piece in channel.pieces)


def _leg_report(
    footing: Footing,
    planted: Planted,
    leg: PlantedLeg,
    tracks: tuple[tuple[Track, _Measures], tuple[Track, _Measures] | None],
    keys: Sequence[ChannelPieces],
) -> LegReport:
    plan, leg_plan, frames = footing.plan, leg.before.leg, footing.plan.frames
    (before, then), (after, now) = tracks[0], tracks[1] or (None, None)
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
        contacts=list(_contacts(plan.frames, leg, before, after)),
        skating_before=then.skating,
        skating_after=now.skating if now else None,
        skate_share_before=then.skate_share,
        skate_share_after=now.skate_share if now else None,
        out_of_reach=ranges(frames, _missed(leg, planted.moves) & standing(leg.states)),
        penetration_before=then.penetration,
        penetration_after=now.penetration if now else None,
        knee_acceleration_before=then.knee_acceleration,
        knee_acceleration_after=now.knee_acceleration if now else None,
        notes=[
            *leg_plan.plan.notes,
            *_stretched(leg),
            *_without_ground(footing, leg_plan.chain, leg.pins),
            *_inside_ground(footing, leg),
        ],
        max_stretch=float(leg.ratios.max()),
    )


def _stretched(leg: PlantedLeg) -> list[Sentence]:
    percent = 100.0 * (float(leg.ratios.max()) - 1.0)
    if not percent:
        return []
    return [note('"{chain}" stretches by up to {percent:.2g} %.', chain=leg.before.leg.chain, percent=percent)]


@dataclass(frozen=True, slots=True)
class _Measures:
    """Measurements of one leg, before or after planting."""

    skating: float
    penetration: float
    knee_acceleration: float
    places: Array
    """`(F, 3)` positions of the ball in ground space, with its height above the ground."""
    skate_share: float


def _measured(footing: Footing, leg: PlantedLeg, ground: Ground, leg_track: Track) -> tuple[Track, _Measures]:
    """Transform a leg's track to ground space and measure it at the frames; `ground` is sampled as the plan."""
    plan = footing.plan
    whole = on_ground(leg_track, ground.at(np.searchsorted(plan.samples, leg_track.frames)))
    leg_track = whole.at(plan.frames)
    rate, fast = plan.frames_per_second, SKATING_SPEED / plan.units.scale
    heels, balls = footing.ground.over(leg_track.heels), footing.ground.over(leg_track.balls)
    low, places = LOW * leg.before.length, np.column_stack([leg_track.balls[:, :2], balls])
    return whole, _Measures(
        skating(leg_track, (heels, balls), leg.states, low=low, fast=fast, frames_per_second=rate),
        penetration(heels, balls - leg.before.ball_height),
        float(np.abs(knee_acceleration(leg_track, rate)).max(initial=0.0)),
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


def _contacts(frames: Array, leg: PlantedLeg, before: Track, after: Track | None) -> Iterator[ContactReport]:
    for contact in contacts_of_states(leg.states, frames):
        row = int(np.searchsorted(frames, contact.first))
        pins = [pin for pin in leg.pins if pin.first <= row <= pin.last]
        contact_pins = [pin for pin in pins if contact.point in ("BOTH", "BALL" if pin.is_ball else "HEEL")]
        within = contact.first, contact.last
        old = [slides(before, within, pin.place, is_ball=pin.is_ball) for pin in contact_pins]
        new = None if after is None else [slides(after, within, pin.place, is_ball=pin.is_ball) for pin in contact_pins]
        yield ContactReport(
            contact.first,
            contact.last,
            contact.point,
            height=min(float(pin.place[2]) for pin in contact_pins),
            slide_before=max(at for at, _ in old),
            slide_after=None if new is None else max(at for at, _ in new),
            slide_between_before=max(between for _, between in old),
            slide_between=None if new is None else max(between for _, between in new),
        )
