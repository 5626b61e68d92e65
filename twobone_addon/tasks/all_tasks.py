"""List of all tasks, from which operators, commands, jobs, schemas and pages are made."""

from __future__ import annotations

from ..pipeline.task import Task
from .align.task import ALIGN
from .audit.task import AUDIT
from .bake.task import BAKE
from .clear.task import CLEAR
from .convert.task import CONVERT
from .find_contacts.exchange import EXPORT_CONTACTS, IMPORT_CONTACTS
from .find_contacts.task import FIND_CONTACTS
from .find_limbs.task import FIND_LIMBS
from .fit_root.task import FIT_ROOT
from .give.task import GIVE
from .nudge.task import NUDGE
from .plant.task import PLANT
from .switch.task import SWITCH

TASKS: tuple[Task, ...] = (
    BAKE,
    CONVERT,
    GIVE,
    SWITCH,
    CLEAR,
    ALIGN,
    FIND_LIMBS,
    FIND_CONTACTS,
    IMPORT_CONTACTS,
    EXPORT_CONTACTS,
    PLANT,
    FIT_ROOT,
    NUDGE,
    AUDIT,
)
