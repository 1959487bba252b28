"""What a dry run says of the cost of its jobs."""

from collections.abc import Iterable, Mapping

from irpretrain.catalogue.needed import told
from irpretrain.costs.counted import with_counted_sizes
from irpretrain.costs.estimate import estimate, table
from irpretrain.plan.preparation import Prepared


def costs_text(prepared: Prepared, jobs: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """Return what planned jobs, each a rule and its wildcards, would cost, and which files of the catalogue are not
    there."""
    estimated = estimate(with_counted_sizes(prepared.config, prepared.manifest), jobs)
    costs = f"\n{table(estimated)}\n" if estimated.rows else ""
    what = "planned as if they were; a run leaves out" if prepared.as_if_there else "left out is"
    return costs + told(prepared.missing, f"\nNot there, and {what} what needs them:")
