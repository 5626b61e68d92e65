"""Read and write files of contact labels, as motion generators and training data use them: one row of four points per frame."""

from __future__ import annotations

import csv
import io
import json
import math
import tokenize
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import SettingError
from ...files import LARGEST, read, read_table
from ...said import Sentence
from ..array_types import Array, Codes

COLUMNS = ("left_heel", "left_ball", "right_heel", "right_ball")
SYNONYMS = {"left_toe": "left_ball", "right_toe": "right_ball"}
WITHOUT_MEANING = {"frame"}
KEY = "foot_contacts"
UNREADABLE = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, SyntaxError, EOFError, MemoryError, OSError,
    NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error, csv.Error, tokenize.TokenError,
)  # fmt: skip
"""What the parsers of others' files raise for one that is none; RuntimeError is that of an encrypted archive."""
STANDS = 0.5
"""Least label, of 0 to 1, of a point that is on the ground."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Contacts of a left and a right foot."""

    states: Codes
    """`(2, F)` contact states, see the module `states`."""
    fps: float
    """Frames per second; 0 if the file does not say."""

    def at(self, seconds: Array) -> Codes:
        """States `(2, n)` of the frames nearest to `seconds` `(n,)` after the first; the last frame holds beyond the end."""
        rows = np.floor(seconds * self.fps + 0.5).astype(int)
        return self.states[:, np.clip(rows, 0, self.states.shape[1] - 1)]


def read_labels(path: Path) -> Labels:
    """Read the contacts in a `.npz`, `.csv` or `.json` file; raises `SettingError` or `FileError` that says what is wrong."""
    reader = READERS[_suffix(path)]
    try:
        rows, fps = reader(path)
        table = np.array(rows, dtype=float)
    except UNREADABLE as error:
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
    """Contents of the file at `path` for states `(2, F)`, by its ending; raises `SettingError` for an unknown ending."""
    table = np.stack([(states[foot] & bit) != 0 for foot in (0, 1) for bit in (1, 2)], axis=-1)
    suffix = _suffix(path)
    if suffix == ".npz":
        archive = io.BytesIO()
        np.savez_compressed(archive, foot_contacts=table, fps=np.array(fps), frame_start=np.array(frame_start))
        return archive.getvalue()
    rows = table.astype(int).tolist()
    if suffix == ".json":
        return json.dumps({"fps": fps, "frame_start": frame_start, "columns": COLUMNS, KEY: rows}).encode()
    text = io.StringIO()
    csv_writer = csv.writer(text, lineterminator="\n")
    csv_writer.writerow(["frame", *COLUMNS])
    csv_writer.writerows([f"{frame_start + number:g}", *row] for number, row in enumerate(rows))
    return text.getvalue().encode()


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise SettingError('File "{file}" is not a contacts file. Choose one that ends in .npz, .csv or .json.', file=path.name)
    return suffix


def _from_npz(path: Path) -> tuple[Array, float]:
    """Read the arrays; one that says that it is larger than any take, or than its own file, is refused before it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(read(path))) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        if KEY not in names:
            _refuse_columns(path, names[:20], (KEY,))
        values = {name: _array(archive, f"{name}.npy") for name in (KEY, "fps") if name in names}
    return values[KEY], float(values.get("fps", 0.0))


def _array(archive: zipfile.ZipFile, name: str) -> Array:
    if archive.getinfo(name).file_size > LARGEST:
        raise ValueError(f"{name} is larger than {LARGEST >> 20} MB")
    with archive.open(name) as file:
        version = np.lib.format.read_magic(file)
        read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, is_fortran, kind = read_header(file)
        if kind.hasobject or kind.kind not in "biuf" or any(size < 0 for size in shape):
            raise ValueError(f"{name} holds {kind}, no numbers")
        if math.prod(shape) * kind.itemsize > LARGEST:
            raise ValueError(f"{name} has the shape {shape}, more than {LARGEST >> 20} MB")
        flat = np.frombuffer(file.read(math.prod(shape) * kind.itemsize), kind, math.prod(shape))
    return flat.reshape(shape, order="F" if is_fortran else "C")


def _from_csv(path: Path) -> tuple[list[list[str]], float]:
    rows = [row for row in csv.reader(read(path).decode("utf-8-sig").splitlines()) if row]
    if not rows or all(_is_number(cell) for cell in rows[0]):
        return rows, 0.0
    return _in_order(path, rows[0], rows[1:]), 0.0


def _from_json(path: Path) -> tuple[list[list[float]], float]:
    content = read_table(path)
    if isinstance(content, list):
        return content, 0.0
    if not isinstance(content, dict) or not isinstance(content.get(KEY), list):
        _refuse_columns(path, list(content)[:20] if isinstance(content, dict) else [], (KEY,))
    rows = _in_order(path, content["columns"], content[KEY]) if "columns" in content else content[KEY]
    return rows, float(content.get("fps", 0.0))


READERS = {".npz": _from_npz, ".csv": _from_csv, ".json": _from_json}


def _in_order(path: Path, columns: list[str], rows: list) -> list:
    names = [SYNONYMS.get(name, name) for name in (str(column).strip().lower().replace(" ", "_") for column in columns)]
    known = [name for name in names if name not in WITHOUT_MEANING]
    if sorted(known) != sorted(COLUMNS):
        _refuse_columns(path, known, COLUMNS)
    return [[row[names.index(name)] for name in COLUMNS] for row in rows if len(row) == len(names)]


def _refuse_columns(path: Path, found: list[str], wanted: tuple[str, ...]) -> None:
    raise SettingError(
        'File "{file}" has {found}. It needs {wanted}.',
        file=path.name,
        found=", ".join(found) or Sentence("nothing"),
        wanted=", ".join(wanted),
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
