"""What the add-on notes in a file can be spoiled by others: the next run says what it can, and replaces what is not legible."""

import base64
import json

import bpy
import numpy as np
import pytest

from tests.command_line.shots import make_shot, store_chain

SPOILED = {
    "junk": "[[[",
    "list": "[1, 2, 3]",
    "deep": "[" * 50_000 + "]" * 50_000,
    "long number": '{"first": ' + "9" * 5000 + ', "last": 1, "contacts": []}',
    "wrong types": '{"first": "a", "last": null, "contacts": [[1]]}',
    "infinite": '{"first": 1e999, "last": -1e999, "contacts": [[NaN, 1e999, "BOTH"]]}',
    "no such point": '{"first": 1, "last": 9, "contacts": [[1, 2, "EAR"]]}',
}


@pytest.fixture
def rig(registered_addon):
    """A leg with a stored chain, and an action."""
    rig, target = make_shot()
    store_chain(rig, target)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="XZ")
    return rig


@pytest.mark.parametrize("text", SPOILED.values(), ids=SPOILED.keys())
def test_notes_of_found_contacts_that_are_not_legible_count_as_none_and_are_replaced(rig, text):
    from twobone_addon.tasks.find_contacts.plan import ChainStates, edited_by_hand, write_states

    frames = np.arange(1.0, 25.0)
    states = np.where(frames < 12, 3, 0)
    rig.twobone.chains["leg"].found_contacts = text
    assert not edited_by_hand(rig, "leg", frames).any()
    write_states(rig, frames, [ChainStates("leg", states, np.zeros(24, bool), states)])
    (noted,) = json.loads(rig.twobone.chains["leg"].found_contacts).values()
    assert noted["contacts"] == [[1.0, 11.0, "BOTH"]]


def spoiled(text, kind):
    """What the add-on has packed of one slot's keys, cut short, overwritten in part, of another version, or said to be huge."""
    whole = bytearray(base64.b64decode(text))
    end = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:end])
    if kind == "short":
        whole = whole[: end + 10]
    elif kind == "flipped header":
        whole[10:40] = b"\xff" * 30
    elif kind == "flipped tables":
        whole[end + 5 : end + 35] = b"\xff" * 30
    elif kind == "endless header":
        whole[:8] = b"\xff" * 8
    else:
        if kind == "another version":
            header["version"] -= 1
        else:  # A channel whose keys before and beside are said to be so many that no memory holds them.
            header["channels"][0][6] = [[[[1.0, 9.0]], [10**13, 0], [10**13, 0], []]]
        packed = json.dumps(header).encode()
        whole = len(packed).to_bytes(8, "little") + packed + whole[end:]
    return base64.b64encode(bytes(whole)).decode()


SPOILED_KEYS = ["huge", "short", "flipped header", "flipped tables", "endless header", "another version", *SPOILED]


@pytest.mark.parametrize("kind", SPOILED_KEYS)
def test_kept_keys_that_are_not_legible_stop_no_clearing(rig, kind):
    ((slot, noted),) = json.loads(rig.animation_data.action.twobone_replaced).items()
    text = SPOILED[kind] if kind in SPOILED else spoiled(noted, kind)
    for kept in (text, json.dumps({slot: text}), json.dumps({slot: 3})):
        rig.animation_data.action.twobone_replaced = kept
        cleared = bpy.ops.twobone.clear_baked(armature="Rig")
        # Nothing is known of any keys; but nobody can tell by a table that its numbers are others.
        assert cleared == {"CANCELLED"} or kind == "flipped tables"
        bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="XZ")
        assert bpy.ops.twobone.clear_baked(armature="Rig") == {"FINISHED"}
        bpy.ops.twobone.bake(armature="Rig", upper="upper", lower="lower", target="Target", plane="XZ")


@pytest.mark.parametrize("role, bone", [("target", "target_bone"), ("pole", "pole_bone")])
def test_a_bone_that_is_left_over_from_an_armature_that_was_the_target_stops_no_mirroring(registered_addon, role, bone):
    rig, target = make_shot()
    for side in "LR":
        bpy.context.view_layer.objects.active = rig
        bpy.ops.object.mode_set(mode="EDIT")
        for name, parent in (("thigh", None), ("shin", "thigh")):
            made = rig.data.edit_bones.new(f"{name}.{side}")
            made.head, made.tail = (
                (1.0 if side == "L" else -1.0, 0, 2 - 0.8 * bool(parent)),
                (1.0, 0.1 * bool(parent), 1.2 - bool(parent)),
            )
            made.parent = rig.data.edit_bones.get(f"{parent}.{side}") if parent else None
        bpy.ops.object.mode_set(mode="OBJECT")
    chain = store_chain(rig, target, "leg.L", upper="thigh.L", lower="shin.L", pole=target)
    setattr(chain, bone, "ctrl")
    assert bpy.ops.twobone.chain_mirror() == {"FINISHED"}
    mirrored = next(each for each in rig.twobone.chains if each.upper == "thigh.R")
    assert getattr(mirrored, role) is not None


def test_with_no_memory_left_what_is_kept_is_not_taken_for_illegible(rig, monkeypatch):
    """Else the next run would write over it."""
    from twobone_addon.scene.keys import ledger

    def full(*_):
        raise MemoryError

    words = {"armature": "Rig", "upper": "upper", "lower": "lower", "target": "Target", "plane": "XZ"}
    bpy.ops.twobone.bake(**words)
    kept = rig.animation_data.action.twobone_replaced
    with monkeypatch.context() as patch:
        patch.setattr(ledger.base64, "b64decode", full)
        with pytest.raises(RuntimeError, match="MemoryError"):
            bpy.ops.twobone.bake(**words)
    assert rig.animation_data.action.twobone_replaced == kept
