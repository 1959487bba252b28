"""The plan of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from irpretrain.config import Config
from irpretrain.config.experiments import Paper
from irpretrain.config.papers import known_papers, printed_rank_shares
from irpretrain.corpora.embedded import IR_DATASETS, Manifest
from irpretrain.errors import ConfigError
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.axioms import Axioms, Diagnoses
from irpretrain.workflow.plan.corpora import Catalogue, Corpora
from irpretrain.workflow.plan.datasets import Datasets, Experiments
from irpretrain.workflow.plan.exports import Exports
from irpretrain.workflow.plan.models import Downstream, Models
from irpretrain.workflow.plan.part import Files, PlanPart
from irpretrain.workflow.plan.requests import Wildcards
from irpretrain.workflow.plan.retrieval import Retrieval
from irpretrain.workflow.plan.shown import Shown
from irpretrain.workflow.plan.targets import VIEWS, Attributions, Targets
from irpretrain.workflow.plan.term_weights import TermWeights, WeightViews


class Plan(PlanPart):
    """Inputs, resources and parameters of jobs, by part; computed when a rule needs them."""

    def __init__(self, config: Config, manifest: Manifest) -> None:
        super().__init__(config, manifest)
        self.catalogue = Catalogue(config, manifest)
        self.corpora = Corpora(config, manifest)
        self.datasets = Datasets(config, manifest)
        self.axioms = Axioms(config, manifest)
        self.models = Models(config, manifest)
        self.diagnoses = Diagnoses(config, manifest, self.models)
        self.term_weights = TermWeights(config, manifest, self.datasets)
        self.weight_views = WeightViews(config, manifest)
        self.retrieval = Retrieval(config, manifest)
        self.downstream = Downstream(config, manifest)
        self.experiments = Experiments(config, manifest, self.datasets, self.models)
        self.attributions = Attributions(config, manifest, self.models, self.experiments)
        self.shown = self.shown_by(*config.report.papers)
        self.exports = Exports(config, manifest, self.catalogue, self.shown)
        self.targets = Targets(config, manifest, self.catalogue, self.shown)

    def embedded(self, directories: bool) -> list[str]:
        """Return the embedded assets that are folders, or those that are files."""
        return [name for name, asset in self.manifest.assets.items() if bool(asset.directory) == directories]

    def several_shards(self, wildcards: Wildcards) -> bool:
        """Whether several jobs share the documents of a data set of ir_datasets."""
        path = f"{IR_DATASETS}{wildcards.identifier}"
        corpora = self.config.corpora.values() if wildcards.part == "docs" else ()
        return any(corpus.path == path and corpus.shards > 1 for corpus in corpora)

    def expected_asset(self, wildcards: Wildcards) -> Any:
        """What the manifest demands of the files, so that they are verified and copied again when that changes."""
        asset = self.manifest.assets[wildcards.asset]
        return asset.model_dump(include={"package", "version", "directory", "files"})

    def printed_rank_shares(self, wildcards: Wildcards) -> Any:
        """In which intervals the ranks of a paper's own pseudo-queries lie, as printed."""
        return printed_rank_shares()

    @cache
    def shown_by(self, *papers: Paper) -> Shown:
        """Return what a report on some papers shows."""
        return Shown(self.config, list(papers), self.corpora, self.experiments, self.retrieval)

    def of_paper(self, name: str) -> Callable[[Wildcards], Any]:
        """Return files of `Shown` by their name there, for the paper that a job's wildcard names."""

        def files(wildcards: Any) -> Any:
            return getattr(self.shown_by(wildcards.paper), name)

        return files

    def targets_by_name(self) -> dict[str, str | Files]:
        """Return the files of every target of the command line but `all`."""
        return {
            **{paper: self.paper_results(paper) for paper in known_papers()},
            "datasets": paths.DATASETS_TABLE,
            "exported_models": self.exports.models,
            "downstream": self.downstream.tables,
            **{section: self.targets.views(section) for section in VIEWS},
        }

    def paper_results(self, paper: str) -> Callable[[Wildcards], list[str]]:
        """Return the files of a paper's target; calling it raises ConfigError if the configuration lacks the paper."""

        def results(wildcards: Wildcards) -> list[str]:
            papers = [name for name in self.config.report.papers if name == paper]
            if not papers:
                raise ConfigError(f"report.papers of the configuration does not name {paper}; add it there")
            shown = self.shown_by(*papers)
            return [paths.PAPER_REPORT.format(paper=paper), *shown.tables, *shown.figures]

        return results
