"""Cells of the matrix: a task, an entry to it, a state of the file, and settings, drawn from the tables of settings themselves.

Each further cell takes what no cell before it has: each two of task, state and entry first, then each value, then all three, each
value in each state, and each value by each entry. So a new option, value or task is in the matrix without a word about it here.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tests.matrix.states import STATES
from tests.promises.tasks_under_test import TASKS, TaskUnderTest
from twobone_addon.settings.options import Option, OptionKind

OPTIONS_AT_ONCE = 5
"""Settings away from their defaults in one cell: with more, most cells would be refused for one of them."""

TRIED = 12
"""Places considered for a cell, of which the one with most that is new is taken."""

PLACES = {"pole": "Pole", "plane_object": "Board"}
"""Objects of the file that some roles need to be of use."""

LEFT_TO_STATES = {"frame_start", "frame_end"}
CUSTOM = {"frame_start": 2.0, "frame_end": 7.0}

Value = tuple[str, str, Any]
"""Task, option, value."""


@dataclass(frozen=True)
class Cell:
    """One thing to try."""

    number: int
    task: TaskUnderTest
    entry: str
    state: str
    given: dict[str, Any]

    def __str__(self) -> str:
        return f"cell {self.number}: {self.task.name} by {self.entry}, {self.state}, {self.given}"

    def values(self) -> set[Value]:
        """What it tries."""
        return {(self.task.name, name, value) for name, value in self.given.items()}


def entries_of(task: TaskUnderTest) -> list[str]:
    """Ways to a task: with names, by a stored chain, for all stored chains, by command, by a job."""
    found = ["operator", "command", "job"] if task.command else ["operator"]
    return found + (["stored", "all"] if task.name == "bake" else ["stored"] if task.name == "bake_target" else [])


def values_of(option: Option) -> list[Any]:
    """All values of a setting; of numbers the default, the ends and some between; of objects and bones one that is there."""
    if option.kind is not OptionKind.NUMBER:
        return {
            OptionKind.CHOICE: [choice.value for choice in option.choices],
            OptionKind.SWITCH: [False, True],
            OptionKind.ACTIONS: ["ACTIVE", "ALL"],
            OptionKind.VECTOR: [(0.0, 0.0, 0.0), (0.0, 0.02, 0.03)],
            OptionKind.OBJECT: ["", PLACES.get(option.name, "Target")],
            OptionKind.BONE: [""] if option.name in {"upper", "lower"} else ["", "parent"],
        }.get(option.kind, [])
    middle = option.default if option.default is not None else 4.0
    numbers = [middle, middle + 0.37, middle - 0.37, option.minimum + (1e-3 if option.above else 0.0), option.maximum]
    return [value for value in dict.fromkeys(numbers) if abs(value) < 100.0 and option.minimum <= value <= option.maximum]


def open_options(task: TaskUnderTest) -> dict[str, Option]:
    """Settings that a cell may choose: not those that name what the task is about."""
    return {option.name: option for option in task.options if option.name not in task.call.keys() | LEFT_TO_STATES}


def all_values(task: TaskUnderTest) -> set[Value]:
    """Each value of each setting."""
    return {(task.name, name, value) for name, option in open_options(task).items() for value in values_of(option)}


def completed(task: TaskUnderTest, given: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """The settings, and those without which they have no effect."""
    options, found = open_options(task), dict(given)
    for name in [name for name in given if name in options]:
        needs = options[name].needs
        while needs is not None and needs.setting in options and found.get(needs.setting) not in needs.values:
            found[needs.setting] = dice.choice(needs.values)
            needs = options[needs.setting].needs
    for plane, role in (("POLE", "pole"), ("OBJECT", "plane_object")):
        if found.get("plane", task.call.get("plane")) == plane and role in options and role not in found:
            found[role] = PLACES[role]
    if found.get("frame_range") == "CUSTOM":
        found |= CUSTOM
    return found


Place = tuple[TaskUnderTest, str, str]
"""Task, state and entry."""


def names_of(place: Place) -> tuple[str, str, str]:
    return place[0].name, place[1], place[2]


def pairs_of(place: Place) -> list[tuple[str, str]]:
    """Each two of task, state and entry."""
    return list(combinations(names_of(place), 2))


class Draw:
    """Draws cells, and knows what is still to be tried."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - dice, not secrets
        self.places = [
            (task, state, entry)
            for task in TASKS
            for state, made in STATES.items()
            if made.suits(task)
            for entry in entries_of(task)
        ]
        self.tried_pairs: set[tuple[str, str]] = set()
        self.tried_places: set[tuple[str, ...]] = set()
        self.tried_in_states: set[tuple[Value, str]] = set()
        self.tried_by_entries: set[tuple[Value, str]] = set()
        self.tried: set[Value] = set()
        self.known = {id(task): sorted(all_values(task), key=repr) for task in TASKS}

    def news(self, value: Value, state: str, entry: str) -> int:
        """What a value at a place would add to what has been tried."""
        return (
            10 * (value not in self.tried)
            + ((value, state) not in self.tried_in_states)
            + ((value, entry) not in self.tried_by_entries)
        )

    def cell(self, number: int) -> Cell:
        """The next cell."""
        some = self.dice.sample(self.places, min(TRIED, len(self.places)))
        untried = [place for place in self.places if set(pairs_of(place)) - self.tried_pairs]
        further = [place for place in self.places if names_of(place) not in self.tried_places]
        untried = untried or [place for place in further if not self.tried.issuperset(self.known[id(place[0])])] or further
        chosen = max(self.dice.sample(untried, min(TRIED, len(untried))) or some, key=lambda place: self.worth(*place))
        self.tried_pairs |= set(pairs_of(chosen))
        self.tried_places.add(names_of(chosen))
        task, state, entry = chosen
        values = self.dice.sample(self.known[id(task)], len(self.known[id(task)]))
        values.sort(key=lambda value: -self.news(value, state, entry))
        given, count = dict(STATES[state].given), 0
        for _, name, value in values:
            if name in given or count == OPTIONS_AT_ONCE:
                continue
            further = completed(task, {**given, name: value}, self.dice)
            # What a value needs must not undo what was chosen before.
            if all(further[other] == given[other] for other in given):
                given, count = further, count + 1
        found = Cell(number, task, entry, state, given)
        self.tried |= found.values()
        self.tried_in_states |= {(value, state) for value in found.values()}
        self.tried_by_entries |= {(value, entry) for value in found.values()}
        return found

    def worth(self, task: TaskUnderTest, state: str, entry: str) -> int:
        """How much a place has that is new: first values that no cell has."""
        news = sum((value not in self.tried) for value in self.known[id(task)])
        return 10 * news + sum(self.news(value, state, entry) for value in self.known[id(task)])

    def coverage(self) -> dict[str, tuple[int, int]]:
        """How much has been tried, of how much there is."""
        fixed = {state: set(made.given) for state, made in STATES.items()}
        in_states = {
            (value, state)
            for task in TASKS
            for state, made in STATES.items()
            if made.suits(task)
            for value in self.known[id(task)]
            if value[1] not in fixed[state]
        }
        by_entries = {(value, entry) for task in TASKS for value in self.known[id(task)] for entry in entries_of(task)}
        values = {value for task in TASKS for value in self.known[id(task)]}
        return {
            "two of task, state and entry": (
                len(self.tried_pairs),
                len({pair for each in self.places for pair in pairs_of(each)}),
            ),
            "task, state and entry": (len(self.tried_places), len(self.places)),
            "values": (len(values & self.tried), len(values)),
            "value and entry": (len(by_entries & self.tried_by_entries), len(by_entries)),
            "value and state": (len(in_states & self.tried_in_states), len(in_states)),
        }


def drawn_cells(seed: int, count: int) -> tuple[list[Cell], Draw]:
    """The first cells of a seed."""
    draw = Draw(seed)
    return list(_cells(draw, count)), draw


def _cells(draw: Draw, count: int) -> Iterator[Cell]:
    for number in range(count):
        yield draw.cell(number)
