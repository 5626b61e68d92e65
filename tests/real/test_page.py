"""The page about real rigs has a row for each rig that the tests measure, with as many limbs as they measure."""

from collections import Counter

from tests.house.source import ROOT
from tests.real.generated_rigs import METARIGS
from tests.real.limbs_of_rigs import LIMBS_OF
from tests.real.rigs import LIMBS


def limbs_on_the_page():
    """Limbs of each rig, in both tables."""
    page = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
    lines = page.split("\n## Real rigs\n")[1].split("\n## ")[0].splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    found = Counter()
    for rig, limbs, *_ in rows:
        if limbs.isdigit():
            found[rig] += int(limbs)
    return found


def test_every_rig_has_its_row_and_all_its_limbs():
    files = Counter(file for file, _ in {(real.file, real.upper) for real in LIMBS})
    assert limbs_on_the_page() == files + Counter({f"Rigify {name}": LIMBS_OF[name] for name in METARIGS})
