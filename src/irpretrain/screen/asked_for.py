"""Where the files of a run's targets lie."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from irpretrain.papers.files import known_papers
from irpretrain.plan import Plan
from irpretrain.screen.user_paths import as_user_stands

SHOWN = 3
"""Files that are named."""


def asked_for(plan: Plan, targets: Collection[str], said: str) -> str:
    """Return where the files of targets lie, but for what was said before, and for papers, whose reports have been."""
    by_name: dict[str, Any] = plan.targets_by_name()
    files = list[str]()
    for target in sorted(set(targets) - {"all", *known_papers()}):
        made = by_name.get(target, target)
        files += made(None) if callable(made) else [made]
    shown = [as_user_stands(path) for path in files if Path(path).exists()]
    shown = [path for path in shown if path not in said]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return f"Files:   {', '.join(shown[:SHOWN])}{more}\n" if shown else ""
