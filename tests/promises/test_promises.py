"""Every task keeps every promise."""

import pytest

from tests.promises.promises import PROMISES, Bench
from tests.promises.tasks_under_test import TASKS


@pytest.fixture(scope="module")
def bench(registered_addon, tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("promises"))


@pytest.mark.parametrize(
    "task, keeps",
    [
        pytest.param(task, keeps, id=f"{task.name}: {promise}")
        for task in TASKS
        for promise, keeps in PROMISES.items()
        if promise not in task.without
    ],
)
def test_a_task_keeps_its_promises(bench, task, keeps):
    keeps(task, bench)
