"""What a run ends with."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from irpretrain.config.papers import known_papers
from irpretrain.config.usage import hidden_views
from irpretrain.corpora.catalogue.absence import read_entries, reported
from irpretrain.corpora.ir_datasets_library import downloads_text
from irpretrain.corpora.sources import used_ir_datasets
from irpretrain.foundation.other_code import other_code_text, results_of_other_code
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.whole import Plan
from irpretrain.workflow.screen.user_paths import as_user_path

# Files of targets that are named.
DISPLAYED = 3


def closing_text(plan: Plan, missing: Mapping[str, list[str]], targets: Collection[str], since: float) -> str:
    """Return the headline table, the report's location, and the left-out parts; the list of data sets if requested.

    Args:
        missing: missing files of the catalogue, by entry.
        since: start of the run, in seconds since 1970; older results are not its own.
    """
    from irpretrain.corpora.catalogue.table import datasets_text
    from irpretrain.report.headline import headlines

    if "datasets" in targets:
        reports = dict(zip(plan.catalogue.present(), plan.catalogue.reports(), strict=True))
        entries, folders = plan.catalogue.entries, plan.catalogue.folders
        if own := read_entries(plan.config, folders) | missing.keys():
            own |= {name for entry in own for name in entries[entry].needs}
            entries = {name: entry for name, entry in entries.items() if name in own}
        catalogue = datasets_text(entries, reports, {folder: as_user_path(folder) for folder in folders})
        if own:
            catalogue += f"\n\nThe configuration reads these. All: {as_user_path(paths.DATASETS_TABLE)}"
        return "\n" + "\n\n".join(filter(None, [catalogue, downloads_text(used_ir_datasets(plan.config))]))
    left_out = reported(dict(missing), "Left out was what needs these files, which are not there:")
    hidden = "".join(f"{line}\n" for line in hidden_views(plan.config))
    made = headlines("results", since, as_user_path("results"))
    other_code = other_code_text(results_of_other_code())
    texts = (made, requested(plan, targets, made), hidden, left_out, other_code)
    return "".join(f"\n{text}" for text in texts if text)


def requested(plan: Plan, targets: Collection[str], reported: str) -> str:
    """Return where the files of targets lie, except those reported before, and except papers."""
    by_name: dict[str, Any] = plan.targets_by_name()
    files = list[str]()
    for target in sorted(set(targets) - {"all", *known_papers()}):
        made = by_name.get(target, target)
        files += made(None) if callable(made) else [made]
    displayed = [as_user_path(path) for path in files if Path(path).exists()]
    displayed = [path for path in displayed if path not in reported]
    more = f" and {len(displayed) - DISPLAYED} more" if len(displayed) > DISPLAYED else ""
    return f"Files:   {', '.join(displayed[:DISPLAYED])}{more}\n" if displayed else ""
