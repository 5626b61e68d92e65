"""List the texts that have no translation, by language. They are shown in English, and nothing fails.

python tools/missing_translations.py [de_DE ...]          (in a Python with bpy; without names for all languages)
"""

import ast
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402, F401 - must be imported before the modules that it provides

from tests.interface.shown_texts import shown_texts  # noqa: E402
from tools.messages import PACKAGE, error_classes, name_of  # noqa: E402
from twobone_addon import registration  # noqa: E402
from twobone_addon.interface.translating import FOLDER, SENTENCES  # noqa: E402


def main(languages: list[str]) -> None:
    """Print the missing texts of the languages."""
    registration.register()
    wanted = sorted(shown_texts() | templates())
    for language in languages or sorted(path.stem for path in FOLDER.glob("*.json")):
        known = {text for folder in (FOLDER, SENTENCES) for text in json.loads((folder / f"{language}.json").read_text("utf-8"))}
        missing = [text for text in wanted if text not in known]
        print(f"{language}: {len(missing)} of {len(wanted)} texts are shown in English")
        print("".join(f"  {text}\n" for text in missing), end="")


def templates() -> set[str]:
    """Templates of errors and notes outside the command line, which is in English only."""
    paths = [path for path in PACKAGE.rglob("*.py") if "command_line" not in path.parts]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    sayers = error_classes(trees) | {"note", "Sentence"}
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    first = [call.args[0] for call in calls if name_of(call.func) in sayers]
    return {text.value for text in first if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value}


if __name__ == "__main__":
    main(sys.argv[1:])
