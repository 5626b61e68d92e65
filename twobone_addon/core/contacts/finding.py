"""Find when each foot stands, and on which of its points: the most plausible sequence over the whole take.

A second in which a foot is slow, level and low counts up to 1 for standing; a second in which it is fast or high counts
up to `AGAINST` against it. Landing and lifting have a cost, and so has a body that no foot bears although it does not
fall, or that is borne while it falls. Dynamic programming over all feet together (Viterbi, 1967) finds the best sum over
the take, so that a single bad frame changes nothing. The speed tolerance follows from the speed differences between the
feet near by, from the noise and, iteratively, from the speeds of the feet that stand.
Lengths inside are in leg lengths, times in seconds.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from ...records import replace
from ..array_types import Array, Codes, Mask
from ..arrays import magnitude, median
from .feet import (
    RECORDED_REST,
    RECORDED_RESTS,
    SIDE_IN_SECONDS,
    FeetMotion,
    Kinematics,
    holds,
    quantile_near,
    rests,
    smoothed,
    standing_speeds,
    steps_in,
)
from .ground import local_floor
from .states import ContactState, runs, without_gaps, without_short

NEAR = 0.6
"""Seconds before and after a frame over which the speed of the feet is judged: a step is never farther away."""
MOSTLY = 0.88
"""Quantile of speed differences that counts as the largest: single frames may be wrong, and between steps most are slow."""
SLOW_PART = 0.3
"""Part of the largest speed difference between feet up to which one of them may stand and slide."""
SLOWEST_TOLERANCE, LANDING_PART = 0.5, 0.1
"""Speeds that always count as slow, in leg lengths per second and as part of the largest speed difference: a landing foot
passes through them within a frame or two."""
TIMES_USUAL = 2.0
"""Most speed of a standing foot, as a multiple of its usual speed in the stances near by."""
LOW = 0.07
"""Height tolerance in leg lengths over the floor: floating, soft ground and bent soles are lower, a raised foot is higher."""
AGAINST = 2.0
"""Most evidence per second against standing, relative to the most for it."""
CHANGE = 0.06
"""Cost of a landing or a lifting, in seconds of certain standing."""
WEIGHT = 1.0
"""Cost per second of a body that is borne while it falls, or not borne while it does not, relative to one certain foot."""
GRAVITY, FALLING, LEVEL_FLIGHT = 10.9, 0.65, 0.35
"""Leg lengths per second squared, for a leg of 0.9 m; and parts of it from which a body certainly falls, and may be falling."""
FALL_SPAN = 0.2
"""Seconds over which the acceleration of the hips is measured: half a short flight."""
AT_ANY_PACE, AT_REST, GLIDING_PART, GLIDING_SPAN = 0.15, 0.1, 0.7, 0.3
"""The body leaves a standing foot behind; a gliding foot moves along. Leg lengths per second that are never a glide at a frame,
and on average over a contact; largest speed of a foot as part of the speed at which the body leaves it; and seconds before
and after a frame over which the latter is measured: a glide lasts, a halt does not."""
NOISE_TIMES = 2.0
"""Standard deviations of the noise by which tolerances are widened."""
LOWEST_STAND = 0.25
"""Quantile of the heights of a point while it is slow that counts as its own standing level."""
MOST_LEVEL = 0.12
"""Leg lengths by which a standing level may differ from the ground: soles are thick, feet in rest pose may point down."""
ROUNDS = 3
"""Most rounds of narrowing the speed tolerance."""
LENIENT = 2.0
"""Factor on the tolerances of feet that would otherwise never stand."""
LEAVE = 1.25
"""Ratio of leave to enter thresholds, where only the latter are given; and of the speeds at the edges of a stance and within."""
LIFT = 0.012
"""Leg lengths (1 cm of a leg) by which heel or ball is raised when a foot no longer lies flat."""
STILL_HIGH = 2.0 * LIFT
"""Leg lengths over its place above which a foot that comes down has not landed: soles right below the ankle are up to 1.8 % of
the leg too high when a heel strikes."""
ROLL = 0.02
"""Cost of a change between heel, both and ball, in seconds of evidence; doubled for changes towards the heel."""
NEVER = 100.0
"""Evidence per second against the heel alone, of a foot whose ball rests on the ground: no other evidence outweighs it."""
LEAST_IN_SECONDS = 0.06
"""Seconds of the shortest contact that is kept: those of a sprint last at least 0.08 s."""
STUB = 3
"""Frames; a stance no longer than this at the first frame of a range is the end of a contact before the range, and dropped."""
LANDED, SWINGING = 0.5, 2.0
"""Evidence from the lesser one-sided speeds of the last two frames above which a foot lands there, though too briefly to be
worth the cost; and multiple of the speed tolerance that the foot must have exceeded just before."""
MOST_SLIDE = 0.05
"""Leg lengths that a foot may slide, or turn, within a contact before a step, or a turn about one point, is considered."""
UNTURNED, STAYS = 0.006, 1.0 / 3.0
"""Leg lengths by which the way from heel to ball may change before a foot is turning; and largest excursion of the point about
which it turns, as part of that of its other point."""
HANGING, SWINGS = 0.5, 1.5
"""A body hangs if for more than this part of the time near a contact no foot bears it and it does not fall, its certainty of
falling being below this; and least ratio of the times that a swinging foot spends below three times a height and below that
height: 1.7 at constant acceleration, 1 where it stops."""
AT_PLACE, RESTS, STEP_MOVES, STEP_LASTS, BURST = 0.08, 0.1, 0.03, 0.6, 4.0
"""A step inside a stance: leg lengths per second below which a ball rests, seconds of a rest, least leg lengths from one rest to
the next if the foot is lifted (twice as many if not), most seconds between them, and least speed of the move as a multiple of the
speed in the rests. A foot that skates goes on at one speed; one that steps is quick once and rests before and after."""
PLACES_APART = 5.0 / 900.0
"""Leg lengths between two exact places of a foot from which they are two: 5 mm of a leg of 0.9 m, a slide that nobody sees."""
LONGEST_MOVE = 0.7
"""Most seconds from one exact place to the next: what takes longer is a slide."""
RECORDED_APART = 0.015
"""Leg lengths between two places where a recorded ball rests from which a contact is two, as planting could keep only one of
them: 13 mm of a leg of 0.9 m."""
MOST_AT_PLACE = 0.2
"""Leg lengths per second above which no foot rests, however quick its steps are."""
STEP_ROUNDS = 4
"""Most times that a foot's stances are searched for steps."""
SWUNG = 1.0
"""Leg lengths per second of heel or ball above which a foot that leaves a rest swings out, rather than slides on."""
STEADY = 0.02
"""Leg lengths per second below which rests count as equally slow."""
SHARP, EDGE_OF_SWING, UNSLID = 2, 0.15, 0.3
"""Frame steps of a window up to which it blurs no edge of a stance; largest speed of a foot at such an edge, as part of that of
the swing beside it; and largest usual speed in a stance that does not slide, as part of the speed at its edges."""
PASSES = 0.15
"""Least travel of a body over a foot that bears it, in leg lengths: a third of a slow step."""
LONG_GLIDE = 0.2
"""Least travel of a glide with the body, in leg lengths."""
MOST_TOGETHER = 4
"""Most feet that are solved together; those of creatures with more are solved one by one."""
APART = 6.0
"""Least step from a first frame that is a rest pose to the second, as a multiple of the usual step between frames."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Thresholds of one search; 0 where they follow from the motion."""

    enter_speed: float = 0.0
    """Speed relative to the ground, units per second, below which a point certainly stands."""
    leave_speed: float = 0.0
    """Speed, units per second, up to which the contact extends before and after."""
    enter_height: float = 0.0
    """Height over the ground, units, below which a point certainly stands."""
    leave_height: float = 0.0
    """Height, units, up to which the contact extends."""
    lift: float = 0.0
    """Units by which heel or ball of a standing foot is raised when that point no longer stands."""
    least_length: float = 0.0
    """Frames; shorter contacts of a foot are dropped."""
    longest_gap: float = 0.0
    """Frames; gaps in a contact up to this length are bridged."""


@dataclass(frozen=True, slots=True)
class Stance:
    """One time of a foot on the ground, whichever points stand in it."""

    first: int
    last: int
    """Indices of the first and last frame."""
    begins: float
    ends: float
    """Times, in frames from the take's first one, at which the foot arrives at its place and leaves it, between frames."""
    travel: float
    """Units that the standing point moves over its ground; more than a few hundredths of a leg is a slide."""
    confidence: float
    """0 to 1: mean evidence for standing over its frames."""
    moved: float = 0.0
    """Units by which the standing point is away from the middle of its places, at most: as far as planting would move it."""

    def later(self, start: int, end: int) -> Stance:
        """The stance with its beginning `start` and its end `end` frames later."""
        return replace(self, first=self.first + start, last=self.last + end, begins=self.begins + start, ends=self.ends + end)


@dataclass(frozen=True, slots=True)
class Story:
    """Contacts of all feet over a take."""

    states: Codes
    """`(C, F)` contact states, see the module `states`."""
    stances: tuple[tuple[Stance, ...], ...]
    """Stances of each foot, in order."""
    has_rest_first: bool
    """Whether the first frame is a rest pose, as exporters leave one there; nothing stands in it then."""

    def held(self, before: int, after: int) -> Story:
        """The story with the first frame held for `before` more frames, and the last one for `after`."""
        last = self.states.shape[1] - 1

        def extended(stance: Stance) -> Stance:
            return stance.later(before if stance.first else 0, before + (after if stance.last == last else 0))

        stances = tuple(tuple(map(extended, foot)) for foot in self.stances)
        return replace(self, states=np.pad(self.states, [(0, 0), (before, after)], mode="edge"), stances=stances)

    def without(self, feet: Mask) -> Story:
        """The story in which the feet of the mask `(C,)` never stand."""
        stances = tuple(() if is_out else stances for is_out, stances in zip(feet, self.stances, strict=True))
        return replace(self, states=np.where(feet[:, None], int(ContactState.NONE), self.states), stances=stances)

    def stance_of(self, foot: int, first: int, last: int) -> Stance | None:
        """The stance with most frames between indices `first` and `last`; `None` if none has any there."""
        begin = bisect_left(self.stances[foot], first, key=lambda stance: stance.last)
        end = bisect_right(self.stances[foot], last, key=lambda stance: stance.first)
        near = self.stances[foot][begin:end]
        shared = [(min(stance.last, last) - max(stance.first, first) + 1, stance.first, stance) for stance in near]
        most = max(shared, default=(0, 0, None), key=lambda entry: entry[:2])
        return most[2] if most[0] > 0 else None


def find_story(feet: FeetMotion, given: Thresholds, *, any_height: bool = True) -> Story:
    """Find the contacts of feet whose points and heights are relative to the ground.

    any_height : whether feet may stand on stairs, slopes and boxes that nobody has named; otherwise heights are as given.
    A single frame counts as standing still: then the height decides.
    """
    if _rest_first(feet):
        after = find_story(feet.since(1), given, any_height=any_height)
        moved = tuple(tuple(stance.later(1, 1) for stance in foot) for foot in after.stances)
        return Story(np.insert(after.states, 0, int(ContactState.NONE), axis=1), moved, has_rest_first=True)
    around, before = feet.going_on(round(NEAR * feet.rate))
    inside = slice(before, before + feet.points.shape[-2])
    motion = Kinematics.of(around)
    estimate = _estimate_stances(motion, given, feet.leg_length, any_height=any_height)
    tolerances, best = estimate.tolerances, estimate.evidence.max(axis=1)
    swung = motion.speeds[..., -round(NEAR / 2 * motion.rate) :].min(axis=1).max(axis=-1) > SWINGING * tolerances.speed[:, -1]
    calm = _evidence(motion.calmer(), tolerances, any_height=any_height).max(axis=1)
    landed = swung & (calm[:, -2:].min(axis=1) > LANDED)
    if not (given.enter_speed or given.leave_speed):
        estimate = replace(estimate, stands=_to_the_edges(around, motion, tolerances, estimate.stands, any_height=any_height))
    estimate = replace(estimate, stands=_from_landing(motion, estimate, given, any_height=any_height))
    stands = _tidied(motion, estimate, landed, given)
    states = _points_of(motion, estimate.evidence, stands, given.lift / feet.leg_length or LIFT, tolerances.noise)
    states, stands, best = states[:, inside], stands[:, inside], best[:, inside]
    stances = tuple(
        tuple(_stance(feet, states[foot], best[foot], foot, row) for row in runs(foot_stands))
        for foot, foot_stands in enumerate(stands)
    )
    return Story(states, stances, has_rest_first=False)


def no_story(feet: FeetMotion) -> Story:
    """The story of feet that never stand."""
    return Story(np.zeros(feet.heights[:, 0].shape, int), ((),) * len(feet.points), has_rest_first=False)


def story_of(feet: FeetMotion, states: Codes, confidence: float = 1.0) -> Story:
    """The story of feet whose states `(C, F)` are known from elsewhere with that `confidence`."""
    evidence = np.full(states.shape[1], confidence)
    stances = [tuple(_stance(feet, code, evidence, foot, row) for row in runs(code > 0)) for foot, code in enumerate(states)]
    return Story(states, tuple(stances), has_rest_first=False)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Limits up to which a point may stand, in leg lengths and seconds."""

    speed: Array
    """`(C, F)`"""
    least_speed: Array
    """`(F,)` always slow enough, and the limit of vertical speeds, since a glide is level and a landing is not."""
    glide: Array
    """`(C, 2, F)` speeds from which a foot moves too much like the body to bear it."""
    height: float
    noise: float
    """Standard deviation of positions, leg lengths."""


@dataclass(frozen=True, slots=True)
class StanceEstimate:
    """Evidence and stances from the motion, before they are tidied."""

    tolerances: Tolerances
    evidence: Array
    """`(C, 2, F)` evidence per second that each point stands."""
    stands: Mask
    """`(C, F)`"""
    may_glide: Mask
    """`(C,)` feet whose contacts may be glides, rather than slides that the thresholds allow."""


def _estimate_stances(motion: Kinematics, given: Thresholds, length: float, *, any_height: bool) -> StanceEstimate:
    """Estimate stances, narrowing the speed tolerances round by round to those of the feet that stand."""
    falls = _falls(motion)
    limit = _first_tolerances(motion, given, length)
    evidence = _evidence(motion, limit, any_height=any_height)
    stands = _plausible(evidence.max(axis=1), falls, motion.rate)
    for _ in range(0 if given.enter_speed or given.leave_speed else ROUNDS):
        speeds = np.where(evidence[:, 0] > evidence[:, 1], motion.speeds[:, 0], motion.speeds[:, 1])
        usual = np.array([_usual_speeds(*foot) for foot in zip(speeds, stands, strict=True)])
        narrower = np.minimum(limit.speed, np.maximum(limit.least_speed, TIMES_USUAL * usual))
        if np.allclose(narrower, limit.speed):
            break
        limit = replace(limit, speed=narrower)
        evidence = _evidence(motion, limit, any_height=any_height)
        stands = _plausible(evidence.max(axis=1), falls, motion.rate)
    never = np.array([not (foot[STUB:-2] if len(foot) > 2 * STUB else foot).any() for foot in stands])
    if never.any() and not (given.enter_speed or given.leave_speed):
        # In fast cycles feet stand for a frame or two, and not all of them move exactly with the one ground velocity.
        gliding = 1.0 if never.all() else LENIENT
        wider = replace(limit, speed=LENIENT * limit.speed, least_speed=LENIENT * limit.least_speed, glide=gliding * limit.glide)
        eased = _evidence(motion, wider, any_height=False)
        evidence = np.where(never[:, None, None], eased, evidence)
        stands |= never[:, None] & _plausible(eased.max(axis=1), np.full_like(falls, 0.5), motion.rate / LENIENT**2)
    sure_speed, sure_height = (limit / length or np.inf for limit in (given.enter_speed, given.enter_height))
    if np.isfinite(min(sure_speed, sure_height)):
        sure = np.any((motion.speeds <= sure_speed) & (motion.heights <= sure_height), axis=1)
        stands = np.array([_confirmed_runs(*foot) for foot in zip(stands, sure, strict=True)])
    return StanceEstimate(limit, evidence, stands, ~never & (not given.enter_speed))


def _usual_speeds(speeds: Array, stands: Mask) -> Array:
    """Usual speed `(F,)` of a foot that `stands`: median over a stance and its two neighbours; infinite without any stance."""
    rows = runs(stands)
    if not rows:
        return np.full(len(speeds), np.inf)
    near = [slice(rows[max(number - 1, 0)][0], last + 1) for number, (_, last) in enumerate([*rows[1:], rows[-1]])]
    medians = [median(speeds[row][stands[row]]) for row in near]
    return np.interp(np.arange(len(speeds)), np.mean(rows, axis=1), medians)


def _first_tolerances(motion: Kinematics, given: Thresholds, length: float) -> Tolerances:
    velocities = motion.velocities.mean(axis=1)
    differences = [magnitude(first - second) for first, second in combinations(velocities, 2)] or [magnitude(velocities[0])]
    fastest = quantile_near(np.max(differences, axis=0), NEAR * motion.rate, MOSTLY)
    leaving = magnitude((motion.velocities - motion.body_velocity)[..., :2])
    glide = AT_ANY_PACE + GLIDING_PART * quantile_near(leaving, GLIDING_SPAN * motion.rate, 0.75)
    least = np.maximum(SLOWEST_TOLERANCE, LANDING_PART * fastest)
    speed = np.tile(np.maximum(least, SLOW_PART * fastest), (len(velocities), 1))
    speed_given = max(given.leave_speed, given.enter_speed * (LEAVE if not given.leave_speed else 1.0)) / length
    if speed_given:
        speed, glide = np.full_like(speed, speed_given), np.full_like(glide, np.inf)
    height = max(given.leave_height, given.enter_height * (LEAVE if not given.leave_height else 1.0)) / length
    noise = 0.0 if speed_given or height else motion.noise
    return Tolerances(speed, least, glide, height or LOW, noise)


def _own_heights(motion: Kinematics, tolerances: Tolerances, *, any_height: bool) -> Array:
    """Heights `(C, 2, F)` of points over the floor below them and over the level at which each of them stands."""
    heights = motion.heights
    if any_height:
        heights = heights - local_floor(motion, heights, tolerances.speed, tolerances.least_speed, MOST_LEVEL)
    slow = (motion.speeds <= tolerances.speed[:, None]) & (np.abs(heights) <= MOST_LEVEL + tolerances.height)
    levels = [
        [np.quantile(h[on], LOWEST_STAND) if on.any() else 0.0 for h, on in zip(*foot, strict=True)]
        for foot in zip(heights, slow, strict=True)
    ]
    return heights - np.clip(levels, -MOST_LEVEL, MOST_LEVEL)[..., None]


def _evidence(motion: Kinematics, tolerances: Tolerances, *, any_height: bool) -> Array:
    """Evidence `(C, 2, F)` per second that each point stands: 1 at rest on the floor, 0 at the limit of the tolerances."""
    heights = _own_heights(motion, tolerances, any_height=any_height)
    jitter = (NOISE_TIMES * motion.noise_of_speeds(tolerances.noise)) ** 2
    speed = motion.speeds**2 / (np.minimum(tolerances.speed[:, None], tolerances.glide) ** 2 + jitter)
    height = np.maximum(heights, 0.0) ** 2 / (tolerances.height**2 + (NOISE_TIMES * tolerances.noise) ** 2)
    rise = motion.rises**2 / (tolerances.least_speed**2 + jitter)
    return np.clip(1.0 - speed - height - rise, -AGAINST, 1.0)


def _falls(motion: Kinematics) -> Array:
    """Certainty `(F,)` that the hips fall, 0 to 1, from the second derivative of a parabola fitted to their heights."""
    reach = max(2, round(FALL_SPAN / 2 * motion.rate))
    heights = motion.body[:, 2]
    if len(heights) <= reach:
        return np.zeros(len(heights))
    places = np.arange(-reach, reach + 1.0)
    parabola = places**2 - np.mean(places**2)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(heights, reach, mode="reflect", reflect_type="odd"), 2 * reach + 1)
    acceleration = around @ (2.0 * parabola / (parabola @ parabola)) * motion.rate**2
    return np.clip((-acceleration / GRAVITY - LEVEL_FLIGHT) / (FALLING - LEVEL_FLIGHT), 0.0, 1.0)


def _plausible(evidence: Array, falls: Array, rate: float) -> Mask:
    """Stances `(C, F)` with the best sum of `evidence` `(C, F)`, costs of changes, and those of a body that `falls` `(F,)`."""
    if len(evidence) > MOST_TOGETHER:
        return np.concatenate([_plausible(foot[None], np.full_like(falls, 0.5), rate) for foot in evidence])
    feet = np.arange(len(evidence))
    # A state of the path is a choice of standing feet: bit by bit its number.
    choices = (np.arange(2 ** len(feet))[:, None] >> feet) & 1
    worth = evidence.T @ choices.T - WEIGHT * np.where(choices.any(axis=1), falls[:, None], 1.0 - falls[:, None])
    changes = CHANGE * np.abs(choices[:, None] - choices).sum(axis=-1)
    return choices[best_path(worth / rate, changes)].T.astype(bool)


def best_path(worth: Array, changes: Array) -> Codes:
    """The path `(F,)` through `S` states with the most `worth` `(F, S)`, less the costs of `changes` `(S, S)` (Viterbi)."""
    count, places = len(worth), np.arange(worth.shape[1])
    came_from = np.zeros(worth.shape, int)
    sums = worth[0]
    for frame in range(1, count):
        options = sums[:, None] - changes
        came_from[frame] = options.argmax(axis=0)
        sums = options[came_from[frame], places] + worth[frame]
    path = np.empty(count, int)
    path[-1] = sums.argmax()
    for frame in range(count - 1, 0, -1):
        path[frame - 1] = came_from[frame, path[frame]]
    return path


def _confirmed_runs(stands: Mask, sure: Mask) -> Mask:
    """The runs of `stands` `(F,)` that contain a frame of `sure` `(F,)`."""
    kept = np.zeros_like(stands)
    for first, last in runs(stands):
        kept[first : last + 1] = sure[first : last + 1].any()
    return kept


def _from_landing(motion: Kinematics, estimate: StanceEstimate, given: Thresholds, *, any_height: bool) -> Mask:
    """Stances `(C, F)` that begin when the foot is down, unless thresholds say when.

    On a belt stylised feet bear the body before they are as fast as the ground: there a stance reaches to where it lands.
    """
    stands, tolerances = estimate.stands.copy(), estimate.tolerances
    if motion.belt.any() and not (given.enter_speed or given.leave_speed):
        ahead = _evidence(motion.ahead_of_belt(tolerances.speed), tolerances, any_height=any_height).max(axis=1) > 0.0
        stands = np.array([_confirmed_runs(on | also, on) for on, also in zip(stands, ahead, strict=True)])
    elif not (motion.belt.any() or given.enter_height or given.leave_height):
        for foot, foot_stands in enumerate(stands):
            # A foot that is held, as before the first key, and then comes down lands after that.
            for end in (end for first, end in holds(motion.points[foot], 1.0, RESTS * motion.rate) if first == 0):
                landed = next((last for first, last in runs(foot_stands) if first <= end < last), end)
                if (motion.points[foot, :, end, 2] - motion.points[foot, :, landed, 2]).min() > STILL_HIGH:
                    foot_stands[end + 1] = False
            for first, last in runs(foot_stands):
                # Nothing is known before the first frame.
                if first:
                    inside = slice(first, last + 1)
                    foot_stands[first : first + _frames_coming_down(motion.heights[foot, :, inside], motion.noise)] = False
    return stands


def _to_the_edges(feet: FeetMotion, motion: Kinematics, tolerances: Tolerances, stands: Mask, *, any_height: bool) -> Mask:
    """Stances `(C, F)` that begin earlier and end later where the foot rests by its speed over the shortest window.

    The speeds by which stances are found are blurred over the window that noise demands, so that a foot that stands without
    sliding seems to land half a window late and to leave half a window early.
    """
    quick = standing_speeds(feet) / feet.leg_length
    limits, low = LEAVE * tolerances.least_speed, _own_heights(motion, tolerances, any_height=any_height) <= tolerances.height
    steps, extended = steps_in(SIDE_IN_SECONDS, feet), stands.copy()
    blur = steps // 2 if steps > SHARP else 0
    for foot, foot_stands in enumerate(stands):
        speeds = np.where(low[foot], quick[foot], np.inf).min(axis=0)
        usual = [median(quick[foot, :, first : last + 1].min(axis=0)) / limits[first] for first, last in runs(foot_stands)]
        stance_of = np.cumsum(np.diff(foot_stands, prepend=False) & foot_stands) - 1
        for first, last in runs(~foot_stands):
            slowest = np.minimum(limits, EDGE_OF_SWING * quick[foot, :, first : last + 1].max())
            leaves, lands = (
                (first - 1, range(first, last + 1)[:blur]),
                (last + 1, range(last, first - 1, -1)[: max(blur - 1, 0) // 2]),
            )
            for edge, beside in (leaves, lands):
                if 0 <= edge < len(speeds) and usual[stance_of[edge]] <= UNSLID:
                    slow = [*(speeds[frame] <= slowest[frame] for frame in beside), False]
                    extended[foot, list(beside[: slow.index(False)])] = True
    return extended


def _frames_coming_down(heights: Array, noise: float) -> int:
    """Number of first frames of a stance in which its heel and ball, at `heights` `(2, F)`, still come down to their places.

    A foot that lowers itself slowly is low and slow, but ground does not give way. On a slope heel and ball stand at
    different heights, so each is compared with its own, as exactly as the foot keeps it.
    """
    above = (heights - median(heights.T)[:, None]).min(axis=0)
    unsteady = max(noise, float(median(np.abs(above - median(above)))))
    lands = (above <= STILL_HIGH + NOISE_TIMES * unsteady) | np.append(np.diff(above) > 0.0, True)
    return int(np.argmax(lands))


def _tidied(motion: Kinematics, estimate: StanceEstimate, landed: Mask, given: Thresholds) -> Mask:
    """Stances `(C, F)` without steps inside them, glides, gaps, and contacts too short to be planted."""
    kept, evidence, count = _without_reversals(motion, estimate.stands), estimate.evidence.max(axis=1), estimate.stands.shape[-1]
    for foot, foot_stands in enumerate(kept):
        ball = motion.points[foot, 1]
        is_given = bool(given.enter_speed or given.leave_speed or motion.belt.any())
        steps = _lifted_inside(motion, foot, foot_stands, evidence[foot])
        # Without a quick step in it, a stance shows slower ones beside its rests.
        rounds = 0 if is_given else STEP_ROUNDS
        steps += [] if is_given else _moves_between_places(motion, foot, foot_stands)
        while steps or rounds:
            for first, last in steps:
                foot_stands[first : last + 1] = False
            steps = _steps_out_of_rests(motion, foot, foot_stands) if rounds else []
            rounds = rounds - 1 if steps else 0
        for first, last in runs(foot_stands):
            if estimate.may_glide[foot] and _glides(ball[first : last + 1], motion.body[first : last + 1], motion.rate):
                foot_stands[first : last + 1] = False
        foot_stands[-2:] |= landed[foot] and count > STUB
        bridged = without_gaps(foot_stands, given.longest_gap) if given.longest_gap else foot_stands
        foot_stands[:] = without_short(bridged, given.least_length or LEAST_IN_SECONDS * motion.rate)
        if count > STUB:
            first_rows, last_rows = runs(foot_stands[: STUB + 1]), runs(foot_stands[-2:])
            if first_rows and first_rows[0][0] == 0 and not foot_stands[STUB]:
                foot_stands[: first_rows[0][1] + 1] = False
            if last_rows == [(1, 1)]:
                foot_stands[-1] = False
    return kept


def _lifted_inside(motion: Kinematics, foot: int, stands: Mask, evidence: Array) -> list[tuple[int, int]]:
    """First and last frame of each step inside a stance for which a foot is lifted, against the `evidence` `(F,)`."""
    lowest, ball, steps = motion.heights[foot].min(axis=0), motion.points[foot, 1], []
    for first, last in runs(stands):
        level = median(lowest[first : last + 1])
        for gap_first, gap_last in runs(evidence[first : last + 1] < 0.0):
            start, end = first + gap_first, first + gap_last
            is_inside = first < start and end < last
            is_lifted = lowest[start : end + 1].max() - level > LOW / 2 + NOISE_TIMES * motion.noise
            if is_inside and is_lifted and magnitude(ball[end + 1] - ball[start - 1]) > MOST_SLIDE:
                steps.append((start, end))
    return steps


def _moves_between_places(motion: Kinematics, foot: int, stands: Mask) -> list[tuple[int, int]]:
    """First and last frame of each move inside a stance from one place where a foot rests to the next.

    Keyed feet do not move at all in a place. However low such a move is, it is one: both places were meant.
    """
    points, moves = motion.points[foot], []
    for (_, end), (start, _) in pairwise(holds(points, 1.0, RESTS * motion.rate)):
        # A foot that turns about heel or ball stays in its place.
        is_step = magnitude(points[:, start] - points[:, end]).min() > PLACES_APART
        is_short = (start - end) / motion.rate <= LONGEST_MOVE
        if is_step and is_short and stands[end : start + 1].all():
            # From one constant key to the next there is no frame on the way.
            moves.append((end + 1, start - 1) if start - end > 1 else (end, end))
    level = points[..., :2]
    for first, last in runs(stands):
        for (begin, end), (start, finish) in pairwise(_recorded_rests(motion, foot, first, last)):
            before, after = (np.median(level[:, rows], axis=1) for rows in (slice(begin, end + 1), slice(start, finish + 1)))
            if magnitude(after - before).min() > RECORDED_APART:
                moves.append((end + 1, start - 1))
    return moves


def _recorded_rests(motion: Kinematics, foot: int, first: int, last: int) -> list[tuple[int, int]]:
    """First and last frame of each time at which a foot's ball rests, of those from `first` to `last`."""
    found = rests(motion.points[foot, 1, first : last + 1], RECORDED_REST, round(RECORDED_RESTS * motion.rate))
    return [(first + begin, first + end) for begin, end in found]


def _steps_out_of_rests(motion: Kinematics, foot: int, stands: Mask) -> list[tuple[int, int]]:
    """First and last frame of each step inside a stance by which a foot leaves a place where it rests."""
    ball, speeds, others, steps = (
        motion.points[foot, 1, :, :2],
        motion.speeds[foot],
        np.delete(motion.points[:, 1, :, :2], foot, axis=0),
        [],
    )

    def is_step(away: Array, burst: slice) -> bool:
        # Feet that slide together are slipping with the body, unless they jump.
        moved, is_lifted = float(magnitude(away)), np.ptp(motion.points[foot, :, burst, 2], axis=1).max() > LIFT
        along = magnitude(others[:, burst.stop - 1] - others[:, burst.start] - away).min(initial=np.inf)
        return moved > STEP_MOVES if is_lifted else moved > 2.0 * STEP_MOVES and along > moved / 2.0

    for first, last in runs(stands):
        if last - first + 1 < 3.0 * RESTS * motion.rate:
            continue
        rests = [(first + start, first + end) for start, end in _rests(speeds[1, first : last + 1], motion.rate)]
        places = [median(ball[start : end + 1]) for start, end in rests]
        usual = [max(STEADY, float(median(speeds[1, start : end + 1]))) for start, end in rests]
        parts = [first]
        for number, ((_, end), (start, _)) in enumerate(pairwise(rests)):
            burst = slice(end, start + 1)
            is_quick = speeds[1, burst].max() > BURST * max(usual[number : number + 2])
            is_short = (start - end) / motion.rate < STEP_LASTS
            if start - end > 1 and is_quick and is_short and is_step(places[number + 1] - places[number], burst):
                steps.append((end + 1, start - 1))
                parts += [end, start]
        # What a foot swings out to need not be a rest: it may be dragged on, or stand on its ball and turn.
        for start, end in zip(parts[::2], [*parts[1::2], last], strict=True):
            middle = ball[start : end + 1].mean(axis=0)
            for (rest_first, rest_last), place, slow in zip(rests, places, usual, strict=True):
                for quick_first, quick_last in runs(speeds[:, start : end + 1].min(axis=0) > BURST * slow):
                    begin, finish = start + quick_first, start + quick_last
                    burst, reach = slice(begin - 1, finish + 2), RESTS * motion.rate
                    is_beside = min(abs(begin - rest_last), abs(rest_first - finish)) <= reach
                    is_beside = is_beside and start <= rest_first <= rest_last <= end
                    is_inside = start < begin and finish < end and (finish - begin) / motion.rate < STEP_LASTS
                    if is_beside and is_inside and speeds[:, burst].max() > SWUNG and is_step(middle - place, burst):
                        steps.append((begin, finish))
    return steps


def _rests(speeds: Array, rate: float) -> list[tuple[int, int]]:
    """First and last frame of each rest of a point with `speeds` `(F,)` over a stance; its edges may cut a rest in half.

    A recorded foot trembles while it rests, by a part of the speed with which it steps.
    """
    ends = 0, len(speeds) - 1
    slow = np.clip(float(speeds.max()) / BURST, AT_PLACE, MOST_AT_PLACE)
    return [
        (first, last)
        for first, last in runs(speeds < slow)
        if (last - first + 1) / rate >= (RESTS / 2.0 if first == ends[0] or last == ends[1] else RESTS)
    ]


def _without_reversals(motion: Kinematics, stands: Mask) -> Mask:
    """`stands` `(C, F)` without feet that reverse in the air under a body that hangs: no foot bears it, yet it does not fall."""
    # Heights over one level: a foot on stairs does not go up and down with them.
    levels = motion.points[..., 2] - np.median(motion.points[..., 2] - motion.heights, axis=-1, keepdims=True)
    paths = np.concatenate([motion.points[:, 1, :, :2], levels.min(axis=1)[..., None]], axis=-1)
    near, lift, kept, rests = round(NEAR * motion.rate), LIFT + NOISE_TIMES * motion.noise, stands.copy(), stands.copy()
    reversals = [
        (foot, slice(first, last + 1), slice(max(first - near, 0), last + 1 + near))
        for foot, foot_stands in enumerate(stands)
        for first, last in runs(foot_stands)
        if _reverses_in_air(paths[foot], first, last, lift, motion.rate) and not _is_passed(paths[foot], motion.body, first, last)
    ]
    for foot, row, _ in reversals:
        rests[foot, row] = False
    hangs = ~rests.any(axis=0) & (_falls(motion) < HANGING)
    for foot, row, around in reversals:
        kept[foot, row] = np.mean(hangs[around]) <= HANGING
    return kept


def _is_passed(path: Array, body: Array, first: int, last: int) -> bool:
    """Whether the body passes over a foot that stays behind on its `path` `(F, 3)`, as it does in a step."""
    passed, followed = (float(magnitude((points[last] - points[first])[:2])) for points in (body, path))
    return passed > PASSES and followed < passed / 2.0


def _reverses_in_air(path: Array, first: int, last: int, lift: float, rate: float) -> bool:
    """Whether a foot on its `path` `(F, 3)` swings up and down without a rest, or comes from below and returns there.

    Nothing is known beyond the ends of a take.
    """
    heights = path[:, 2]
    level, lowest = float(median(heights[first : last + 1])), first + int(np.argmin(heights[first : last + 1]))
    sides = path[last:], path[first::-1]
    departures = [side[np.abs(side[:, 2] - level) > 3.0 * lift][:1] for side in sides]
    away = np.concatenate(departures) - [*path[lowest, :2], level]
    if not len(away) or len({*(away[:, 2] > 0.0).tolist()}) > 1 or np.any(magnitude(away[:, :2]) > np.abs(away[:, 2])):
        return False
    if away[0, 2] < 0.0:
        return True
    below_low, below_high = 0.0, 0.0
    for side in (heights[lowest:], heights[lowest::-1]):
        low, high = np.interp([lift, 3.0 * lift], np.maximum.accumulate(side - heights[lowest]), np.arange(len(side)))
        below_low, below_high = below_low + float(low), below_high + float(high)
    return below_high > SWINGS * below_low and 6.0 * lift * rate > AT_REST * below_high


def _glides(ball: Array, body: Array, rate: float) -> bool:
    """Whether a foot that seems to stand moves along with the body instead of bearing it, on average over its contact."""
    times = (np.arange(len(ball)) - (len(ball) - 1) / 2.0) / rate
    if len(ball) == 1:
        return False
    speed, leaving = (float(magnitude((times @ points / (times @ times))[:2])) for points in (ball, ball - body))
    return speed * times[-1] * 2.0 > LONG_GLIDE and speed > max(AT_REST, GLIDING_PART * leaving)


def _points_of(motion: Kinematics, evidence: Array, stands: Mask, lift: float, noise: float) -> Codes:
    """States `(C, F)` of the feet that stand, from their pitch and from which of their points is slow.

    The pitch of a flat foot is its median while both points stand by the evidence, or that of the rest pose if they never do.
    """
    states = np.zeros(stands.shape, int)
    order = np.array([ContactState.HEEL, ContactState.BOTH, ContactState.BALL], int)
    changes = ROLL * np.array([[0, 1, 1], [2, 0, 1], [2, 2, 0]])
    lifts = smoothed(motion.heights[:, 0] - motion.heights[:, 1], max(1, round(SIDE_IN_SECONDS / 2 * motion.rate)))
    for foot, (heel, ball) in enumerate(evidence):
        both = stands[foot] & (heel > 0.0) & (ball > 0.0)
        flat = float(np.clip(np.median(lifts[foot][both]), -MOST_LEVEL, MOST_LEVEL)) if both.any() else 0.0
        pitch = np.clip((lifts[foot] - flat) / np.hypot(lift, NOISE_TIMES * noise), -3.0, 3.0)
        # A raised ball, with negative pitch, speaks for the heel, a raised heel for the ball.
        worth = np.stack([heel - 1.0 - pitch, np.minimum(heel, ball) + 1.0 - np.abs(pitch), ball - 1.0 + pitch], axis=-1)
        heights = motion.heights[foot, 1]
        down = heights <= float(np.median(heights[stands[foot]])) + lift if stands[foot].any() else stands[foot]
        for first, last in runs(stands[foot]):
            # A ball that rests on the ground stands, however far its heel has sunk or rolled.
            for begin, end in _recorded_rests(motion, foot, first, last):
                inside = slice(begin, end + 1)
                worth[inside, 0] -= NEVER * down[inside]
            states[foot, first : last + 1] = order[best_path(worth[first : last + 1] / motion.rate, changes)]
        _turn_about(motion.points[foot], states[foot])
    return states


def _turn_about(points: Array, states: Codes) -> None:
    """Let a flat foot that turns on the spot stand only on the point it turns about, of `points` `(2, F, 3)`; edits `states`."""
    for first, last in runs(states == ContactState.BOTH):
        heel, ball = points[:, first : last + 1, :2]
        since, until = (magnitude(ball - heel - (ball - heel)[end]) for end in (0, -1))
        excursions = [float(magnitude(point - point.mean(axis=0)).max()) for point in (heel, ball)]
        if since.max() > MOST_SLIDE and min(excursions) <= STAYS * max(excursions):
            turning = first + np.flatnonzero((since > UNTURNED) & (until > UNTURNED))
            if len(turning):
                pivot = ContactState.BALL if excursions[1] < excursions[0] else ContactState.HEEL
                states[turning[0] : turning[-1] + 1] = int(pivot)


def _stance(feet: FeetMotion, states: Codes, evidence: Array, foot: int, row: tuple[int, int]) -> Stance:
    first, last = row
    inside = slice(first, last + 1)
    point = int(np.count_nonzero(states[inside] & ContactState.BALL) * 2 >= last - first + 1)
    path = feet.points[foot, point]
    standing = path[inside][(states[inside] & (point + 1)) != 0]
    travel = float(magnitude(standing - standing[0]).max(initial=0.0)) if len(standing) else 0.0
    moved = float(magnitude(standing - standing.mean(axis=0)).max()) if len(standing) else 0.0
    confidence = float(np.clip(np.mean(evidence[inside]), 0.0, 1.0))
    begins, ends = first - _time_in_place(path, first, -1), last + _time_in_place(path, last, 1)
    return Stance(first, last, begins, ends, travel, confidence, moved)


def _time_in_place(path: Array, edge: int, side: int) -> float:
    """Part of a frame, 0 to 1, beyond the `edge` of a stance during which the point was already, or still, in its place.

    Between the last frame on the way and the first one in place the point is taken to keep the speed of the step before.
    """
    away, before = edge + side, edge + 2 * side
    if not (0 <= before < len(path)):
        return 0.0
    speed, rest = float(magnitude(path[before] - path[away])), float(magnitude(path[away] - path[edge]))
    return 1.0 - min(1.0, rest / speed) if speed > 0.0 else 0.0


def _rest_first(feet: FeetMotion) -> bool:
    """Whether the first frame is a rest pose, far from all that follows."""
    places = np.concatenate([feet.points.reshape(-1, *feet.points.shape[-2:]), feet.hips])
    jump, *steps = magnitude(np.diff(places, axis=-2)).mean(axis=0) / feet.leg_length if places.shape[-2] > 1 else (0.0,)
    return len(steps) > STUB and jump > max(MOST_LEVEL, APART * float(np.quantile(steps, 0.95)))
