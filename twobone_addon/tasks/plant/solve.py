"""Solve a planting plan: from the sampled motion of legs to planted feet and their keys. Numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import magnitude
from ...core.contacts.ground import velocity_of_stances
from ...core.contacts.states import ContactState, on_ball, on_heel, runs
from ...core.curves.frames import NEAR_FRAME, cuts
from ...core.planting.cycles import Rounds, round_way, stance_beside, ways_gone
from ...core.planting.goals import (
    SAMPLES_PER_FRAME,
    FootGoals,
    goes_to_and_fro,
    without_ways,
)
from ...core.planting.ground import moving_ground
from ...core.planting.knees import STRETCH, gentler, steps_seen
from ...core.planting.pins import Pin
from ...pipeline.pose.limb_plane import hinges_of
from ...records import replace
from ...said import Sentence, note
from ...scene.sampling.quantities import Quantity, Samples
from ...scene.sampling.stepping import Steps, part_of_steps
from ..find_contacts.solve import FoundContacts
from .keys.curves import ChannelPieces, keys_of_legs
from .plan.contacts import Standing, ground_of, standing_of, travel_of, with_one_height
from .plan.feet import LegMotion, leg_motion, on_whole_frames
from .pose.calming import (
    ABRUPT,
    POPS,
    USUAL,
    bend_multiples,
    calmer_where_free,
    restless_notes,
    while_standing,
    with_calm_ease,
    with_calm_root,
    with_clear_ways,
    worst_bend,
)
from .pose.standing import LARGE_REPAIR, Footing, LeftContact, Planted, PlantedLeg, settled, smoothing_window, stand_still

if TYPE_CHECKING:
    from ..find_contacts.plan import ContactPlan
    from .plan.planning import PlantingPlan, PlantPlan


@dataclass(frozen=True, slots=True)
class PlantSolution:
    """Planted legs and root, and their keys."""

    found: FoundContacts
    """Contacts found in the motion, whether used or not."""
    given: Sequence[Codes]
    """`(F,)` contact states of each leg that planting started from."""
    from_outside: Sequence[Mask]
    """`(F,)` for each leg, where another armature or a file gave its contact."""
    footing: Footing
    planted: Planted
    samples: Samples
    """The motion before planting."""
    keys: Sequence[ChannelPieces]
    travel: Array
    """`(S, 3)` added root motion, world space."""
    notes: tuple[Sentence, ...]


def solve_plan(
    plan: PlantPlan, found: FoundContacts, samples: Samples, given: Mapping[str, Codes], measured: Collection[Quantity]
) -> Steps[PlantSolution]:
    """Plant legs and root by the contacts `given` to an earlier planting, else by keyed ones, else by those found.

    measured : quantities that the report needs; what the samples have of others goes as soon as possible
    """
    settings = plan.settings
    contacts = found.plan
    soles = [foot.points for foot in contacts.feet]
    legs = [leg_motion(replace(leg, points=points), samples) for leg, points in zip(plan.legs, soles, strict=True)]
    standing = standing_of(plan, found, legs)
    if all(leg.chain in given for leg in plan.legs):
        standing = replace(standing, states=[given[leg.chain] for leg in plan.legs])
    states_given = standing.states
    standing = on_their_belt(contacts, standing, legs)
    ground = ground_of(plan, contacts, standing, samples, legs)
    # The runner knows the samples as well, so what the legs' motions have by now goes from them.
    for quantity in samples.values.keys() - {*measured, *plan.root_quantities()}:
        del samples.values[quantity]
    joints = np.concatenate([leg.joints[::SAMPLES_PER_FRAME] for leg in legs], axis=1)
    takes = cuts(joints, max(leg.length for leg in legs))
    are_given = [bool(np.any(by_hand | given)) for by_hand, given in zip(standing.by_hand, standing.given, strict=True)]
    footing = Footing(plan, legs, ground, settings.ease, settings.max_tilt, cuts=takes, are_given=are_given)
    standing, left = within_repair_of_takes(footing, standing)
    planted = replace((yield from part_of_steps(solve_takes(footing, standing), 0, 2)), left=left)
    travel = travel_of(plan, settings, standing.found.ground_velocity, legs)
    keys = yield from part_of_steps(keys_of_legs(plan, samples, planted, travel), 1, 2)
    notes = (*_missing_travel_notes(plan, travel), *restless_notes(planted, plan.frames, plan.frames_per_second))
    return PlantSolution(standing.found, states_given, standing.given, footing, planted, samples, keys, travel, notes)


def _missing_travel_notes(plan: PlantPlan, travel: Array) -> tuple[Sentence, ...]:
    """Note why there is no root motion although the settings request it."""
    settings = plan.settings
    if settings.root_motion == "KEEP" or plan.root is None or np.any(travel):
        return ()
    if settings.root_motion == "ADD":
        return (
            note("The ground does not move under the feet, so there is no root motion to add. Give its velocity if it should."),
        )
    return (note("The character stays in place, so there is no root motion to remove."),)


SAME_GROUND = 0.1
"""Largest relative difference between the velocity of standing feet and the velocity found, for both to be of the same ground."""


def on_their_belt(contacts: ContactPlan, standing: Standing, legs: Sequence[LegMotion]) -> Standing:
    """The contacts with the ground velocity replaced by that of the standing feet, if all of them already stand still on a belt.

    The velocity found is an estimate from all low points, so a motion that is already planted would be planted again.
    """
    found = standing.found
    if contacts.settings.ground_moves != "AUTO" or contacts.surface is not None or not np.any(found.ground_velocity):
        return standing
    feet = [on_whole_frames(leg.foot) for leg in legs]
    points = np.array([foot.points(offset) for foot in feet for offset in (foot.heel, foot.ball)])
    stands = np.array([on for states in standing.states for on in (on_heel(states), on_ball(states))])
    velocity, off = velocity_of_stances(points, stands, contacts.rate)
    velocity = velocity * np.array([1.0, 1.0, 0.0])
    is_other_ground = np.linalg.norm(velocity - found.ground_velocity) > SAME_GROUND * np.linalg.norm(found.ground_velocity)
    if is_other_ground or off > min(settled(leg) for leg in legs):
        return standing
    return replace(standing, found=replace(found, ground_velocity=velocity))


EXTENT = 2
"""Extent of the repeated rounds to either side of the original one, relative to the reach of corrections."""


@dataclass(frozen=True, slots=True)
class ManyRounds:
    """A cycle repeated before and after its original round."""

    footing: Footing
    standing: Standing
    legs: Sequence[LegMotion]
    """The legs in the original round."""
    frames: Rounds
    samples: Rounds

    def middle(self, planted: Planted) -> Planted:
        """Planted legs and root in the original round."""
        legs = [self._leg(leg, before) for leg, before in zip(planted.legs, self.legs, strict=True)]
        return Planted(legs, self.samples.middle(planted.moves))

    def _leg(self, leg: PlantedLeg, before: LegMotion) -> PlantedLeg:
        middle, goals = self.samples.middle, leg.goals
        goals = FootGoals(middle(goals.ankles), middle(goals.turns), middle(goals.pinned), middle(goals.turned))
        states, pins = self.frames.middle(leg.states), list(self._pins(leg.pins))
        turns, ankles, changed, ratios = map(middle, (leg.turns, leg.ankles, leg.changed, leg.ratios))
        return PlantedLeg(before, states, goals, turns, ankles, changed, ratios, pins)

    def _pins(self, pins: Sequence[Pin]) -> Iterator[Pin]:
        last_row = self.frames.count - 1
        for pin in pins:
            first, last = pin.first - self.frames.beside, pin.last - self.frames.beside
            if last >= 0 and first <= last_row:
                yield replace(pin, first=max(first, 0), last=min(last, last_row))


def many_rounds(footing: Footing, standing: Standing) -> ManyRounds | None:
    """The repeated cycle; `None` if the motion is no cycle, continues outside the range, or is on a mesh."""
    plan, legs = footing.plan, footing.legs
    if standing.found.plan.surface is not None or any(_continues_outside(plan, leg) for leg in legs):
        return None
    gone = [ways_gone(leg.joints, leg.foot.points(leg.foot.heel), leg.foot.points(leg.foot.ball)) for leg in legs]
    travel = round_way(np.concatenate(gone), max(leg.length for leg in legs))
    count = len(plan.frames)
    if travel is None:
        return None
    window = math.ceil(smoothing_window(plan) / SAMPLES_PER_FRAME)
    # So far that what happens at the outer ends does not reach the original round.
    beside = stance_beside(standing.states) + EXTENT * (
        math.ceil(footing.ease.most / SAMPLES_PER_FRAME) + window + STRETCH * steps_seen(plan.frames_per_second)[-1]
    )
    frames, samples = Rounds(count, beside), Rounds(len(plan.samples), beside * SAMPLES_PER_FRAME)
    step = (plan.frames[-1] - plan.frames[0]) / (count - 1)
    over_and_over = replace(
        plan,
        frames=frames.times(plan.frames[0], step),
        samples=samples.times(plan.samples[0], step / SAMPLES_PER_FRAME),
    )
    seconds = over_and_over.samples / plan.frames_per_second
    moving = moving_ground(seconds, standing.found.ground_velocity, since=plan.samples[0] / plan.frames_per_second)
    # In the original round bend axes are continuous with those of the rounds before and after.
    hinges = [hinges_of(leg.leg.plan, leg.motion, samples.rows()) for leg in legs]
    return ManyRounds(
        replace(
            footing,
            plan=over_and_over,
            legs=[_repeated(leg, samples, travel) for leg in legs],
            ground=replace(footing.ground, world_from_ground=moving.world_from_ground),
        ),
        replace(
            standing,
            states=[frames.states(states) for states in standing.states],
            by_hand=[by_hand[frames.rows()] for by_hand in standing.by_hand],
            given=[given[frames.rows()] for given in standing.given],
        ),
        [replace(leg, hinges=of_leg and of_leg.on(samples.meant)) for leg, of_leg in zip(legs, hinges, strict=True)],
        frames,
        samples,
    )


def _continues_outside(plan: PlantingPlan, leg: LegMotion) -> bool:
    """Whether the leg has keys outside the range, so that its motion continues there."""
    first, last = plan.frames[0] - NEAR_FRAME, plan.frames[-1] + NEAR_FRAME
    tables = [keyed.table["co"][:, 0] for keyed in leg.leg.plan.keyed.values() if keyed.table is not None]
    return any(frames.min() < first or frames.max() > last for frames in tables if len(frames))


def _repeated(leg: LegMotion, samples: Rounds, travel: Array) -> LegMotion:
    """The leg in all rounds, each displaced by `travel` `(3,)` from the one before; `motion` stays that of one round."""
    rows, along = samples.rows(), samples.numbers()[:, None] * travel
    foot = leg.foot.on(rows)
    return replace(
        leg,
        foot=replace(foot, ankles=foot.ankles + along),
        joints=leg.joints[rows] + along[:, None],
        lengths=leg.lengths[rows],
    )


SHUFFLE_TIMES, FEWEST_USUAL = 4.0, 3
"""Size of a repair as a multiple of the usual one of its take from which a foot that goes to and fro shuffles; and fewest stances
that tell what is usual. Where feet are spoiled, all stances are: of 1,100 stances of legs with noise in every joint, the worst is
at 3.5."""


def within_repair(footing: Footing, standing: Standing) -> tuple[Standing, list[list[LeftContact]]]:
    """The contacts without those, not set by hand, whose repair would be another motion; and these, by leg.

    Such a repair moves a foot by more than the largest one, or holds a foot that shuffles.
    On a mesh or a given height feet rise and sink as far as their ground does, so that only level moves count.
    """
    most, frames = footing.plan.settings.max_repair, footing.plan.frames
    kept, left = [states.copy() for states in standing.states], []
    moves = [departures(footing, *pair) if most else np.zeros(len(pair[1])) for pair in zip(footing.legs, kept, strict=True)]
    shuffles = _shuffles(footing, kept, moves)
    held = [by_hand & ~given for by_hand, given in zip(standing.by_hand, standing.given, strict=True)]
    for number, (leg, states, by_hand) in enumerate(zip(footing.legs, kept, held, strict=True)):
        moved, far = moves[number], []
        if shuffles[number] or moved.max(initial=0.0) > most * leg.length:
            # What a foot does on its way to its place and from it is no part of its stance.
            arrived = without_ways(on_whole_frames(footing.foot(leg)), states, leg.length, footing.plan.frames_per_second)
            moved = departures(footing, leg, arrived)
            for first, last in runs(states > 0):
                farthest = float(moved[first : last + 1].max())
                is_another_motion = farthest > most * leg.length or (first, last) in shuffles[number]
                if is_another_motion and not by_hand[first : last + 1].any():
                    is_given = bool(standing.given[number][first : last + 1].any())
                    far.append(LeftContact(float(frames[first]), float(frames[last]), farthest, is_given))
                    states[first : last + 1] = ContactState.NONE
        left.append(far)
    return replace(standing, states=kept), left


def _shuffles(footing: Footing, states: Sequence[Codes], moves: Sequence[Array]) -> list[list[tuple[int, int]]]:
    """First and last frames of the stances, by leg, in which a foot shuffles; planting would move feet by `moves` `(F,)`.

    It goes to and fro over its place, while the other stances of the take keep theirs: feet that skate do so in all of them.
    """
    usual, to_and_fro = [], []
    for number, (leg, leg_states, moved) in enumerate(zip(footing.legs, states, moves, strict=True)):
        foot = on_whole_frames(footing.foot(leg))
        for first, last in runs(leg_states > 0):
            rows, size = slice(first, last + 1), float(moved[first : last + 1].max()) / leg.length
            if size > LARGE_REPAIR and goes_to_and_fro(foot.on(rows).points(foot.ball), footing.plan.frames_per_second):
                to_and_fro.append((number, (first, last), size))
            else:
                usual.append(size)
    least = SHUFFLE_TIMES * float(np.median(usual)) if len(usual) >= FEWEST_USUAL else math.inf
    return [
        [row for number, row, size in to_and_fro if number == leg_number and size > least] for leg_number in range(len(states))
    ]


def departures(footing: Footing, leg: LegMotion, states: Codes) -> Array:
    """Distances `(F,)` of the standing points of a foot from their pins, the larger of both; 0 in the air."""
    foot, axes = on_whole_frames(footing.foot(leg)), slice(0, 3) if footing.ground.surface is None else slice(0, 2)
    moved, points = np.zeros(len(states)), (foot.points(foot.heel), foot.points(foot.ball))
    for pin in footing.pins(leg, states):
        rows = slice(pin.first, pin.last + 1)
        moved[rows] = np.maximum(moved[rows], magnitude((points[pin.is_ball][rows] - pin.place)[:, axes]))
    return moved


MOST_SHORTENED_BEFORE, MOST_SHORTENED_AFTER, MOST_CALMED = 40, 8, 16
"""Most times that stances are shortened, a little each time, before knees are calmed and after, and most times that they are
calmed: what is still sudden then stays so, see `restless_notes`."""

UNSEEN_SLIDE = 5.0 / 900.0
"""Slide up to which a motion counts as right and is left unchanged, leg lengths: 5 mm of a leg of 0.9 m, from end to end."""

HARDLY_SEEN_SLIDE = 20.0 / 900.0
"""Slide up to which a stance is left unchanged if the body has priority, leg lengths: 2 cm of a leg of 0.9 m."""


def within_repair_of_takes(footing: Footing, standing: Standing) -> tuple[Standing, list[list[LeftContact]]]:
    """`within_repair`, with the contacts that go on across cuts taken for one in each take."""
    cuts, ended = footing.cuts, [states.copy() for states in standing.states]
    for states in ended:
        goes_on = cuts[(states[cuts - 1] > 0) & (states[cuts] > 0)]
        states[goes_on - 1] = ContactState.NONE
    kept, left = within_repair(footing, replace(standing, states=ended))
    for states, before in zip(kept.states, standing.states, strict=True):
        # The last frame of a take belongs to the contact before it, if that is kept.
        last = cuts[(states[cuts - 1] == ContactState.NONE) & (states[cuts - 2] > 0)] - 1
        states[last] = before[last]
    return kept, left


def solve_takes(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root in each take between cuts alone; joined again."""
    if not len(footing.cuts):
        rounds = many_rounds(footing, standing)
        if rounds is None:
            return _with_pins(footing, (yield from _solved(footing, standing)))
        # A cycle is solved as one of many equal rounds, so that its seam is like any other frame.
        return rounds.middle(_with_pins(rounds.footing, (yield from _solved(rounds.footing, rounds.standing))))
    takes, plan, per_frame = [], footing.plan, SAMPLES_PER_FRAME
    edges = list(pairwise([0, *footing.cuts.tolist(), len(plan.frames)]))
    for number, (first, end) in enumerate(edges):
        frames, samples = slice(first, end), slice(first * per_frame, (end - 1) * per_frame + 1)
        legs = [
            replace(leg, foot=leg.foot.on(samples), joints=leg.joints[samples], lengths=leg.lengths[samples])
            for leg in footing.legs
        ]
        take_plan = replace(plan, frames=plan.frames[frames], samples=plan.samples[samples])
        of_takes = (standing.states, standing.by_hand, standing.given)
        states, by_hand, given = ([of_leg[frames] for of_leg in of_legs] for of_legs in of_takes)
        take_standing = replace(standing, states=states, by_hand=by_hand, given=given)
        ground = footing.ground.at(samples)
        if ground.is_flat:  # Each take has a floor of its own.
            ground = with_one_height(ground, take_standing, legs)
        take = replace(footing, plan=take_plan, legs=legs, ground=ground)
        solved = yield from part_of_steps(_solved(take, take_standing), number, len(edges))
        takes.append(_Take(first, samples, _with_pins(take, solved)))
    return _joined_takes(footing, takes)


class _Take(NamedTuple):
    """A solved take between cuts."""

    first: int
    """Row of its first frame."""
    samples: slice
    planted: Planted


def _joined_takes(footing: Footing, takes: Sequence[_Take]) -> Planted:
    """Planted legs and root of all takes; between two of them, legs do nothing but follow the root."""
    known = np.concatenate([np.arange(samples.start, samples.stop) for _, samples, _ in takes])
    all_moves, rows = np.concatenate([planted.moves for _, _, planted in takes]), np.arange(len(footing.plan.samples))
    moves = np.stack([np.interp(rows, known, all_moves[:, axis]) for axis in range(3)], axis=-1)
    legs = []
    for number, before in enumerate(footing.legs):
        nothing = np.zeros(len(rows), dtype=bool)
        turns, ankles, ratios = before.foot.turns.copy(), before.foot.ankles + moves, np.ones(len(rows))
        goals = FootGoals(
            np.zeros_like(ankles), footing.ground.turned_into(before.foot.turns).copy(), nothing.copy(), nothing.copy()
        )
        changed, pins = nothing.copy(), []
        for first, samples, planted in takes:
            leg = planted.legs[number]
            turns[samples], ankles[samples], ratios[samples], changed[samples] = leg.turns, leg.ankles, leg.ratios, leg.changed
            goals.ankles[samples], goals.turns[samples] = leg.goals.ankles, leg.goals.turns
            goals.pinned[samples], goals.turned[samples] = leg.goals.pinned, leg.goals.turned
            pins += [replace(pin, first=pin.first + first, last=pin.last + first) for pin in leg.pins]
        states = np.concatenate([planted.legs[number].states for _, _, planted in takes])
        legs.append(PlantedLeg(before, states, goals, turns, ankles, changed, ratios, pins))
    return Planted(legs, moves)


def _with_pins(footing: Footing, planted: Planted) -> Planted:
    return replace(planted, legs=[replace(leg, pins=footing.pins(leg.before, leg.states)) for leg in planted.legs])


def _solved(footing: Footing, standing: Standing) -> Steps[Planted]:
    """Solve for planted legs and root, cycle or not.

    On new ground the root follows the ground, so knees are calmed by feet only, which also stay clear of the ground.
    """
    by_hand, feet = standing.by_hand, [on_whole_frames(footing.foot(leg)) for leg in footing.legs]

    def shortened(states: Sequence[Codes]) -> list[Codes]:
        rate, per_foot = footing.plan.frames_per_second, zip(feet, states, footing.legs, strict=True)
        trimmed = [without_ways(foot, leg_states, leg.length, rate) for foot, leg_states, leg in per_foot]
        return [np.where(fixed, old, new) for fixed, old, new in zip(by_hand, standing.states, trimmed, strict=True)]

    yield 0.0
    if footing.ground.is_new:
        planted = stand_still(footing, standing.states)
        yield 0.5
        return _calm_and_clear(footing, planted)
    states = shortened(standing.states)
    # A motion that slides by no more than nobody sees is right as it is.
    if footing.ground.surface is None and not any(hand.any() for hand in by_hand):
        # Pins are in the middle of where a foot rests.
        as_it_is = replace(footing, slack=UNSEEN_SLIDE / 2.0)
        if not any(as_it_is.goals(*leg_and_states).pinned.any() for leg_and_states in zip(footing.legs, states, strict=True)):
            return stand_still(as_it_is, states)
        yield 0.2
    if footing.plan.settings.priority == "BODY":
        footing = replace(footing, slack=HARDLY_SEEN_SLIDE)
    return (yield from _calm(footing, states, shortened))


def _calm_and_clear(footing: Footing, planted: Planted, *, part: float = 1.0) -> Planted:
    """Lift feet in the air clear of the ground and calm the knees that this bends, at last by moves towards the hip alone."""
    for only_up in (False,) if footing.ground.is_new else (False, True):
        planted = with_calm_ease(footing.plan, with_clear_ways(footing, planted), only_up=only_up, part=part)
    return with_clear_ways(footing, planted)


def _calm(footing: Footing, states: Sequence[Codes], shortened: Callable[[Sequence[Codes]], list[Codes]]) -> Steps[Planted]:
    """Plant legs by `states`, with shorter stances where knees would pop."""
    rate = footing.plan.frames_per_second

    def gentle(planted: Planted, sudden: Sequence[Mask]) -> Planted | None:
        shorter_states = shortened(
            [gentler(leg.states, bends, steps_seen(rate)[-1]) for leg, bends in zip(planted.legs, sudden, strict=True)]
        )
        same = all(np.array_equal(new, leg.states) for new, leg in zip(shorter_states, planted.legs, strict=True))
        return None if same else stand_still(footing, shorter_states)

    def calmed(planted: Planted, *, leaves_balls: bool) -> Steps[Planted]:
        rooted = (yield from with_calm_root(footing, planted, leaves_balls=leaves_balls)) if footing.moves_root else planted
        return _calm_and_clear(footing, with_calm_ease(footing.plan, rooted))

    whole = planted = stand_still(footing, states)
    for number in range(MOST_SHORTENED_BEFORE):
        yield 1.0 - 0.6 * 0.9**number
        shorter = gentle(
            planted, [(bend_multiples(leg, planted.moves, rate) > ABRUPT) & while_standing(leg, rate) for leg in planted.legs]
        )
        if shorter is None:
            break
        planted = shorter
    tried: list[Planted] = []
    rounds = 0
    # Where shorter stances have only moved a pop to another frame, moves of root and free feet may suffice with the longer ones;
    # and a root that leaves feet on their balls to themselves has more room for the others.
    starts = (planted,) if planted is whole else (planted, whole)
    for leaves_balls, start in product((False, True) if footing.moves_root else (False,), starts):
        calm = yield from calmed(start, leaves_balls=leaves_balls)
        for _ in range(min(MOST_SHORTENED_AFTER, MOST_CALMED - rounds)):
            rounds += 1
            shorter = gentle(calm, [bend_multiples(leg, calm.moves, rate) > POPS for leg in calm.legs])
            if shorter is None:
                break
            calm = yield from calmed(shorter, leaves_balls=leaves_balls)
        tried.append(calm)
        if worst_bend(calm, rate) <= POPS:
            break
    calm = min(tried, key=lambda calm: worst_bend(calm, rate))
    # One fall in a take would allow every landing in it to be as sudden.
    return calmer_where_free(calm, _calm_and_clear(footing, calm, part=USUAL), rate)
