"""When each foot stands, and on which of its points: the most plausible story of the whole take.

Per second that a foot spends slow, level and low it is plausible by up to 1 that it stands; per second that it is fast or
high, by up to `AGAINST` that it does not. Landing and lifting cost something, and so does a body that nobody bears
though it does not fall, or that is borne while it falls. The best sum over the take is found by dynamic programming over
all feet together (Viterbi, 1967), so that a single bad frame changes nothing. What counts as slow follows from how fast
the feet differ near by, from the noise, and, in rounds, from how fast those feet are that stand.
All lengths inside are in leg lengths, all times in seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..array_types import Array, Codes, Mask
from ..arrays import magnitude
from .feet import SIDE_IN_SECONDS, FeetMotion, Kinematics, quantile_near, smoothed
from .ground import local_floor
from .states import ContactState, runs, without_gaps, without_short

NEAR = 0.6
"""Seconds before and after a frame whose motion tells how fast feet move there: a step is never farther away."""
MOSTLY = 0.88
"""Quantile that counts as the fastest: single frames may be wrong, and at rest between steps most are slow."""
SLOW_PART = 0.3
"""Of the fastest difference between feet: up to that, one of them may stand and slide."""
SLOWEST_TOLERANCE, LANDING_PART = 0.5, 0.1
"""Leg lengths a second, and part of the fastest difference, that are always slow: a landing foot comes to rest through them
within a frame or two."""
TIMES_USUAL = 2.0
"""A foot may be so many times faster than it usually is near by while it stands."""
LOW = 0.07
"""Leg lengths over the floor: floating, soft ground and bent soles are lower, a raised foot is higher."""
AGAINST = 2.0
"""Most that a second may tell against standing, in seconds that tell for it."""
CHANGE = 0.05
"""Seconds of sure standing that a landing, or a lifting, must be worth."""
WEIGHT = 1.0
"""What it counts per second that a body is borne or falls, over against one sure foot."""
GRAVITY, FALLING, LEVEL_FLIGHT = 10.9, 0.65, 0.35
"""Leg lengths a second squared, of a leg of 0.9 m; and parts of it from which a body surely falls, and may be falling."""
FALL_SPAN = 0.2
"""Seconds over which the fall of the hips is told: half a short flight."""
AT_ANY_PACE, AT_REST, GLIDING_PART, GLIDING_SPAN = 0.15, 0.1, 0.7, 0.3
"""A foot that stands is left behind by the body. Leg lengths a second that count for nothing at a frame, and on average over a
contact; part of the pace at which the body leaves a foot that the foot itself may have; seconds before and after a frame
over which that pace is told: a glide lasts, a halt does not."""
NOISE_TIMES = 2.0
"""Standard deviations of the noise by which tolerances grow."""
LOWEST_STAND = 0.25
"""Quantile of the heights at which a point stands that counts as its own level."""
MOST_LEVEL = 0.12
"""Leg lengths by which the level of a point may differ from the ground: soles are thick, feet at rest may point down."""
ROUNDS = 3
LENIENT = 2.0
"""Times the tolerances up to which a foot may stand that never would."""
LEAVE = 1.25
"""Of the speed and the height at which a contact begins, those at which it ends, where only the former are given."""
LIFT = 0.012
"""Leg lengths, 1 cm of a leg, by which the heel is up, or the ball, of a foot that does not lie flat any more."""
ROLL = 0.02
"""Seconds that a change between heel, both and ball must be worth; twice that where it goes from toe to heel."""
LEAST_IN_SECONDS = 0.06
"""The shortest contacts of a sprint take 0.08 s."""
STUB = 3
"""Frames; what stands no longer at the first frame of a range is the end of a contact that is not to be seen."""
LANDED, SWINGING = 0.5, 2.0
"""Evidence from the calmer side of the last two frames that tells of a landing there, too short to be worth it otherwise; and
times the tolerance that the foot was faster just before."""
MOST_SLIDE = 0.05
"""Leg lengths that a foot may slide within a contact before it is asked whether that was a step."""
UNTURNED, STAYS = 0.006, 1.0 / 3.0
"""Leg lengths that a heel or ball may have moved and still be in its place; and part of its path that the other one, which
a foot turns about, may have gone."""
HANGING, SWINGS = 0.5, 1.5
"""Part of the time near a contact at which a body that does not fall is borne by nobody, from which it hangs; and times as long
that a foot which swings is below three times a height as below that height: 1.7 at constant acceleration, 1 where it stops."""
LONG_GLIDE = 0.2
"""Leg lengths that a contact must travel with the body to count as a glide."""
MOST_TOGETHER = 4
"""Feet whose story is one; those of creatures with more have one each."""
APART = 6.0
"""Times the usual step from frame to frame by which a first frame that is a rest pose is away from the second."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Of one search; 0 stands for what follows from the motion."""

    enter_speed: float = 0.0
    """Units a second, relative to the ground, below which a point stands surely."""
    leave_speed: float = 0.0
    """Units a second up to which it goes on standing, before and after."""
    enter_height: float = 0.0
    """Units over the ground below which a point stands surely."""
    leave_height: float = 0.0
    """Units up to which it goes on standing."""
    lift: float = 0.0
    """Units by which the heel or the ball of a standing foot is up when it does not stand any more itself."""
    least_length: float = 0.0
    """Frames; shorter contacts of a foot are none."""
    longest_gap: float = 0.0
    """Frames; shorter gaps in a contact are bridged."""


@dataclass(frozen=True, slots=True)
class Stance:
    """One time of a foot on the ground, whichever points stand in it."""

    first: int
    last: int
    """Indices of its first and last frame."""
    begins: float
    ends: float
    """The same between frames: when the foot arrives at its place, and when it leaves it, in frames from the first one."""
    travel: float
    """Units that the standing point slides over its ground; more than a few hundredths of a leg is a slide."""
    confidence: float
    """0 to 1: how much the motion speaks for it, on average over its frames."""


@dataclass(frozen=True, slots=True)
class Story:
    """What all feet of a take do."""

    states: Codes
    """`(C, F)`, see `states`."""
    stances: tuple[tuple[Stance, ...], ...]
    """Of each foot, in order."""
    has_rest_first: bool
    """Whether the first frame is a pose of its own, as exporters leave a rest pose there; nothing stands at it then."""

    def held(self, before: int, after: int) -> Story:
        """The same with so many frames more at both ends, at which all is as at the first, or the last, frame."""
        last = self.states.shape[1] - 1

        def longer(each: Stance) -> Stance:
            starts, ends = before if each.first else 0, before + (after if each.last == last else 0)
            return replace(
                each, first=each.first + starts, last=each.last + ends, begins=each.begins + starts, ends=each.ends + ends
            )

        stances = tuple(tuple(longer(each) for each in foot) for foot in self.stances)
        return replace(self, states=np.pad(self.states, [(0, 0), (before, after)], mode="edge"), stances=stances)

    def stance_of(self, foot: int, first: int, last: int) -> Stance | None:
        """The stance that has most of the frames from index `first` to `last`; `None` where none has any."""
        shared = [(min(each.last, last) - max(each.first, first) + 1, each.first, each) for each in self.stances[foot]]
        most = max(shared, default=(0, 0, None), key=lambda each: each[:2])
        return most[2] if most[0] > 0 else None


def find_states(feet: FeetMotion, given: Thresholds, *, any_height: bool = True) -> Codes:
    """States `(C, F)` as `find_story` has them."""
    return find_story(feet, given, any_height=any_height).states


def find_story(feet: FeetMotion, given: Thresholds, *, any_height: bool = True) -> Story:
    """When feet stand whose points and heights are relative to the ground.

    any_height : whether feet may stand on stairs, slopes and boxes that nobody has named; else heights are as they are.
    A single frame counts as standing still: then the height decides.
    """
    if _rest_first(feet):
        after = find_story(feet.since(1), given, any_height=any_height)
        moved = tuple(
            tuple(
                replace(each, first=each.first + 1, last=each.last + 1, begins=each.begins + 1, ends=each.ends + 1)
                for each in foot
            )
            for foot in after.stances
        )
        return Story(np.insert(after.states, 0, int(ContactState.NONE), axis=1), moved, has_rest_first=True)
    around, before = feet.going_on(round(NEAR * feet.rate))
    own = slice(before, before + feet.points.shape[-2])
    motion = Kinematics.of(around)
    told = _told(motion, given, feet.leg_length, any_height=any_height)
    tolerances, best = told.tolerances, told.evidence.max(axis=1)
    swung = motion.speeds[..., -round(NEAR / 2 * motion.rate) :].min(axis=1).max(axis=-1) > SWINGING * tolerances.speed[:, -1]
    calm = _evidence(motion.calmer(), tolerances, any_height=any_height).max(axis=1)
    landed = swung & (calm[:, -2:].min(axis=1) > LANDED)
    stands = _tidied(motion, told, landed, given)
    states = _points_of(motion, told.evidence, stands, given.lift / feet.leg_length or LIFT, tolerances.noise)
    states, stands, best = (each[:, own] for each in (states, stands, best))
    stances = tuple(
        tuple(_stance(feet, states[foot], best[foot], foot, row) for row in runs(each)) for foot, each in enumerate(stands)
    )
    return Story(states, stances, has_rest_first=False)


def story_of(feet: FeetMotion, states: Codes, confidence: float = 1.0) -> Story:
    """The story of feet whose states `(C, F)` are known from elsewhere, which is as sure as that is."""
    sure = np.full(states.shape[1], confidence)
    stances = [tuple(_stance(feet, own, sure, foot, row) for row in runs(own > 0)) for foot, own in enumerate(states)]
    return Story(states, tuple(stances), has_rest_first=False)


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Up to where a point may stand, leg lengths and seconds."""

    speed: Array
    """`(C, F)`"""
    least_speed: Array
    """`(F,)` always slow enough; and of the vertical part never more, since what glides is level and what lands is not."""
    glide: Array
    """`(C, 2, F)`; speeds that are too near to the body's own for a foot that bears it."""
    height: float
    noise: float
    """Standard deviation of positions, leg lengths."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the motion tells before anything is tidied."""

    tolerances: Tolerances
    evidence: Array
    """`(C, 2, F)` per second, for each point."""
    stands: Mask
    """`(C, F)`"""
    may_glide: Mask
    """`(C,)` whose contacts may be glides, not slides that were asked for."""


def _told(motion: Kinematics, given: Thresholds, length: float, *, any_height: bool) -> Told:
    falls = _falls(motion)
    now = _first_tolerances(motion, given, length)
    evidence = _evidence(motion, now, any_height=any_height)
    stands = _plausible(evidence.max(axis=1), falls, motion.rate)
    for _ in range(0 if given.enter_speed or given.leave_speed else ROUNDS):
        speeds = np.where(evidence[:, 0] > evidence[:, 1], motion.speeds[:, 0], motion.speeds[:, 1])
        usual = np.array([_usual(*foot) for foot in zip(speeds, stands, strict=True)])
        narrower = np.minimum(now.speed, np.maximum(now.least_speed, TIMES_USUAL * usual))
        if np.allclose(narrower, now.speed):
            break
        now = replace(now, speed=narrower)
        evidence = _evidence(motion, now, any_height=any_height)
        stands = _plausible(evidence.max(axis=1), falls, motion.rate)
    never = np.array([not (foot[STUB:-2] if len(foot) > 2 * STUB else foot).any() for foot in stands])
    if never.any() and not (given.enter_speed or given.leave_speed):
        # In fast cycles feet stand for a frame or two, and not all as still as the ground's velocity, common to all, has them.
        gliding = 1.0 if never.all() else LENIENT
        lenient = replace(now, speed=LENIENT * now.speed, least_speed=LENIENT * now.least_speed, glide=gliding * now.glide)
        eased = _evidence(motion, lenient, any_height=False)
        evidence = np.where(never[:, None, None], eased, evidence)
        stands |= never[:, None] & _plausible(eased.max(axis=1), np.full_like(falls, 0.5), motion.rate / LENIENT**2)
    sure_speed, sure_height = (each / length or np.inf for each in (given.enter_speed, given.enter_height))
    if np.isfinite(min(sure_speed, sure_height)):
        sure = np.any((motion.speeds <= sure_speed) & (motion.heights <= sure_height), axis=1)
        stands = np.array([_with_any(*foot) for foot in zip(stands, sure, strict=True)])
    return Told(now, evidence, stands, ~never & (not given.enter_speed))


def _usual(speeds: Array, stands: Mask) -> Array:
    """How fast a foot usually is while it `stands` near by, `(F,)`: in a stance, the one before and the one after it."""
    rows = runs(stands)
    if not rows:
        return np.full(len(speeds), np.inf)
    near = [slice(rows[max(number - 1, 0)][0], last + 1) for number, (_, last) in enumerate([*rows[1:], rows[-1]])]
    medians = [np.median(speeds[row][stands[row]]) for row in near]
    return np.interp(np.arange(len(speeds)), np.mean(rows, axis=1), medians)


def _first_tolerances(motion: Kinematics, given: Thresholds, length: float) -> Tolerances:
    velocities = motion.velocities.mean(axis=1)
    others = range(len(velocities))
    pairs = [magnitude(velocities[one] - velocities[two]) for one in others for two in others[:one]] or [magnitude(velocities[0])]
    fastest = quantile_near(np.max(pairs, axis=0), NEAR * motion.rate, MOSTLY)
    left = magnitude((motion.velocities - motion.body_velocity)[..., :2])
    glide = AT_ANY_PACE + GLIDING_PART * quantile_near(left, GLIDING_SPAN * motion.rate, 0.75)
    least = np.maximum(SLOWEST_TOLERANCE, LANDING_PART * fastest)
    speed = np.tile(np.maximum(least, SLOW_PART * fastest), (len(velocities), 1))
    speed_given = max(given.leave_speed, given.enter_speed * (LEAVE if not given.leave_speed else 1.0)) / length
    if speed_given:
        speed, glide = np.full_like(speed, speed_given), np.full_like(glide, np.inf)
    height = max(given.leave_height, given.enter_height * (LEAVE if not given.leave_height else 1.0)) / length
    noise = 0.0 if speed_given or height else motion.noise
    return Tolerances(speed, least, glide, height or LOW, noise)


def _evidence(motion: Kinematics, tolerances: Tolerances, *, any_height: bool) -> Array:
    """How much each point speaks for standing `(C, 2, F)`, per second: 1 at rest on the floor, 0 at the edge."""
    heights = motion.heights
    if any_height:
        heights = heights - local_floor(motion, heights, tolerances.speed, tolerances.least_speed, MOST_LEVEL)
    slow = (motion.speeds <= tolerances.speed[:, None]) & (np.abs(heights) <= MOST_LEVEL + tolerances.height)
    levels = [
        [np.quantile(h[on], LOWEST_STAND) if on.any() else 0.0 for h, on in zip(*foot, strict=True)]
        for foot in zip(heights, slow, strict=True)
    ]
    heights = heights - np.clip(levels, -MOST_LEVEL, MOST_LEVEL)[..., None]
    jitter = (NOISE_TIMES * motion.noise_of_speeds(tolerances.noise)) ** 2
    speed = motion.speeds**2 / (np.minimum(tolerances.speed[:, None], tolerances.glide) ** 2 + jitter)
    height = np.maximum(heights, 0.0) ** 2 / (tolerances.height**2 + (NOISE_TIMES * tolerances.noise) ** 2)
    rise = motion.rises**2 / (tolerances.least_speed**2 + jitter)
    return np.clip(1.0 - speed - height - rise, -AGAINST, 1.0)


def _falls(motion: Kinematics) -> Array:
    """How surely `(F,)` the hips fall, 0 to 1, from the second derivative of a parabola through their heights."""
    reach = max(2, round(FALL_SPAN / 2 * motion.rate))
    heights = motion.body[:, 2]
    if len(heights) <= reach:
        return np.zeros(len(heights))
    places = np.arange(-reach, reach + 1.0)
    bow = places**2 - np.mean(places**2)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(heights, reach, mode="reflect", reflect_type="odd"), 2 * reach + 1)
    acceleration = around @ (2.0 * bow / (bow @ bow)) * motion.rate**2
    return np.clip((-acceleration / GRAVITY - LEVEL_FLIGHT) / (FALLING - LEVEL_FLIGHT), 0.0, 1.0)


def _plausible(evidence: Array, falls: Array, rate: float) -> Mask:
    """Whether each foot stands `(C, F)` in the story that `evidence` `(C, F)` and falls of the body `(F,)` make best."""
    if len(evidence) > MOST_TOGETHER:
        return np.concatenate([_plausible(foot[None], np.full_like(falls, 0.5), rate) for foot in evidence])
    feet = np.arange(len(evidence))
    stories = (np.arange(2 ** len(feet))[:, None] >> feet) & 1
    worth = evidence.T @ stories.T - WEIGHT * np.where(stories.any(axis=1), falls[:, None], 1.0 - falls[:, None])
    changes = CHANGE * np.abs(stories[:, None] - stories).sum(axis=-1)
    return stories[best_path(worth / rate, changes)].T.astype(bool)


def best_path(worth: Array, changes: Array) -> Codes:
    """Which of `S` states `(F,)` to be in for the most `worth` `(F, S)`, less the `changes` `(S, S)` from one to another."""
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


def _with_any(stands: Mask, sure: Mask) -> Mask:
    """The rows of `stands` `(F,)` in which `sure` `(F,)` is true somewhere."""
    kept = np.zeros_like(stands)
    for first, last in runs(stands):
        kept[first : last + 1] = sure[first : last + 1].any()
    return kept


def _tidied(motion: Kinematics, told: Told, landed: Mask, given: Thresholds) -> Mask:
    """Whether each foot stands `(C, F)`, without swallowed steps, glides, gaps, and what is too short to be planted."""
    kept, evidence, count = _rests(motion, told.stands), told.evidence.max(axis=1), told.stands.shape[-1]
    lowest = motion.heights.min(axis=1)
    for foot, own in enumerate(kept):
        ball = motion.points[foot, 1]
        for first, last in runs(own):
            level = np.median(lowest[foot, first : last + 1])
            for one, two in runs(evidence[foot, first : last + 1] < 0.0):
                start, end = first + one, first + two
                is_inside = first < start and end < last
                is_lifted = lowest[foot, start : end + 1].max() - level > LOW / 2 + NOISE_TIMES * motion.noise
                if is_inside and is_lifted and magnitude(ball[end + 1] - ball[start - 1]) > MOST_SLIDE:
                    own[start : end + 1] = False
        for first, last in runs(own):
            if told.may_glide[foot] and _glides(ball[first : last + 1], motion.body[first : last + 1], motion.rate):
                own[first : last + 1] = False
        own[-2:] |= landed[foot] and count > STUB
        bridged = without_gaps(own, given.longest_gap) if given.longest_gap else own
        own[:] = without_short(bridged, given.least_length or LEAST_IN_SECONDS * motion.rate)
        if count > STUB:
            first_rows, last_rows = runs(own[: STUB + 1]), runs(own[-2:])
            if first_rows and first_rows[0][0] == 0 and not own[STUB]:
                own[: first_rows[0][1] + 1] = False
            if last_rows == [(1, 1)]:
                own[-1] = False
    return kept


def _rests(motion: Kinematics, stands: Mask) -> Mask:
    """The same `stands` `(C, F)` without feet that turn in the air, under a body that neither falls nor is borne by anybody."""
    ways = np.concatenate([motion.points[:, 1, :, :2], motion.heights.min(axis=1)[..., None]], axis=-1)
    near, lift, kept, rests = round(NEAR * motion.rate), LIFT + NOISE_TIMES * motion.noise, stands.copy(), stands.copy()
    turns = [
        (foot, slice(first, last + 1), slice(max(first - near, 0), last + 1 + near))
        for foot, own in enumerate(stands)
        for first, last in runs(own)
        if _turns_in_the_air(ways[foot], first, last, lift, motion.rate)
    ]
    for foot, row, _ in turns:
        rests[foot, row] = False
    hangs = ~rests.any(axis=0) & (_falls(motion) < HANGING)
    for foot, row, around in turns:
        kept[foot, row] = np.mean(hangs[around]) <= HANGING
    return kept


def _turns_in_the_air(way: Array, first: int, last: int, lift: float, rate: float) -> bool:
    """Whether a foot on its `way` `(F, 3)` goes up and down without a rest, or comes from below and goes back there.

    Beyond the ends of a take nothing is known.
    """
    heights = way[:, 2]
    level, lowest = float(np.median(heights[first : last + 1])), first + int(np.argmin(heights[first : last + 1]))
    sides = way[last:], way[first::-1]
    gone = [side[np.abs(side[:, 2] - level) > 3.0 * lift][:1] for side in sides]
    away = np.concatenate(gone) - [*way[lowest, :2], level]
    if not len(away) or len({*(away[:, 2] > 0.0).tolist()}) > 1 or np.any(magnitude(away[:, :2]) > np.abs(away[:, 2])):
        return False
    if away[0, 2] < 0.0:
        return True
    short, long = 0.0, 0.0
    for side in (heights[lowest:], heights[lowest::-1]):
        one, two = np.interp([lift, 3.0 * lift], np.maximum.accumulate(side - heights[lowest]), np.arange(len(side)))
        short, long = short + float(one), long + float(two)
    return long > SWINGS * short and 6.0 * lift * rate > AT_REST * long


def _glides(ball: Array, body: Array, rate: float) -> bool:
    """Whether a foot that seems to stand goes along with the body instead of bearing it, on average over its contact."""
    times = (np.arange(len(ball)) - (len(ball) - 1) / 2.0) / rate
    if len(ball) == 1:
        return False
    pace, left = (float(magnitude((times @ each / (times @ times))[:2])) for each in (ball, ball - body))
    return pace * times[-1] * 2.0 > LONG_GLIDE and pace > max(AT_REST, GLIDING_PART * left)


def _points_of(motion: Kinematics, evidence: Array, stands: Mask, lift: float, noise: float) -> Codes:
    """Which points stand `(C, F)`: the pitch of a foot tells, and which of its points is slow.

    Flat is a foot as it is most of the time while both of its points stand surely, or as it is at rest if they never do.
    """
    states = np.zeros(stands.shape, int)
    order = np.array([ContactState.HEEL, ContactState.BOTH, ContactState.BALL], int)
    changes = ROLL * np.array([[0, 1, 1], [2, 0, 1], [2, 2, 0]])
    lifts = smoothed(motion.heights[:, 0] - motion.heights[:, 1], max(1, round(SIDE_IN_SECONDS / 2 * motion.rate)))
    for foot, (heel, ball) in enumerate(evidence):
        both = stands[foot] & (heel > 0.0) & (ball > 0.0)
        flat = float(np.clip(np.median(lifts[foot][both]), -MOST_LEVEL, MOST_LEVEL)) if both.any() else 0.0
        pitch = np.clip((lifts[foot] - flat) / np.hypot(lift, NOISE_TIMES * noise), -3.0, 3.0)
        worth = np.stack([heel - 1.0 - pitch, np.minimum(heel, ball) + 1.0 - np.abs(pitch), ball - 1.0 + pitch], axis=-1)
        for first, last in runs(stands[foot]):
            states[foot, first : last + 1] = order[best_path(worth[first : last + 1] / motion.rate, changes)]
        _turn_about(motion.points[foot], states[foot])
    return states


def _turn_about(points: Array, states: Codes) -> None:
    """Let a flat foot that turns on the spot stand on that of its `points` `(2, F, 3)` about which it turns, in place."""
    for first, last in runs(states == ContactState.BOTH):
        heel, ball = points[:, first : last + 1, :2]
        since, until = (magnitude(ball - heel - (ball - heel)[end]) for end in (0, -1))
        gone = [float(magnitude(each - each.mean(axis=0)).max()) for each in (heel, ball)]
        if since.max() > MOST_SLIDE and min(gone) <= STAYS * max(gone):
            turning = first + np.flatnonzero((since > UNTURNED) & (until > UNTURNED))
            if len(turning):
                stays = ContactState.BALL if gone[1] < gone[0] else ContactState.HEEL
                states[turning[0] : turning[-1] + 1] = int(stays)


def _stance(feet: FeetMotion, states: Codes, evidence: Array, foot: int, row: tuple[int, int]) -> Stance:
    first, last = row
    inside = slice(first, last + 1)
    point = int(np.count_nonzero(states[inside] & ContactState.BALL) * 2 >= last - first + 1)
    way = feet.points[foot, point]
    on = way[inside][(states[inside] & (point + 1)) != 0]
    travel = float(magnitude(on - on[0]).max(initial=0.0)) if len(on) else 0.0
    confidence = float(np.clip(np.mean(evidence[inside]), 0.0, 1.0))
    begins, ends = first - _rest_of_way(way, first, -1), last + _rest_of_way(way, last, 1)
    return Stance(first, last, begins, ends, travel, confidence)


def _rest_of_way(way: Array, edge: int, side: int) -> float:
    """Part of a frame beyond the `edge` of a stance at which the point was in its place already, or still.

    Between the last frame on the way and the first one in place the point goes on as fast as one frame before that.
    """
    away, before = edge + side, edge + 2 * side
    if not (0 <= before < len(way)):
        return 0.0
    pace, rest = float(magnitude(way[before] - way[away])), float(magnitude(way[away] - way[edge]))
    return 1.0 - min(1.0, rest / pace) if pace > 0.0 else 0.0


def _rest_first(feet: FeetMotion) -> bool:
    """Whether the first frame is a pose apart from all that follows."""
    places = np.concatenate([feet.points.reshape(-1, *feet.points.shape[-2:]), feet.hips])
    jump, *steps = magnitude(np.diff(places, axis=-2)).mean(axis=0) / feet.leg_length if places.shape[-2] > 1 else (0.0,)
    return len(steps) > STUB and jump > max(MOST_LEVEL, APART * float(np.quantile(steps, 0.95)))
