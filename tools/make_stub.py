"""Make the stub of the package, by which editors know the functions of the tasks: their settings, values and reports.

python tools/make_docs.py
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STUB = ROOT / "twobone_addon" / "__init__.pyi"

HEAD = '''"""The functions of the tasks, as editors see them. Made by tools/make_docs.py from the tables in settings/."""

from collections.abc import Sequence
from typing import Literal

from .errors import TwoBoneError as TwoBoneError
'''
CLIPS = ".pipeline.report.reports.ClipsReport"


def records_of(name: str) -> tuple[str, ...]:
    """Places of the records that a task's function returns: `ClipsReport` for several actions."""
    from twobone_addon.tasks.all_tasks import task_named  # noqa: PLC0415 - the checkout is on the path only now

    task = task_named(name)
    place = f"{task.record.__module__}.{task.record.__name__}".removeprefix("twobone_addon")
    return place, *((CLIPS,) if task.has_clips else ())


def stub() -> str:
    """The whole file."""
    from twobone_addon.settings.tasks import tables_by_call  # noqa: PLC0415 - the checkout is on the path only now

    records = {name: records_of(table.task) for name, table in sorted(tables_by_call().items())}
    places: dict[str, set[str]] = {}
    for record in {record for found in records.values() for record in found}:
        place, _, own = record.rpartition(".")
        places.setdefault(place, set()).add(own)
    imports = "".join(f"from {place} import {', '.join(sorted(names))}\n" for place, names in sorted(places.items()))
    functions = "\n".join(function(name, [record.rpartition(".")[2] for record in records[name]]) for name in records)
    return f"{HEAD}{imports}\n__version__: str\n\n{functions}"


def function(name: str, reports: list[str]) -> str:
    """One function: a line for each setting, and the first line of its docstring."""
    import twobone_addon  # noqa: PLC0415

    made: Callable[..., Any] = getattr(twobone_addon, name)
    settings = inspect.signature(made).parameters.values()
    lines = "".join(f"    {each.name}: {each.annotation} = {shown(each.default)},\n" for each in settings)
    told = str(made.__doc__).splitlines()[0]
    return f'def {name}(\n    *,\n{lines}) -> {" | ".join(reports)}:\n    """{told}"""\n'


def shown(default: object) -> str:
    """A default as the formatter would write it."""
    return f'"{default}"' if isinstance(default, str) else repr(default)
