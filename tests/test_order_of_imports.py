"""Packages import each other in the order that docs/architecture.md states, types included."""

import re
from pathlib import Path

from locked import library_modules

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "src/irpretrain"


def stated() -> tuple[list[str], set[tuple[str, str]]]:
    """The packages in their order, and the arrows that run against it."""
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    order, exceptions = page.split("## Order of imports")[1].split("\n## ")[0].split("later ones:")
    arrows = re.findall(r"`(\w+)` \(([^)]*)\)", exceptions)
    return re.findall(r"`(\w+)`", order), {
        (package, later) for package, targets in arrows for later in re.findall(r"`(\w+)`", targets)
    }


def test_packages_import_earlier_ones():
    order, exceptions = stated()
    packages = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
    assert packages == set(order)
    later = {
        (package, name)
        for package in order
        for path in (LIBRARY / package).rglob("*.py")
        for name in {module.split(".")[1] for module in library_modules(path)} & packages
        if order.index(name) > order.index(package)
    }
    assert later == exceptions
