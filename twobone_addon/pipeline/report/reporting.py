"""Turn solved and measured chains into reports, say where their tips are, and tell whether a report is up to date."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from ...core.array_types import Array, Codes, Mask
from ...core.arrays import frame_rows
from ...core.curves.frames import ranges
from ...core.rig.bones import RestBone
from ...core.solver import Reach
from ...records import replace
from ...said import Sentence, Statement, note
from ...scene.blender_types import Property, Scene
from ...scene.bones import location_path
from ...scene.graph.motion_digests import KnownMotion, motion_digest, text_digest
from ...scene.keys.reading import is_animated
from ...scene.keys.tables import ChannelKeys
from ...scene.lookup import find_armature, object_named, playing_action
from ...scene.rig.chain_finding import bones_of, end_name
from ...settings import ORIGINS, BakeSettings
from ..keying import NO_DRIFT, KeyDrift
from ..plan.found_chain import chain_names
from ..plan.frame_choice import frame_range
from ..plan.planning import ChainPlan
from ..plan.stored import ANIMATABLE
from ..pose.solving import SolvedChain
from .between import WIDEST, Measured
from .reports import ChainReport, Fingerprint, Visible, statement
from .twist import SEEN_TWIST, Twist, largest_twists
from .units import Units

WITHOUT_A_SAY = ORIGINS | {"stored", "verify", "evaluation"}
"""Fields of the settings that do not change what is baked."""


def fingerprints_of(scene: Scene, plans: Sequence[ChainPlan]) -> list[Fingerprint | None]:
    """The fingerprints of chains that have just been baked; `None` where no stored chain keeps the report."""
    known, prints = KnownMotion(), list[Fingerprint | None]()
    for plan in plans:
        names = plan.names
        if not find_armature(names.armature, None).twobone.chains:
            prints.append(None)
            continue
        settings = replace(plan.settings, armature=names.armature, upper=names.upper, lower=names.lower)
        prints.append(Fingerprint(settings_digest(scene, settings), chain_digest(settings, known)))
    return prints


def settings_digest(scene: Scene, settings: BakeSettings) -> str:
    """Digest of the settings and their frame range, without settings animated on the stored chain: those change per frame."""
    left_out = WITHOUT_A_SAY | {name for _, name in _keyed_settings(settings)}
    fields = {name: value for name, value in asdict(settings).items() if name not in left_out}
    return text_digest(repr((sorted(fields.items()), frame_range(scene, settings))))


def chain_digest(settings: BakeSettings, known: KnownMotion | None = None) -> str:
    """Digest of the animation, see `Fingerprint`; several chains may share the cache `known`."""
    armature = find_armature(settings.armature, None)
    keyed_settings = [Property(armature, path) for path, _ in _keyed_settings(settings)]
    # Objects and bones whose motion decides whether the tip is on its target.
    moving = [(armature.name, bone.name) for bone in bones_of(armature, chain_names(armature, settings))]
    followed = ((settings.target, settings.target_bone), (settings.pole, settings.pole_bone), (settings.plane_object, ""))
    moving += [(name, bone) for name, bone in followed if name]
    return motion_digest(moving, keyed_settings, known)


def _keyed_settings(settings: BakeSettings) -> list[tuple[str, str]]:
    """Data path and name of each setting that is animated on the stored chain."""
    armature = find_armature(settings.armature, None)
    chain = armature.twobone.chains.get(settings.stored) if settings.stored else None
    paths = [(chain.path_from_id(name), name) for name in ANIMATABLE] if chain is not None else []
    return [(path, name) for path, name in paths if is_animated(armature, path)]


BETWEEN_KEYS = 1e-3
"""Tip error between keys worth reporting, as a fraction of the limb's length: a millimetre on a leg."""

BETWEEN_FRAMES = 1e-2
"""That fraction where every frame has a key: only motion blur and slow motion show what is between frames."""

LETTER_PLANES = {"XY", "XZ", "YZ", "OBJECT"}
"""Planes that need not contain the target."""


def verdict(chain: SolvedChain, measured: Measured | None, units: Units, part: str) -> list[Statement]:
    """Statements on a chain; `part` is the name of its tip for people."""
    reach = chain.pose.on_targets.reach[chain.plan.report_rows]
    if measured is not None:
        return _Verdict(chain, measured, units, reach).statements(part)
    frames, outside = chain.plan.report_frames, (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)
    said = [statement("IN_REACH", {"part": part, "count": int(np.count_nonzero(~outside)), "frames": len(frames)})]
    if outside.any():
        count = {"count": int(np.count_nonzero(outside))}
        said.append(statement("OUT_OF_REACH_UNMEASURED", count, ranges(frames, outside)))
    return said


@dataclass(frozen=True, slots=True)
class _Verdict:
    chain: SolvedChain
    measured: Measured
    units: Units
    reach: Codes

    @property
    def settings(self) -> BakeSettings:
        return self.chain.plan.settings

    @property
    def frames(self) -> Array:
        return self.chain.plan.report_frames

    def statements(self, part: str) -> list[Statement]:
        """First whether the visible bone does not follow, then the frames on target, then the others with their reasons."""
        on = self.measured.distances <= self._allowed()
        unseen = self._unseen()
        # If the visible limb does not follow, only the keyed bones can be on target.
        said = [*unseen, self._on_target(on, self.chain.plan.names.lower if unseen else part)]
        is_off = ~on
        for kind, mask in self._reasons():
            said += self._off(kind, mask & is_off)
            is_off = is_off & ~mask
        return said + self._between()

    def _unseen(self) -> list[Statement]:
        visibility = self.measured.visibility
        if visibility is None or visibility.follows or visibility.max_distance is None:
            return []
        values = {"bone": visibility.bone}
        if visibility.max_distance > self._allowed():
            values |= {"distance": self.units.text(visibility.max_distance), "frame": f"{visibility.frame:g}"}
        return [statement("NOT_SHOWN", values, [[visibility.frame, visibility.frame]])]

    def _allowed(self) -> float:
        """Distance within which a tip is on target: what cannot be seen, plus the tolerance for reduced keys."""
        seen = self.units.seen(self.measured.limb_length)
        return seen + (self.settings.tolerance if self.settings.keys == "REDUCE" else 0.0)

    def _on_target(self, on: Mask, part: str) -> Statement:
        count, frames = int(np.count_nonzero(on)), len(on)
        named = {"part": part, "frames": frames}
        if 0 < count < frames:
            return statement("SOME_ON_TARGET", {**named, "count": count})
        if count == 0:
            return statement("NONE_ON_TARGET", named)
        farthest, seen = float(self.measured.distances.max()), self.units.seen(self.measured.limb_length)
        kind = "ALL_WITHIN" if farthest > seen else "ALL_ON_TARGET"
        return statement(kind, {**named, "distance": self.units.text(max(farthest, seen))})

    def _reasons(self) -> list[tuple[str, Mask]]:
        """Reasons for being off target, each with the frames it holds for; the first that applies counts."""
        measured, allowed = self.measured, self._allowed()
        influence = np.broadcast_to(frame_rows(self.chain.motion.influence, self.chain.plan.report_rows), self.reach.shape)
        overridden = measured.visibility is not None and measured.visibility.is_own and not measured.visibility.follows
        beside = "BESIDE_LETTER_PLANE" if self.settings.plane in LETTER_PLANES else "BESIDE_PLANE"
        in_plane = np.sqrt(np.maximum(measured.distances**2 - measured.beside**2, 0.0))
        return [
            ("NOWHERE", ~np.isfinite(measured.distances)),
            ("INFLUENCE", influence < 1.0),
            # A chain with a link scaled to zero reaches only a circle: a target off that circle is out of reach.
            ("OUT_OF_REACH", self.reach != Reach.REACHED),
            (beside, (measured.beside > 0.5 * allowed) & (in_plane <= measured.beside + allowed)),
            ("HELD_BACK", measured.aside > 0.5 * allowed),
            ("OVERRIDDEN" if overridden else "OTHERWISE", np.ones(self.reach.shape, dtype=bool)),
        ]

    def _off(self, kind: str, mask: Mask) -> list[Statement]:
        if not mask.any():
            return []
        values: dict[str, str | int] = {"count": int(np.count_nonzero(mask))}
        if kind != "NOWHERE":
            worst = int(np.argmax(np.where(mask, self.measured.distances, -1.0)))
            values |= {"distance": self.units.text(float(self.measured.distances[worst])), "frame": f"{self.frames[worst]:g}"}
        return [statement(kind, values, ranges(self.frames, mask))]

    def _between(self) -> list[Statement]:
        between = self.measured.between
        if between is None:
            return []
        apart = np.diff(self.frames).max() > WIDEST or self.settings.keys == "REDUCE"
        least = (BETWEEN_KEYS if apart else BETWEEN_FRAMES) * self.measured.limb_length
        least = max(least, self._allowed())
        if between.rise <= least:
            return []
        values: dict[str, str | int] = {"distance": self.units.text(between.rise), "frame": f"{between.frame:g}"}
        return [statement("BETWEEN", values, between.stretches(least))]


MOST_FLIPS = 4
"""Number of ranges of frames that a sentence names."""


def chain_report(
    chain: SolvedChain,
    keys: Sequence[ChannelKeys],
    measured: Measured | None,
    *,
    drift: KeyDrift = NO_DRIFT,
    units: Units | None = None,
    twist: Twist | None = None,
) -> ChainReport:
    """The report of one chain.

    keys : all keys that the chain gets
    drift : error that reducing the keys adds
    units : of the scene; without them the report has no statements on which frames are on target
    twist : the largest twist, if known already
    """
    (twist,) = [twist] if twist else largest_twists([chain])
    report = _of_solved(chain, keys, drift, twist)
    if measured is not None:
        report = _with_measures(report, measured)
    if units is None:
        return report
    names = chain.plan.names
    part = chain.plan.settings.stored or end_name(object_named(names.armature), names)
    return replace(report, statements=[*verdict(chain, measured, units, part), *_flips(chain, twist)])


def _flips(chain: SolvedChain, twist: Twist) -> list[Statement]:
    """A statement on frames at which a joint bends to its other side, where nobody has chosen a side.

    Chosen is a side that is named, stored, flipped or keyed; not one by default, nor Keep, which asks for the pose's own.
    """
    plan = chain.plan
    is_chosen = plan.settings.bend != "KEEP" and "bend" not in plan.settings.automatic
    if not twist.flips or is_chosen or "bend" in plan.animated_settings:
        return []
    frames = ", ".join(f"{first:g}" if first == last else f"{first:g}-{last:g}" for first, last in twist.flips[:MOST_FLIPS])
    more = "" if len(twist.flips) <= MOST_FLIPS else " ..."
    return [statement("FLIPPED", {"bone": twist.flipped, "frames": f"{frames}{more}"}, twist.flips)]


def _of_solved(chain: SolvedChain, keys: Sequence[ChannelKeys], drift: KeyDrift, twist: Twist) -> ChainReport:
    """The report of a chain before anything is measured."""
    plan, frames, rows = chain.plan, chain.plan.report_frames, chain.plan.report_rows
    reach = chain.pose.on_targets.reach[rows]
    counts = {kind: int(np.count_nonzero(reach == kind)) for kind in Reach}
    return ChainReport(
        armature=plan.names.armature,
        upper=plan.names.upper,
        lower=plan.names.lower,
        tip=plan.names.tip,
        target=plan.settings.target,
        frames=len(frames),
        frame_start=float(frames[0]),
        frame_end=float(frames[-1]),
        keys=sum(len(key.frames) for key in keys),
        full_rate_keys=len(frames) * len(keys),
        channels=len(keys),
        reached=counts[Reach.REACHED],
        too_far=counts[Reach.TOO_FAR],
        too_near=counts[Reach.TOO_NEAR],
        degenerate=counts[Reach.DEGENERATE],
        out_of_reach=ranges(frames, (reach == Reach.TOO_FAR) | (reach == Reach.TOO_NEAR)),
        max_drift=drift.tip,
        max_drift_middle=drift.middle,
        max_twist=twist.degrees,
        plane_held=int(np.count_nonzero(chain.pose.plane_held[rows])),
        notes=_notes(chain, keys, twist),
        action=playing_action(object_named(plan.names.armature)),
    )


def _with_measures(report: ChainReport, measured: Measured) -> ChainReport:
    visibility = measured.visibility
    return replace(
        report,
        max_error=measured.max_error,
        mean_error=measured.mean_error,
        max_goal_error=measured.max_goal_error,
        max_off_plane=measured.max_off_plane,
        max_distance_to_target=_largest_known(measured.distances),
        target_off_plane=_largest_known(measured.beside),
        between_frames=measured.between.farthest if measured.between else None,
        notes=[*report.notes, *(visibility.hindrances if visibility else ())],
        visible=Visible(visibility.bone, visibility.follows, visibility.max_distance) if visibility else None,
    )


def _largest_known(values: Array) -> float | None:
    """The largest finite value; `None` without any."""
    known = values[np.isfinite(values)]
    return float(known.max()) if known.size else None


def along_notes(feet: Iterable[RestBone], keyed: Collection[str]) -> list[Sentence]:
    """A note on those feet that are keyed along, if there are any; `keyed` are the data paths that have keys."""
    bones = ", ".join(foot.name for foot in feet if location_path(foot) in keyed)
    return [note("Foot bones keyed along: {bones}.", bones=bones)] if bones else []


def _notes(chain: SolvedChain, keys: Sequence[ChannelKeys], twist: Twist) -> list[Sentence]:
    notes = [*chain.plan.notes, *along_notes(chain.plan.feet_along, [key.path for key in keys])]
    held = int(np.count_nonzero(chain.pose.plane_held))
    if held:
        notes.append(note("The plane was undefined at {count} frames and kept from the frame before.", count=held))
    scaled = [key.group for key in keys if key.path.endswith(".scale") and key.index == 0]
    if scaled:
        notes.append(note("Stretching keyed the scale of {bones}.", bones=", ".join(scaled)))
    if twist.degrees > SEEN_TWIST and any(".rotation_" in key.path for key in keys):
        notes.append(
            note(
                'Bone "{bone}" is rotated by up to {degrees:.0f} degrees around its own axis compared with its previous pose '
                "(frame {frame:g}).",
                bone=twist.bone,
                degrees=twist.degrees,
                frame=twist.frame,
            )
        )
    return notes
