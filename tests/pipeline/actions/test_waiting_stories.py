"""What a story holds open while it waits for the other actions ends at once when one of these ends the run."""

import bpy
import pytest

from tests.promises.tasks_under_test import LIMB, keyed_leg
from twobone_addon.pipeline.run import run_steps
from twobone_addon.pipeline.story import Agree, Write
from twobone_addon.records import replace
from twobone_addon.settings import BakeSettings
from twobone_addon.settings.tasks import BakeAllSettings
from twobone_addon.tasks.bake import BAKE


@pytest.mark.parametrize("request_to_wait", [Agree(None, list), Write([], list)], ids=["Agree", "Write"])
@pytest.mark.parametrize("ends", ["error", "Esc"])
def test_a_waiting_story_ends_before_its_run_does(empty_file, request_to_wait, ends):
    rig, told, held_open = keyed_leg(), [], []
    rig.animation_data.action.copy()

    def story(_scene, _settings, _active, own):
        if told and ends == "error":
            raise ZeroDivisionError
        told.append(own.name)
        held_open.append(own.name)
        try:
            yield request_to_wait
        finally:
            held_open.remove(own.name)

    task = replace(BAKE, story=story)
    steps = run_steps(bpy.context.scene, task, BakeAllSettings(chains=(BakeSettings(**LIMB),)), rig, actions="ALL")
    while not told:
        next(steps)
    if ends == "Esc":
        steps.close()
    else:
        with pytest.raises(ZeroDivisionError) as caught:  # Its traceback keeps all frames alive.
            list(steps)
        assert caught.tb
    assert len(told) == 1
    assert not held_open
