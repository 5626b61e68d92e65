"""Files of contacts, as generators of motion and training data have them: a row a frame, heel and ball, left and right."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import SettingError
from ..array_types import Array, Codes

COLUMNS = ("left_heel", "left_ball", "right_heel", "right_ball")
SYNONYMS = {"left_toe": "left_ball", "right_toe": "right_ball"}
WITHOUT_MEANING = {"frame"}
KEY = "foot_contacts"
STANDS = 0.5
"""From which a label, 0 to 1, says that a point is on the ground."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Contacts of a left and a right foot."""

    states: Codes
    """`(2, F)`, see `states`."""
    fps: float
    """Frames a second; 0 where the file does not tell."""

    def at(self, seconds: Array) -> Codes:
        """States `(2, n)` at times `(n,)` since the first, those of the nearest frame; raises no error beyond the last."""
        rows = np.floor(seconds * self.fps + 0.5).astype(int)
        return self.states[:, np.clip(rows, 0, self.states.shape[1] - 1)]


def read_labels(path: Path) -> Labels:
    """The contacts in a `.npz`, `.csv` or `.json` file; raises `SettingError` with what is wrong in it."""
    try:
        rows, fps = READERS[_suffix(path)](path)
        table = np.array(rows, dtype=float)
    except FileNotFoundError:
        raise SettingError('There is no file "{file}".', file=str(path)) from None
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise SettingError('File "{file}" cannot be read as contacts ({reason}).', file=path.name, reason=reason) from error
    if not table.size or table.shape != (len(table), len(COLUMNS)):
        raise SettingError(
            'Contacts in "{file}" have the shape {found}. One row for each frame is needed, with 4 columns: {columns}.',
            file=path.name,
            found=str(table.shape),
            columns=", ".join(COLUMNS),
        )
    if not np.all((table >= 0.0) & (table <= 1.0)):
        raise SettingError('Contacts in "{file}" are not all between 0 (off the ground) and 1 (on it).', file=path.name)
    stands = (table >= STANDS).astype(int)
    if not 0.0 <= fps < np.inf:
        raise SettingError('File "{file}" has {fps:g} frames a second. Give a number above 0.', file=path.name, fps=fps)
    return Labels(np.stack([stands[:, 0] + 2 * stands[:, 1], stands[:, 2] + 2 * stands[:, 3]]), fps)


def labels_as_file(path: Path, states: Codes, fps: float, frame_start: float) -> bytes:
    """What a file with that ending has for states `(2, F)`; raises `SettingError` for another ending."""
    table = np.stack([(states[foot] & bit) != 0 for foot in (0, 1) for bit in (1, 2)], axis=-1)
    suffix = _suffix(path)
    if suffix == ".npz":
        packed = io.BytesIO()
        np.savez_compressed(packed, foot_contacts=table, fps=np.array(fps), frame_start=np.array(frame_start))
        return packed.getvalue()
    rows = table.astype(int).tolist()
    if suffix == ".json":
        return json.dumps({"fps": fps, "frame_start": frame_start, "columns": COLUMNS, KEY: rows}).encode()
    text = io.StringIO()
    written = csv.writer(text, lineterminator="\n")
    written.writerow(["frame", *COLUMNS])
    written.writerows([f"{frame_start + number:g}", *row] for number, row in enumerate(rows))
    return text.getvalue().encode()


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise SettingError('File "{file}" is not a contacts file. Choose one that ends in .npz, .csv or .json.', file=path.name)
    return suffix


def _from_npz(path: Path) -> tuple[Array, float]:
    with np.load(path, allow_pickle=False) as found:
        if KEY not in found:
            _refuse_columns(path, list(found), (KEY,))
        return found[KEY], float(found["fps"]) if "fps" in found else 0.0


def _from_csv(path: Path) -> tuple[list[list[str]], float]:
    rows = [row for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines()) if row]
    if not rows or all(_is_number(cell) for cell in rows[0]):
        return rows, 0.0
    return _in_order(path, rows[0], rows[1:]), 0.0


def _from_json(path: Path) -> tuple[list[list[float]], float]:
    found = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(found, list):
        return found, 0.0
    if KEY not in found:
        _refuse_columns(path, list(found), (KEY,))
    rows = _in_order(path, found["columns"], found[KEY]) if "columns" in found else found[KEY]
    return rows, float(found.get("fps", 0.0))


READERS = {".npz": _from_npz, ".csv": _from_csv, ".json": _from_json}


def _in_order(path: Path, columns: list[str], rows: list) -> list:
    names = [SYNONYMS.get(name, name) for name in (str(each).strip().lower().replace(" ", "_") for each in columns)]
    own = [name for name in names if name not in WITHOUT_MEANING]
    if sorted(own) != sorted(COLUMNS):
        _refuse_columns(path, own, COLUMNS)
    return [[row[names.index(name)] for name in COLUMNS] for row in rows if len(row) == len(names)]


def _refuse_columns(path: Path, found: list[str], wanted: tuple[str, ...]) -> None:
    raise SettingError(
        'File "{file}" has {found}. It needs {wanted}.',
        file=path.name,
        found=", ".join(found) or "nothing",
        wanted=", ".join(wanted),
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
