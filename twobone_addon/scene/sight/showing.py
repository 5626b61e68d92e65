"""What is seen of a limb: which bones deform beside the chain's lower bone, and how far they follow the chain now."""

from __future__ import annotations

from mathutils import Vector

from ..blender_types import Object
from ..rig.chain_finding import ChainNames, bones_between
from .links import Hindrance, Links, Shown, View, as_it_is
from .skin import BESIDE, Skins


def shown_bone(armature: Object, names: ChainNames, skins: Skins | None = None) -> Shown | None:
    """What is seen of the chain's lower link; `None` where no bone deforms anything there.

    skins : what deforms in the file, if somebody has looked already
    """
    skins = skins or Skins()
    linked, (_, mid, tip) = Links(armature, {names.lower}, skins), _rest_joints(armature, names)
    deforms = skins.deforms_a_mesh(armature)
    others = [] if deforms else [other for other in skins.followers(armature) if skins.deforms_a_mesh(other)]
    seen = [shown for other in others for shown in linked.shown_beside(other, mid, tip)]
    if not seen:
        seen = [shown for shown in linked.shown_beside(armature, mid, tip) if shown.bone != names.lower]
        own = armature.pose.bones[names.lower]
        if own.bone.use_deform and (not seen or skins.deforms_a_mesh(armature, own.name) or not deforms):
            seen = [linked.shown((armature.name, own.name))]
    return max(seen, key=lambda shown: shown.share) if seen else None


def hindrances(armature: Object, names: ChainNames, view: View = as_it_is) -> list[Hindrance]:
    """What keeps the bones that deform along the whole limb, and the one at its end, from following the chain."""
    seen = _seen_of_limb(armature, names, view)
    return list(dict.fromkeys(hindrance for each in seen if not each.follows for hindrance in each.hindrances))


def deciding(armature: Object, names: ChainNames) -> list[Hindrance]:
    """All that has a say in what these bones follow, whether it is in the way now or not."""
    return list(dict.fromkeys(each for shown in _seen_of_limb(armature, names, as_it_is) for each in shown.deciding))


def _seen_of_limb(armature: Object, names: ChainNames, view: View) -> list[Shown]:
    root, mid, tip = _rest_joints(armature, names)
    above = {bone.name for bone in bones_between(armature, names.upper, names.lower)} - {names.lower}
    seen: list[Shown] = []
    skins = Skins()
    for chain, start, end in ((above, root, mid), ({names.lower}, mid, tip)):
        linked = Links(armature, chain, skins, view)
        seen += [linked.shown((armature.name, name)) for name in chain]
        for other in (armature, *skins.followers(armature)):
            seen += linked.shown_beside(other, start, end)
            seen += linked.shown_at(other, tip, BESIDE * (tip - mid).length) if end == tip else []
    return seen


def _rest_joints(armature: Object, names: ChainNames) -> tuple[Vector, Vector, Vector]:
    bones = armature.data.bones
    tip = bones[names.tip].tail_local if names.tip_at_tail else bones[names.tip].head_local
    return bones[names.upper].head_local, bones[names.lower].head_local, tip
