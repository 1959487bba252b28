"""What targets of the command line make, and which names they may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from irpretrain.config.experiments import ATTRIBUTED_CANDIDATES, AttributionConfig
from irpretrain.config.references import reference_faults
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
from irpretrain.foundation.wording import instead_of
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.corpora import Catalogue
from irpretrain.workflow.plan.datasets import Experiments, ScoredCell
from irpretrain.workflow.plan.models import Models
from irpretrain.workflow.plan.part import ENTRY_WILDCARDS, Files, PlanPart, as_list
from irpretrain.workflow.plan.requests import Wildcards
from irpretrain.workflow.plan.shown import Shown, table_files

# Section of pages or figures that targets of their own make → the files, and what they are called.
VIEWS = {
    "attributions": (paths.ATTRIBUTIONS, "page of attributions with all its files"),
    "term_weight_pages": (paths.TERM_WEIGHT_PAGE, "page of term weights with all its files"),
}


@dataclass(frozen=True, eq=False)
class Targets(PlanPart):
    """What stands behind targets that take no wildcards; `shown` is of all papers of the report."""

    catalogue: Catalogue
    shown: Shown

    @property
    def overview_tables(self) -> list[str]:
        return table_files(["headline"], ["headline"])

    def all_tables(self, wildcards: Wildcards | None = None) -> list[str]:
        """The tables over all papers; ConfigError if nothing is requested that a report could show."""
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
        """Return every page of a section; calling it raises ConfigError if there is none."""
        template, what = VIEWS[section]
        entries = getattr(self.config, section)

        def files(wildcards: Wildcards) -> list[str]:
            if not entries:
                raise ConfigError(f"the configuration has no {what}; add one under {section}")
            # A report without DeepCT does not look at pages of weights, so that they are checked only here.
            if section == "term_weight_pages" and (faults := list(reference_faults(self.config, section))):
                raise ConfigError("\n".join(faults))
            return [template.format_map({ENTRY_WILDCARDS[section]: name}) for name in entries]

        return files

    def names(self) -> dict[str, tuple[str, list[str]]]:
        """Return the section that has the names of each wildcard of target files, and these names."""
        config = self.config
        names = {
            wildcard: (section, list(getattr(config, section)))
            for section, wildcard in ENTRY_WILDCARDS.items()
            if section not in VIEWS
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
        """Yield why the configuration has no file `target`, whose rule finds these wildcards in it."""
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


# Pages of attributions of scores.


@dataclass(frozen=True, eq=False)
class Attributions(PlanPart):
    """Jobs of a page of attributions."""

    models: Models
    experiments: Experiments

    def model_files_of_page(self, wildcards: Wildcards) -> list[str]:
        page = self._page(wildcards)
        files = [self.models.final_files(model, page.seed) for model in page.models]
        return [path for some in files for path in as_list(some)]

    def runs(self, wildcards: Wildcards) -> list[str]:
        return [model["run"] for model in self.shown_models(wildcards) if model["run"]]

    def shown_models(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Label, directory and run of each model of a page. A query that is no query of the data set is in no run."""
        page = self._page(wildcards)
        return [
            {
                "label": self.config.models[model].label,
                "directory": self.models.final(model, page.seed),
                "run": self._run(page, model) if page.text is None else None,
            }
            for model in page.models
        ]

    def _run(self, page: AttributionConfig, model: str) -> str:
        cell = ScoredCell(page.dataset, ATTRIBUTED_CANDIDATES, model, "zero-shot", page.seed)
        [path] = self.experiments.run_files(cell)
        return path

    def _page(self, wildcards: Wildcards) -> AttributionConfig:
        return self.config.attributions[wildcards.page]
