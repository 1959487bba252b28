"""What a dry run says of the cost of its jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irpretrain.catalogue.needed import told
from irpretrain.config import Config
from irpretrain.corpora.embedded import Manifest
from irpretrain.costs.counted import with_counted_sizes
from irpretrain.costs.estimate import estimate, table


def costs_text(
    config: Config,
    manifest: Manifest,
    jobs: Iterable[tuple[str, Mapping[str, str]]],
    missing: Mapping[str, list[str]],
    as_if_there: bool,
) -> str:
    """Return what planned jobs would cost, and which files of the catalogue are not there.

    Args:
        jobs: rule and wildcards of each.
        missing: files that are not there, by entry of the catalogue.
        as_if_there: whether the jobs were planned as if they were.
    """
    found = estimate(with_counted_sizes(config, manifest), jobs)
    costs = f"\n{table(found)}\n" if found.rows else ""
    what = "planned as if they were; a run leaves out" if as_if_there else "left out is"
    return costs + told(dict(missing), f"\nNot there, and {what} what needs them:")
