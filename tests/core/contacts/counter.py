"""Motion in which feet are low, or still, or both, and do not stand: what a finder of contacts must not plant.

All lengths are in leg lengths until the end, as in `gait`; a foot has its heel and its ball `FOOT` apart.
"""

import numpy as np

from tests.core.contacts.gait import FOOT, RUN, Feet, feet_of

GRAVITY = 9.81 / 0.9
"""Leg lengths a second squared, of a leg of 0.9 m."""
STOPPED = 0.3
"""Leg lengths a second, below which a foot that glides to its stop may be called standing."""


def _posed(places, hips, stands, rate, leg_length, *, pitch=0.0):
    """Feet `(2, 2, F, 3)` that point along Y from places `(2, F, 3)` of their balls; `pitch` `(2, F)` lifts the heels."""
    pitch = np.broadcast_to(pitch, places.shape[:2])
    back = FOOT * np.stack([np.zeros_like(pitch), -np.cos(pitch), np.sin(pitch)], axis=-1)
    points = np.stack([places + back, places], axis=1)
    both = np.stack([stands & (pitch < 0.05), stands], axis=1)
    return Feet(points * leg_length, hips * leg_length, both, leg_length, rate)


def _beside(middle):
    """Places `(2, F, 3)` of two feet beside a way `(F, 3)`."""
    return middle + np.array([[[0.1, 0.0, 0.0]], [[-0.1, 0.0, 0.0]]])


def glide_on_ice(speed, *, rate=30, leg_length=0.9, stride=0.15):
    """Both feet flat, one before the other, carried along with the body, which sways a little."""
    times = np.arange(4 * rate) / rate
    way = np.stack([0 * times, speed * times, 0 * times], axis=-1)
    places = _beside(way) + np.array([[[0.0, stride, 0.0]], [[0.0, -stride, 0.0]]])
    sway = np.stack([0.03 * np.sin(3 * times), 0 * times, 0.92 + 0.01 * np.sin(5 * times)], axis=-1)
    return _posed(places, _beside(way) + sway, np.zeros((2, len(times)), bool), rate, leg_length)


def slide_to_a_stop(*, rate=30, leg_length=0.9):
    """Two seconds of a run, a slide on both feet that slows down for a second, and a stand of a second; where it glides."""
    run = feet_of(RUN, rate=rate, seconds=2.0, leg_length=1.0)
    count = run.points.shape[2]
    times = np.arange(1, 2 * rate + 1) / rate
    slowing = np.clip(times, 0.0, 1.0)
    way = np.stack([0 * times, RUN.speed * (slowing - slowing**2 / 2), 0 * times], axis=-1)
    start = run.hips[:, -1:].mean(axis=0) * [0.0, 1.0, 0.0]
    fade = np.clip(times / 0.1, 0.0, 1.0)[:, None]
    slide = _posed(
        _beside(start + way), _beside(start + way) + np.array([0, -0.1, 0.9]), np.tile(times >= 1.0, (2, 1)), rate, 1.0
    )
    placed = run.points[:, :, -1:] + way + fade * (slide.points - way - run.points[:, :, -1:])
    points, hips, stands = (
        np.concatenate(parts, axis=2 if parts[0].ndim > 3 or parts[0].dtype == bool else 1)
        for parts in ((run.points, placed), (run.hips, slide.hips), (run.stands, slide.stands))
    )
    glides = np.zeros((2, points.shape[2]), bool)
    glides[:, count:] = RUN.speed * (1 - slowing) > STOPPED
    return Feet(points * leg_length, hips * leg_length, stands, leg_length, rate), glides


def moonwalk(*, rate=30, leg_length=0.9, speed=0.6):
    """Backwards: one foot stands on its ball with the heel up, while the other glides flat along the floor; then they change."""
    times = np.arange(6 * rate) / rate
    half = 0.7
    step, part = np.divmod(times / half, 1.0)
    eased = part * part * (3 - 2 * part)
    places, stands, pitch = np.zeros((2, len(times), 3)), np.zeros((2, len(times)), bool), np.zeros((2, len(times)))
    reach = 2 * speed * half
    for side in (0, 1):
        glides = step % 2 == side
        steps = np.floor((step + (1 - side)) / 2)
        places[side, :, 1] = -reach * (steps - glides + glides * eased) + side * reach / 2
        stands[side] = ~glides
        pitch[side] = np.where(glides, 0.0, 0.7 * np.minimum(1.0, np.minimum(part, 1 - part) / 0.15))
    hips = np.stack([0 * times, -speed * times, np.full_like(times, 0.92)], axis=-1)
    return _posed(places + np.array([[[0.1, 0, 0]], [[-0.1, 0, 0]]]), _beside(hips), stands, rate, leg_length, pitch=pitch)


def raised_foot(height, *, rate=30, leg_length=0.9, sway=0.01):
    """One foot stands, the other is lifted after a second and held still for three, while the body sways a little."""
    times = np.arange(5 * rate) / rate
    up = np.interp(times, [0.0, 0.7, 1.0, 4.0, 4.3, 5.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    places = _beside(np.zeros((len(times), 3)))
    places[1, :, 2] = height * up * up * (3 - 2 * up)
    places[1, :, 1] = 0.15 * up + sway * up * np.sin(4 * times)
    hips = np.stack([0.04 * up, sway * np.sin(4 * times), np.full_like(times, 0.92)], axis=-1)
    stands = np.array([times >= 0.0, up == 0.0])
    return _posed(places, _beside(hips), stands, rate, leg_length)


def hops(*, rate=30, leg_length=0.9, one_leg=False, along=0.0):
    """Hops of 0.3 s in the air and 0.3 s on the ground, on both feet or on one, on the spot or along; with what is in the air."""
    times = np.arange(5 * rate) / rate
    step, part = np.divmod(times / 0.6, 1.0)
    flight = np.clip((part - 0.5) / 0.5, 0.0, 1.0)
    rise = GRAVITY * 0.3**2 / 2 * flight * (1 - flight)
    crouch = -0.5 * GRAVITY * 0.3 * 0.3 / np.pi * np.sin(np.pi * np.clip(part / 0.5, 0.0, 1.0))
    way = np.stack([0 * times, along * 0.6 * (step + flight), rise], axis=-1)
    places = _beside(way)
    if one_leg:
        places[1, :, 2] += 0.25
    body = np.stack([0 * times, along * times, 0.92 + rise + np.where(part < 0.5, crouch, 0.0)], axis=-1)
    stands = np.tile(part < 0.5, (2, 1))
    stands[1] &= not one_leg
    pitch = np.where(flight > 0, 0.5 * np.sin(np.pi * flight), 0.0)
    return _posed(places, _beside(body), stands, rate, leg_length, pitch=pitch)


def hover(*, rate=30, leg_length=0.9):
    """A jump on the spot as games have it: up within a quarter of a second, a second in the air in which one leg sinks, down."""
    times = np.arange(4 * rate) / rate
    up = np.interp(times, [0.0, 1.0, 1.25, 2.4, 2.65, 4.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    sinks = 0.25 * np.sin(np.pi * np.clip((times - 1.55) / 0.85, 0.0, 1.0)) ** 2
    places = _beside(np.zeros((len(times), 3)))
    places[:, :, 2] = up * np.array([[0.36], [0.58]]) - up * sinks * np.array([[1.0], [0.35]])
    body = np.stack([0 * times, 0 * times, 0.92 + up * (0.32 - 0.7 * sinks)], axis=-1)
    stands = np.tile(up == 0.0, (2, 1))
    return _posed(places, _beside(body), stands, rate, leg_length)


def steps_in_place(*, rate=30, leg_length=0.9, moves=0.12, lift=0.045, lasts=0.3):
    """A body that stands for six seconds while its feet, one after the other, step aside and back, heel first off the ground."""
    times = np.arange(6 * rate) / rate
    places, hips = _beside(np.zeros((len(times), 3))), np.stack([0 * times, 0.01 * np.sin(2 * times), 0 * times + 0.92], axis=-1)
    stands, pitch = np.ones((2, len(times)), bool), np.zeros((2, len(times)))
    for number, start in enumerate((0.8, 1.8, 2.8, 3.8, 4.8)):
        side, part = number % 2, np.clip((times - start) / lasts, 0.0, 1.0)
        places[side, :, 0] += (-1) ** (number // 2) * moves * part**2 * (3 - 2 * part) * (1 - 2 * side)
        pitch[side] += np.arcsin(lift / FOOT) * np.sin(np.pi * part)
        stands[side] &= (part <= 0.0) | (part >= 1.0)
    return _posed(places, _beside(hips), stands, rate, leg_length, pitch=pitch)


def hang(*, rate=30, leg_length=0.9, seconds=4.0, kick=0.0):
    """All in the air: the body goes up and down as slowly as no fall is, the feet hang below it, or kick as a swimmer's do."""
    times = np.arange(round(seconds * rate)) / rate
    bob, phases = 5.8 * times, np.array([[0.4], [0.9]])
    places = _beside(np.zeros((len(times), 3)))
    places[0, :, 2] = 0.5 + 0.14 * np.cos(bob)
    places[1, :, 2] = 0.7 + 0.045 * np.cos(bob)
    places[:, :, 1] += kick * np.sin(4.1 * times + phases * np.pi)
    body = np.stack([0 * times, 0 * times, 1.5 + 0.09 * np.cos(bob)], axis=-1)
    return _posed(places, _beside(body), np.zeros((2, len(times)), bool), rate, leg_length, pitch=-0.6)


def counter_set(rate=30):
    """Names, feet, and where `(2, F)` each must not be planted."""
    for speed in (0.4, 1.0, 2.0):
        feet = glide_on_ice(speed, rate=rate)
        yield f"glide {speed}", feet, np.ones(feet.stands[:, 0].shape, bool)
    yield "stop", *slide_to_a_stop(rate=rate)
    feet = moonwalk(rate=rate)
    speed = np.abs(np.gradient(feet.points[:, 1, :, 1], 1 / feet.rate, axis=1))
    yield "moonwalk", feet, ~feet.stands.any(axis=1) & (speed > STOPPED * feet.leg_length)
    for height in (0.1, 0.25):
        feet = raised_foot(height, rate=rate)
        yield f"raised {height}", feet, feet.points[:, 1, :, 2] > 0.05 * feet.leg_length
    for moves in (0.08, 0.15):
        feet = steps_in_place(rate=rate, moves=moves)
        speed = np.abs(np.gradient(feet.points[:, 1, :, 0], 1 / feet.rate, axis=1))
        yield f"steps {moves}", feet, ~feet.stands.any(axis=1) & (speed > 0.7 * speed.max())
    for name, feet in (
        ("hover", hover(rate=rate)),
        ("hang", hang(rate=rate)),
        ("hang shortly", hang(rate=rate, seconds=1.3)),
        ("swim", hang(rate=rate, kick=0.3)),
        ("hops", hops(rate=rate)),
        ("hops along", hops(rate=rate, along=1.2)),
        ("hops on one leg", hops(rate=rate, one_leg=True)),
    ):
        # What takes off and lands within a frame is no fault.
        yield name, feet, ~feet.stands.any(axis=1) & (feet.points[:, 1, :, 2] > 0.03 * feet.leg_length)
