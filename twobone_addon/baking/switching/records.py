"""What became of a switch between FK and IK."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from ..report.statements import Statement


@dataclass(frozen=True, slots=True)
class SwitchReport:
    """What was switched for one chain."""

    armature: str
    upper: str
    lower: str
    to: str
    visible_bone: str
    """The bone that is seen where the lower bone is; empty where nothing is seen there."""
    properties: list[str]
    """Data paths of what was switched; empty where the limb was on FK already."""
    owners: list[str]
    """Names of the datablocks that have these properties: the armature as a rule."""
    values: list[float]
    keys: int
    """Keys that were written; 0 where there is no animation, so that the properties were set."""
    frame_start: float
    frame_end: float
    ranges: list[tuple[float, float]]
    """First and last frame of each part of that which was switched; the limb was on the wanted side already between them."""
    baked: bool = False
    """Whether the motion was baked onto the side that the limb follows now."""
    max_moved: float | None = None
    """Farthest that a joint is seen to have moved by the switch, world units; `None` where no motion was baked."""
    notes: list[str] = field(default_factory=list)
    remarks: list[Statement] = field(default_factory=list)
    """What a person would be misled without, for the status bar."""

    def to_json(self) -> str:
        """The report as JSON has it, under the names of a bake's."""
        own = asdict(self)
        return json.dumps({**own, "chains": [own]})
