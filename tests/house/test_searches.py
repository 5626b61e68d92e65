"""No search is without a budget: every loop that may go on as long as it likes stands here with what ends it.

A loop over what is there (`for`) ends with that. A `while` is listed by its function: a new one has to say here what bounds it.
"""

import ast
import re
from collections.abc import Iterator
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
    "core/limbs/names.py NameReading.above": UP,
    "core/limbs/one_pose.py Controls._is_bound": UP,
    "core/limbs/one_pose.py Controls._followed": "each bone once",
    "core/limbs/one_pose.py _spans": "goes down a tree of bones",
    "core/limbs/skeleton.py hang": UP,
    "core/limbs/skeleton.py is_tree": "each bone once",
    "core/limbs/skeleton.py Skeleton.way_up": UP,
    "core/limbs/tree/candidates.py Anatomy.__init__": "goes down a tree of joints",
    "core/limbs/tree/joints.py JointTree.way_up": UP,
    "core/limbs/tree/joints.py _depths": UP,
    "core/limbs/tree/joints.py _groups.leader": "goes up the leaders of a group, which are joined without a ring",
    "core/limbs/tree/joints.py _joints_above": UP,
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
    "scene/sampling/reduced_rigs.py _bones_above": "the bones that are needed become more each time, or it ends",
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


def functions_with_loops() -> Iterator[str]:
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            where = path.relative_to(PACKAGE).as_posix()
            yield from (f"{where} {name}" for name in loops_in(ast.parse(path.read_text(encoding="utf-8")), ()))


def loops_in(node: ast.AST, owners: tuple[str, ...]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        is_owner = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if isinstance(child, ast.While):
            yield ".".join(owners)
        yield from loops_in(child, (*owners, child.name) if is_owner else owners)


def test_every_loop_is_listed_with_what_ends_it():
    assert set(functions_with_loops()) == ENDS.keys()


@pytest.mark.parametrize("where", [where for where, ends in ENDS.items() if re.search(r"\b[A-Z]{3}", ends)])
def test_a_limit_that_is_named_is_known_beside_the_loop(where):
    path = PACKAGE / where.partition(" ")[0]
    beside = "\n".join(other.read_text(encoding="utf-8") for other in path.parent.glob("*.py"))
    for name in re.findall(r"\b[A-Z][A-Z_]{2,}\b", ENDS[where]):
        assert re.search(rf"^(.*, )?{name}(,.*)? = ", beside, re.MULTILINE), name
