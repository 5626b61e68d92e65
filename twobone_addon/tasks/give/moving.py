"""New targets and poles of limbs that move already get their motion, so that a bake at once changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.curves.frames import frame_grid
from ...pipeline.motion.sampling import sample
from ...pipeline.plan.completing import StoredChain, names_of, stored_settings
from ...pipeline.run import run
from ...scene.blender_types import Scene
from ...scene.lookup import object_named
from ...scene.new_objects import remove_object
from ...scene.sampling.quantities import Quantity
from ...scene.visible.visible_bone import shown_bone
from ...settings.tasks import GiveSettings
from .task import GIVE

STILL = 1e-6
"""Part of the armature's size in the world that bones may seem to move by, in single precision, and be still."""

PLAIN = {
    "frame_range": "SCENE", "step": 1.0, "keys": "FRAMES", "destination": "ACTION", "end_rotation": "NONE",
    "key_before": False, "key_after": False, "target_root_bone": "", "verify": False,
}  # fmt: skip
"""How such keys are made, whatever the chain's own bakes are like: every frame of the scene's range."""


def give_motion(scene: Scene, chains: Sequence[StoredChain]) -> None:
    """Key the new targets of stored chains, over the scene's range, where their limbs move; raises a `TwoBoneError`.

    The target of a limb whose visible bones follow something else stays where these are now.
    """
    moving = [stored_settings(chain.id_data, chain, PLAIN) for chain in chains if _moves(scene, chain)]
    if moving:
        run(scene, GIVE, GiveSettings(chains=tuple(replace(each, plane="POSE", reference="POSE") for each in moving)))


def give_pole_motion(scene: Scene, chain: StoredChain) -> None:
    """Key the new pole of a stored chain where its limb moves; the target keeps its own motion."""
    if not _moves(scene, chain):
        return
    settings = replace(stored_settings(chain.id_data, chain, PLAIN), target="", target_bone="", stored="")
    (entry,) = run(scene, GIVE, GiveSettings(chains=(settings,))).entries
    remove_object(object_named(entry.chain.target))


def _moves(scene: Scene, chain: StoredChain) -> bool:
    armature, names = chain.id_data, names_of(chain)
    shown = shown_bone(armature, names)
    if shown is not None and not shown.follows:
        return False
    frames = frame_grid(float(scene.frame_start), float(scene.frame_end), 1.0)
    wanted = [Quantity("WORLD", armature.name, bone) for bone in dict.fromkeys((names.upper, names.lower, names.tip))]
    values = sample(scene, wanted, frames).values
    size = max(np.abs(matrices[:, :3, 3]).max() for matrices in values.values()) + max(armature.dimensions)
    return any(np.ptp(matrices, axis=0).max() > STILL * max(size, 1.0) for matrices in values.values())
