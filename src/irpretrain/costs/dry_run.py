"""What a dry run says of the cost of its jobs."""

import os
from collections.abc import Iterable, Mapping

from irpretrain.catalogue.needed import told
from irpretrain.config.usage import hidden_views
from irpretrain.costs.counted import with_counted_sizes
from irpretrain.costs.estimate import estimate, table
from irpretrain.plan.preparation import Prepared

REFUSED = "IRPRETRAIN_REFUSED"
"""Set by `irpretrain.costs.plan` where a run without absent data is refused; its dry run always has `skip_absent`."""


def costs_text(prepared: Prepared, jobs: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """Return what planned jobs, each a rule and its wildcards, would cost, what no paper of the report shows, and
    which files of the catalogue are not there."""
    estimated = estimate(with_counted_sizes(prepared.config, prepared.manifest), jobs)
    costs = f"\n{table(estimated)}\n" if estimated.rows else ""
    if not prepared.as_if_there:
        what = "left out is what needs them"
    elif REFUSED in os.environ:
        what = "planned as if they were; a run is refused without them"
    else:
        what = "planned as if they were; a run leaves out what needs them"
    hidden = "".join(f"{line}\n" for line in hidden_views(prepared.config))
    return costs + hidden + told(prepared.missing, f"\nNot there, and {what}:")
