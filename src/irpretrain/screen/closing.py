"""What a run ends with."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from irpretrain.catalogue.needed import read_entries, told
from irpretrain.config.usage import hidden_views
from irpretrain.corpora.ir_datasets_library import downloads_text
from irpretrain.corpora.sources import used_ir_datasets
from irpretrain.papers.files import known_papers
from irpretrain.plan import Plan, paths
from irpretrain.screen.user_paths import as_user_stands

SHOWN = 3
"""Files of targets that are named."""


def closing_text(plan: Plan, missing: Mapping[str, list[str]], targets: Collection[str], since: float) -> str:
    """Return the headline table, where the report lies, and what was not shown or left out; the list of data sets, of
    those that the configuration reads if it reads any, where that was asked for.

    Args:
        missing: files of the catalogue that are not there, by entry.
        since: when the run started, in seconds since 1970; older results are not its own.
    """
    from irpretrain.catalogue.table import datasets_text
    from irpretrain.report.headline import headlines

    if "datasets" in targets:
        reports = dict(zip(plan.catalogue.present(), plan.catalogue.reports(), strict=True))
        entries, folders = plan.catalogue.entries, plan.catalogue.folders
        if own := read_entries(plan.config, folders) | missing.keys():
            own |= {name for entry in own for name in entries[entry].needs}
            entries = {name: entry for name, entry in entries.items() if name in own}
        catalogue = datasets_text(entries, reports, {folder: as_user_stands(folder) for folder in folders})
        if own:
            catalogue += f"\n\nThe configuration reads these. All: {as_user_stands(paths.DATASETS_TABLE)}"
        return "\n" + "\n\n".join(filter(None, [catalogue, downloads_text(used_ir_datasets(plan.config))]))
    left_out = told(dict(missing), "Left out was what needs these files, which are not there:")
    hidden = "".join(f"{line}\n" for line in hidden_views(plan.config))
    made = headlines("results", since, as_user_stands("results"))
    return "".join(f"\n{text}" for text in (made, asked_for(plan, targets, made), hidden, left_out) if text)


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
