"""The one line by which the toy task is a task, for a session of pytest with `-p tests.promises.toy_task.line`."""

from tests.promises.toy_task.task import LIFT
from twobone_addon.settings.tasks import TABLES
from twobone_addon.tasks.all_tasks import PLACES

TABLES["lift"] = LIFT.table
PLACES["lift"] = "tests.promises.toy_task.task:LIFT"


def pytest_collection_finish():
    """Say how its main number is measured, as `measured.py` does for the others."""
    from tests.promises import measured

    def lifted(task):
        before = heights()
        report = measured.report_of(task)
        yield "lifted", report["lifted"], (heights() - before).min(), 1e-5

    def heights():
        found = []
        for frame in measured.frames():
            measured.bpy.context.scene.frame_set(frame)
            found.append(measured.armature().pose.bones["thigh.L"].location.z)
        return measured.np.array(found)

    measured.MEASURES["lift"] = lifted
