"""Plant the feet: plan, sample, find what stands where, solve, key, write, prove, report."""

from __future__ import annotations

from ...array_types import Codes
from ...scene.blender_types import Object, Scene
from ...scene.walk.evaluate import Samples
from ...scene.walk.stepping import Steps, at_once
from ...settings.planting import PlantSettings
from ..motion.sampling import sample_steps
from ..stages import SkipCheckError, Stopwatch, evaluation_of
from .contact_states import contact_states
from .curves import keys_of
from .planning import PlantingPlan, plan_planting
from .proof import proof_frames, proof_quantities
from .records import PlantReport
from .reporting import plant_report
from .solving import solve_planting
from .writing import write


def plant(scene: Scene, settings: PlantSettings, active: Object | None = None) -> PlantReport:
    """The same as `plant_steps`, at once."""
    return at_once(plant_steps(scene, settings, active))


def plant_steps(scene: Scene, settings: PlantSettings, active: Object | None = None) -> Steps[PlantReport]:
    """Let a character's feet stand still while they are on the ground; raises a `TwoBoneError` before anything is changed."""
    watch = Stopwatch()
    with watch.stage("read"):
        plan = plan_planting(scene, settings, active, use_root=settings.use_root)
        states = contact_states(plan)
    with watch.stage("sample"):
        plans = [leg.plan for leg in plan.legs]
        samples = yield from sample_steps(scene, plan.quantities(), plan.samples, evaluation=evaluation_of(plans))
    with watch.stage("solve"):
        planted = solve_planting(plan, samples, states, ease=round(settings.ease), may_roll=True)
    with watch.stage("keys"):
        keys = keys_of(plan, samples, planted)
    with watch.stage("write"):
        write(scene, plan, keys)
    with watch.stage("verify"):
        proof = yield from _prove(scene, plan, states)
    return plant_report(plan, planted, (samples, proof), keys, watch.seconds)


def _prove(scene: Scene, plan: PlantingPlan, states: list[Codes]) -> Steps[Samples | None]:
    """What Blender makes of the new keys; `None` where nobody wants to know."""
    if not plan.settings.verify:
        return None
    evaluation = evaluation_of([leg.plan for leg in plan.legs], proving=True)
    try:
        return (yield from sample_steps(scene, proof_quantities(plan), proof_frames(plan, states), evaluation=evaluation))
    except SkipCheckError:
        return None
