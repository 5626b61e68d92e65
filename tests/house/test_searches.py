"""No search is without a budget: every loop that may go on as long as it likes stands here with what ends it.

A loop over what is there (`for`) ends with that. A `while` is listed by its function, and so is a function that calls itself: a
new one has to say here what bounds it. Searches inside searches stand here with all their numbers, of which the product counts.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "twobone_addon"
ROOMS = ("core", "scene", "pipeline", "tasks", "desk")

EACH_ONCE = "takes each entry of a list once"
UP = "goes up the parents of bones, of which `is_tree` and `hang` or Blender itself leave no ring"
TOLD = "a generator that ends when what it tells does"

ENDS = {
    "core/contacts/finding.py _tidied": "STEP_ROUNDS",
    "core/curves/fitting.py descended": "HOPELESS_DRIFTS has a limit for each step, then LEVELLING_STEPS",
    "core/curves/fitting.py lowered": "each try without success multiplies the damping by MORE_DAMPING, up to MOST_DAMPING",
    "core/curves/fitting.py together": "as many rounds as the longest search that asks, each with an end of its own",
    "core/curves/fitting.py _fitted": "at least one row a round",
    "core/curves/reduction.py _farthest_segments": "each segment is at least one candidate long",
    "core/curves/reduction.py _farthest": "the known good and the known bad length come closer each time",
    "core/curves/reduction.py _turns": "one rank or more is taken each time",
    "core/curves/reduction.py _merge_cuts": "each cut is tried once",
    "core/limbs/body/shapes.py _way_after": "goes down a tree of joints",
    "core/limbs/one_pose.py Controls._is_bound": UP,
    "core/limbs/one_pose.py Controls._followed": "each bone once",
    "core/limbs/one_pose.py _spans": "goes down a tree of bones",
    "core/limbs/skeleton.py hang": UP,
    "core/limbs/skeleton.py is_tree": "each bone once",
    "core/limbs/skeleton.py way_up": UP,
    "core/limbs/tree/candidates.py Anatomy.__init__": "goes down a tree of joints",
    "core/limbs/tree/joints.py _depths": UP,
    "core/limbs/tree/joints.py _groups.leader": "goes up the leaders of a group, which are joined without a ring",
    "core/limbs/tree/joints.py _parents_first.depth": UP,
    "core/limbs/tree/links.py way_on": "goes down a tree of joints",
    "core/limbs/tree/links.py _way_down": "MOST_JOINTS",
    "core/limbs/tree/links.py _passed_on": UP,
    "core/planting/goals.py without_ways": "the span gets shorter each time, or it ends",
    "core/planting/pins.py longest_within": "doubles up to the number of points, then halves an interval of whole numbers",
    "core/planting/root_fit.py _running_maxima": "doubles up to the width",
    "core/rig/inverse.py follow_together": EACH_ONCE,
    "core/rig/inverse.py _in_parts": "each part is at least one frame long",
    "scene/actions.py _strips": "goes down the strips inside strips",
    "scene/graph/lineage_reading.py LineageReader.parents": UP,
    "scene/graph/rig_graph.py RigGraph.above": "each node once",
    "scene/live/limb_nodes.py _LimbTree._store": "one entry more each time",
    "scene/rig/chain_finding.py ControlLimbs._further": "FURTHER",
    "scene/rig/chain_finding.py source_of": "each bone once",
    "scene/rig/rest_reading.py bone_path": UP,
    "scene/sampling/evaluate.py _passed": "at least one moment a step",
    "scene/sampling/reduced_rigs.py _lineage": UP,
    "scene/sampling/reduced_rigs.py _nodes_above": "the bones that are needed become more each time, or it ends",
    "scene/sampling/stepping.py at_once": TOLD,
    "scene/sampling/stepping.py part_of_steps": TOLD,
    "scene/visible/switches.py _control_of": UP,
    "pipeline/motion/sampling.py sample_steps": "at least one quantity a slice",
    "pipeline/plan/source_limbs.py _source_length": UP,
    "pipeline/plan/stored.py free_name": "as many names as are taken",
    "pipeline/proof.py seen_below": "more nodes each time, or it ends",
    "pipeline/run.py _Telling._tell": TOLD,
    "pipeline/run.py _Telling._answered": TOLD,
    "pipeline/run.py _Telling._sampled": TOLD,
    "pipeline/story.py part_of_story": TOLD,
    "pipeline/story.py answered": TOLD,
    "tasks/audit.py _apart": "as many names as are taken",
    "tasks/give/controls/baking.py key_toes": "the uppermost of the waiting controls are done each time",
    "tasks/give/controls/control_keys.py steer_all": "ROUNDS of each limb's steering",
    "tasks/nudge/task.py _over_easing": "the span gets longer each time, up to the outermost keys, or it ends",
    "desk/doing.py _second_half": TOLD,
}
"""What ends the loops of each function."""


CALLS_ITSELF = {
    "core/contacts/finding.py find_story": "once more, without the first frame",
    "core/contacts/finding.py _plausible": "once for each foot alone",
    "core/limbs/body/judging.py _split": "goes down a tree of joints",
    "core/limbs/tree/candidates.py Matching._compare": "each pair of joints once, at most DEEPEST below the first",
    "core/rows.py _mapped": "goes down the fields of a record",
    "core/rows.py row_arrays": "goes down the fields of a record",
    "core/solver/chain.py cheapest_sequence": "a row less where their number is even, and half of them where it is odd",
    "scene/graph/motion_digests.py plain": "goes down the items of a setting of Blender's",
    "scene/keys/reading.py moving_curves": "once more, for the whole of a component",
    "scene/rig/chain_finding.py whole_of": UP,
    "scene/rig/chain_finding.py next_bones_below": "goes down a tree of bones",
    "scene/versions.py strips_in": "goes down the strips inside strips",
    "scene/visible/switches.py _read_by": "each property once",
    "scene/visible/visible_bone.py MotionLinks._share": "each bone once",
    "scene/visible/visible_bone.py MotionLinks._best_of": "each bone once",
    "pipeline/report/form.py as_data": "goes down the fields of a report",
    "tasks/convert/plans.py _constraint_plan": "once more, with the other way to switch off",
    "desk/shapes.py schema_of": "goes down the parts of a type",
}
"""What ends each function that calls itself."""

ROUNDS_OF = {
    "core/contacts/finding.py _estimate_stances": {"ROUNDS": 3},
    "core/contacts/ground.py _common_value": {"ROUNDS": 12},
    "core/planting/knees.py calming_moves": {"CALMING_STEPS": 40, "BOUNDED_STEPS": 20},
    "core/planting/root_fit.py shortest_moves": {"PROJECTIONS": 500},
    "core/rig/inverse.py _descend_to_closest": {"CLOSEST_ROUNDS": 20, "CLOSEST_STARTS": 4},
    "core/rig/inverse.py _least_squares": {"LEAST_SQUARES_ROUNDS": 40, "MOST_STARTS": 8},
    "core/rig/inverse.py _follow": {"LENGTH_ROUNDS": 20},
    "core/solver/chain.py draw_out": {"SWEEPS": 60, "CORRECTIONS": 2},
    "core/solver/chain_descent.py relax": {"RELAXING_STEPS": 30},
    "core/solver/chain_descent.py settled_angles": {"NEWTON_STEPS": 30},
    "core/solver/chain_descent.py solve_frames": {"RESTARTS": 16, "DESCENT_STEPS": 60, "SPREAD_POSES": 64},
    "core/solver/chain_methods.py coordinate_descent": {"SWEEPS": 200},
    "tasks/fit_root.py _free_moves": {"ROUNDS": 8},
    "tasks/give/controls/steering.py SteeredLimb._settle": {"ROUNDS": 24, "CHORD_STEPS": 2},
    "tasks/give/controls/steering.py SteeredLimb._reach_tip": {"TIP_ROUNDS": 4},
    "tasks/give/controls/steering.py SteeredLimb._reach_middle_joint": {"MIDDLE_ROUNDS": 4},
    "tasks/plant/pose/calming.py with_calm_root": {"ROUNDS": 3},
    "tasks/plant/solve.py _calm": {"MOST_SHORTENED_BEFORE": 40, "MOST_SHORTENED_AFTER": 8, "MOST_CALMED": 16},
}
"""Searches that try so often at most, and the most rounds of each, which the page of searches names."""


def functions_with(found_in: Callable[[ast.AST, tuple[str, ...]], Iterator[str]]) -> set[str]:
    return {
        f"{path.relative_to(PACKAGE).as_posix()} {name}"
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for name in found_in(ast.parse(path.read_text(encoding="utf-8")), ())
    }


def loops_in(node: ast.AST, owners: tuple[str, ...]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        is_owner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if isinstance(child, ast.While):
            yield ".".join(owners)
        yield from loops_in(child, (*owners, child.name) if is_owner else owners)


def test_every_loop_is_listed_with_what_ends_it():
    assert functions_with(loops_in) == ENDS.keys()


@pytest.mark.parametrize("where", [where for where, ends in ENDS.items() if re.search(r"\b[A-Z]{3}", ends)])
def test_a_limit_that_is_named_is_known_beside_the_loop(where):
    path = PACKAGE / where.partition(" ")[0]
    beside = "\n".join(other.read_text(encoding="utf-8") for other in path.parent.glob("*.py"))
    for name in re.findall(r"\b[A-Z][A-Z_]{2,}\b", ENDS[where]):
        assert re.search(rf"^(.*, )?{name}(,.*)? = ", beside, re.MULTILINE), name


def recursions_in(node: ast.AST, owners: tuple[str, ...]) -> Iterator[str]:
    """Functions that call their own name, and methods that call it on themselves."""
    for child in ast.iter_child_nodes(node):
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function:
            is_method, called = isinstance(node, ast.ClassDef), set[str]()
            for call in (part.func for part in ast.walk(child) if isinstance(part, ast.Call)):
                if isinstance(call, ast.Name) and not is_method:
                    called.add(call.id)
                elif isinstance(call, ast.Attribute) and is_method and ast.unparse(call.value) in {"self", "cls"}:
                    called.add(call.attr)
            if child.name in called:
                yield ".".join((*owners, child.name))
        yield from recursions_in(child, (*owners, child.name) if is_function or isinstance(child, ast.ClassDef) else owners)


def test_every_function_that_calls_itself_is_listed_with_what_ends_it():
    assert functions_with(recursions_in) == CALLS_ITSELF.keys()


@pytest.mark.parametrize("where", ROUNDS_OF)
def test_the_most_rounds_of_a_search_are_those_that_the_page_names(where):
    path, _, owners = where.partition(" ")
    text = (PACKAGE / path).read_text(encoding="utf-8")
    assert re.search(rf"def {owners.rpartition('.')[2]}\b", text)
    named = {}
    for statement in ast.parse(text).body:
        targets = statement.targets[0] if isinstance(statement, ast.Assign) else None
        names = [targets] if isinstance(targets, ast.Name) else getattr(targets, "elts", [])
        values = [statement.value] if isinstance(targets, ast.Name) else getattr(getattr(statement, "value", None), "elts", [])
        named |= {name.id: value.value for name, value in zip(names, values, strict=False) if isinstance(value, ast.Constant)}
    assert {name: named[name] for name in ROUNDS_OF[where]} == ROUNDS_OF[where]
    page = (
        (PACKAGE.parent / "docs" / "how_it_works.md")
        .read_text(encoding="utf-8")
        .partition("## Searches")[2]
        .partition("\n## ")[0]
    )
    for number in ROUNDS_OF[where].values():
        assert re.search(rf"\b{number}\b", page), number
