"""List the texts that have no translation, by language. They are shown in English, and nothing fails.

python tools/missing_translations.py [de_DE ...]          (in a Python with bpy; without names for all languages)
"""

import ast
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import bpy  # noqa: E402, F401 - must be imported before the modules that it provides

from tests.interface.shown_texts import SAID_BY, SHOWN_BY, shown_texts  # noqa: E402
from tools.messages import PACKAGE, error_classes, name_of  # noqa: E402
from twobone_addon import registration  # noqa: E402
from twobone_addon.interface.translating import FOLDER, SENTENCES  # noqa: E402

PLACE = re.compile(r"\{[^}]*\}")


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
    nodes = [node for tree in trees for node in ast.walk(tree)]
    # A text may have a name: that of a constant of a module, or of a variable.
    named: dict[str, list[ast.Constant]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.JoinedStr):
            own = [value for value in ast.walk(node.value) if isinstance(value, ast.Constant)]
            named.setdefault(name_of(node.targets[0]), []).extend(own)
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    said = [call.args[0] for call in calls if call.args and name_of(call.func) in sayers | SAID_BY]
    said += [word.value for call in calls for word in call.keywords if word.arg == SHOWN_BY.get(name_of(call.func))]
    values = [value for text in said for value in ([text] if isinstance(text, ast.Constant) else named.get(name_of(text), []))]
    texts = {value.value for value in values if isinstance(value.value, str)}
    plain = {text.value for text in said if isinstance(text, ast.Constant)}
    return {
        text
        for text in texts
        if re.search("[A-Za-z]{2}", PLACE.sub("", text)) and (text in plain or re.fullmatch(r"\S+ .*\S", text))
    }


if __name__ == "__main__":
    main(sys.argv[1:])
