"""What targets of the command line make, and which names they may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from irpretrain.config.consistency import view_faults
from irpretrain.config.retrieval import TF_INDEX
from irpretrain.config.usage import (
    active_diagnoses,
    active_distributions,
    active_downstream,
    active_experiments,
    first_stage_names,
    hidden_views,
    index_names,
)
from irpretrain.errors import ConfigError
from irpretrain.near_names import instead_of
from irpretrain.plan import paths
from irpretrain.plan.catalogue import Catalogue
from irpretrain.plan.part import ENTRY_WILDCARDS, Files, PlanPart
from irpretrain.plan.requests import Wildcards
from irpretrain.plan.shown import Shown, table_files

OVERVIEW_TABLES = ("headline", "verdict_summary")
"""The tables over all papers."""


VIEWS = {
    "attributions": (paths.ATTRIBUTIONS, "page of attributions with all its files"),
    "query_pages": (paths.QUERY_PAGE, "page of queries with all its files"),
    "term_weight_pages": (paths.TERM_WEIGHT_PAGE, "page of term weights with all its files"),
    "weight_distributions": (paths.WEIGHT_FIGURE, "distribution of weights"),
}
"""Section of pages or figures that targets of their own make → the files, and what they are called."""
WEIGHT_VIEWS = ("term_weight_pages", "weight_distributions")


@dataclass(frozen=True, eq=False)
class Targets(PlanPart):
    """What stands behind targets that take no wildcards; `shown` is of all papers of the report."""

    catalogue: Catalogue
    shown: Shown

    @property
    def overview_tables(self) -> list[str]:
        return table_files(OVERVIEW_TABLES if self.config.report.papers else ("headline",))

    def all_tables(self, wildcards: Wildcards | None = None) -> list[str]:
        """The tables over all papers; ConfigError where nothing is asked for that a report could show."""
        shown = (active_experiments, active_downstream, active_diagnoses, active_distributions)
        absent = self.config.absent or self.config.absent_tasks
        if not absent and not any(asked_for(self.config) for asked_for in shown):
            nothing = (
                "the configuration has nothing for a report to show; add a comparison under "
                "experiments (report.papers must list one of its papers, if it names any), or name a target: "
                "`snakemake --list-target-rules` lists them"
            )
            raise ConfigError("\n  ".join([nothing, *hidden_views(self.config)]))
        return self.overview_tables

    def views(self, section: str) -> Files:
        """Return every page or figure that a section asks for; asked for, ConfigError where it has none."""
        template, what = VIEWS[section]
        entries = getattr(self.config, section)

        def files(wildcards: Wildcards) -> list[str]:
            if not entries:
                raise ConfigError(f"the configuration has no {what}; add one under {section}")
            # A report without DeepCT does not look at views of weights, so that they are checked only here.
            if section in WEIGHT_VIEWS and (faults := list(view_faults(self.config))):
                raise ConfigError("\n".join(faults))
            return [template.format_map({ENTRY_WILDCARDS[section]: name}) for name in entries]

        return files

    def names(self) -> dict[str, tuple[str, list[str]]]:
        """Return the section that has the names of each wildcard of target files, and these names."""
        config = self.config
        names = {
            wildcard: (section, list(getattr(config, section)))
            for section, wildcard in ENTRY_WILDCARDS.items()
            if section not in VIEWS or section == "weight_distributions"
        }
        names["experiment"] = ("experiments", [*config.experiments, *config.downstream])
        return names | {
            "candidates": ("first_stages", first_stage_names(config)),
            "index": ("indexes", index_names(config)),
            "weighting": ("term_weights", [*config.term_weights, TF_INDEX]),
            "asset": ("the embedded assets", sorted(self.manifest.assets)),
            "entry": ("the catalogue", list(self.catalogue.entries)),
            "paper": ("report.papers", [*config.report.papers]),
        }

    def faults(self, target: str, wildcards: Mapping[str, str]) -> Iterator[str]:
        """Yield why the configuration has no such file.

        Args:
            target: a path of the command line.
            wildcards: what a rule that makes such files finds in it.
        """
        names = self.names()
        for wildcard, value in wildcards.items():
            section, allowed = names.get(wildcard, ("", [value]))
            if value in allowed:
                continue
            if wildcard == "experiment" and value in self.config.absent:
                yield f"{target}: experiment {value} is left out: {self.config.absent[value].reason}"
            else:
                near = instead_of(value, allowed, f"{section} has")
                yield f"{target}: {value!r} is not in {section} of this configuration; {near}"
