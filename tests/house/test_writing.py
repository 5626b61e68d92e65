"""Nothing but the writer's rooms changes Blender's data: what goes round the writer is not put back where a run fails."""

import ast

import pytest

from tests.house.source import ROOT, addon_files, name_of, tree_of

# They make and change copies that are gone, or restored, when they are left; or make what the writer then notes.
OWN_ROOMS = (
    *("scene/writer.py", "scene/versions.py", "scene/sampling/", "scene/visible/trials.py", "scene/visible/response.py"),
    *("scene/keys/tables.py", "scene/keys/clearing.py"),
)

# New data of their own, which go with them; and what a stage of actions restores by itself.
MAY_ALSO = {
    "scene/actions.py": {"_turn_solo", "staged", "play", "_set_pose"},
    "scene/new_objects.py": {"add_empty", "mirror_plainly", "_mirror_channels", "_mirror_curves", "parent_frames"},
    "scene/live/expressions.py": {"node"},
    "scene/live/limb_nodes.py": {"_carried_object", "_constrain", "build_limb", "_driven"},
    "scene/live/limbs.py": {"_drop_constraints", "_drop_tree", "_drop_unused"},
    "scene/keys/destinations.py": {"_new_strip", "trial_actions", "muted_strips"},
    "scene/keys/writing.py": {"_rewrite", "_new_curve", "_restore_handles"},
    "scene/keys/contact_keys.py": {"_write_curve"},
    "scene/restoring.py": {"frame_and_edits_kept"},
    "scene/rig/rolling.py": {"_set_rolls", "change_rolls", "set_rotation_mode"},
    "scene/visible/switches.py": {"switched_bones"},
    "tasks/switch/limb_switch.py": {"fk_settings_over"},
}

MAKING = {"new", "remove", "link", "unlink", "clear", "add", "move", "batch_remove", "new_from_fcurve"}
HOLDERS = {
    *("actions", "armatures", "bones", "chains", "channelbags", "collections", "constraints", "drivers", "edit_bones", "fcurves"),
    *("groups", "keyframe_points", "layers", "limits", "modifiers", "nla_tracks", "objects", "scenes", "slots", "strips"),
}
CHANGING = {
    *("animation_data_create", "animation_data_clear", "foreach_set", "keyframe_delete", "keyframe_insert", "property_unset"),
    *("user_remap", "frame_set"),
}
PROPERTIES = {
    *("action", "action_slot", "active_index", "bend", "contact", "data_path", "found_contacts", "influence", "limb"),
    *("location", "matrix_basis", "mute", "parent", "planted", "plantings", "pole", "rotation_euler"),
    *("color_mode", "roll", "rotation_mode", "rotation_quaternion", "scale", "target", "use_fake_user"),
    *("use_nla", "is_solo", "frame_current", "extrapolation"),
}


def changes_in(tree: ast.AST) -> list[tuple[str, int, str]]:
    """Function, line and text of what changes Blender's data, as far as that can be told from its names."""
    found = []

    def look(node: ast.AST, function: str) -> None:
        function = node.name if isinstance(node, ast.FunctionDef) else function
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            base = node.func.value
            holder = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if node.func.attr in CHANGING or (node.func.attr in MAKING and holder in HOLDERS):
                found.append((function, node.lineno, ast.unparse(node.func)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
            found.append((function, node.lineno, ast.unparse(node)))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        for target in [part for each in targets for part in (each.elts if isinstance(each, ast.Tuple) else [each])]:
            is_own = (
                isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in {"self", "told"}
            )
            if isinstance(target, ast.Attribute) and target.attr in PROPERTIES and not is_own:
                found.append((function, node.lineno, ast.unparse(target)))
        for child in ast.iter_child_nodes(node):
            look(child, function)

    look(tree, "")
    return found


def place_of(path) -> str:
    return path.relative_to(ROOT / "twobone_addon").as_posix()


WRITING_ROOMS = ("scene/", "pipeline/", "tasks/", "core/")


@pytest.mark.parametrize(
    "path",
    [each for each in addon_files() if place_of(each).startswith(WRITING_ROOMS) and not place_of(each).startswith(OWN_ROOMS)],
    ids=name_of,
)
def test_only_the_writers_rooms_change_data_of_blender(path):
    allowed = MAY_ALSO.get(place_of(path), set())
    strangers = [f"line {line}: {text}" for function, line, text in changes_in(tree_of(path)) if function not in allowed]
    assert not strangers, f"{name_of(path)} goes round the writer: {strangers}"


@pytest.mark.parametrize(
    "statement",
    [
        "bag.fcurves.new(path)",
        "data.nla_tracks.remove(track)",
        "objects.remove(thing)",
        "thing.keyframe_insert('location')",
        "constraint.mute = True",
        "data.action, other = None, 1",
        "setattr(chain, name, value)",
        "fcurve.keyframe_points.foreach_set('co', values)",
    ],
)
def test_every_form_of_a_change_is_seen(statement):
    assert changes_in(ast.parse(statement))


def test_what_may_also_change_data_is_still_there():
    gone = {
        f"{place}: {function}"
        for place, functions in MAY_ALSO.items()
        for function in functions - {name for name, _, _ in changes_in(tree_of(ROOT / "twobone_addon" / place))}
    }
    assert not gone
