"""The plan of a configuration."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from irpretrain.config import Config
from irpretrain.config.consistency import reference_faults
from irpretrain.config.experiments import AttributionConfig, Paper
from irpretrain.config.papers import known_papers, printed_rank_shares
from irpretrain.config.retrieval import TF_INDEX
from irpretrain.corpora.embedded import IR_DATASETS, Manifest
from irpretrain.foundation.errors import ConfigError, instead_of
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.axioms import Axioms, Diagnoses
from irpretrain.workflow.plan.corpora import Catalogue, Corpora
from irpretrain.workflow.plan.datasets import Datasets, Experiments, attributed_cell
from irpretrain.workflow.plan.exports import Exports, example_target
from irpretrain.workflow.plan.models import Downstream, Models
from irpretrain.workflow.plan.part import ENTRY_WILDCARDS, Files, PlanPart, Wildcards, as_json, as_list
from irpretrain.workflow.plan.retrieval import Retrieval
from irpretrain.workflow.plan.shown import ReportFiles, table_files
from irpretrain.workflow.plan.term_weights import TermWeights, WeightViews

# What targets of the command line make, and which names they may have.


# Section of pages or figures that targets of their own make → the files, and what they are called.
PAGES = {
    "attributions": (paths.ATTRIBUTIONS, "page of attributions with all its files"),
    "term_weight_pages": (paths.TERM_WEIGHT_PAGE, "page of term weights with all its files"),
}


@dataclass(frozen=True, eq=False)
class Targets(PlanPart):
    """What stands behind targets that take no wildcards; `shown` is of all papers of the report."""

    catalogue: Catalogue
    shown: ReportFiles

    @property
    def overview_tables(self) -> list[str]:
        return table_files(["headline"], ["headline"])

    def all_tables(self, wildcards: Wildcards | None = None) -> list[str]:
        """The tables over all papers; ConfigError if nothing is requested that a report could show."""
        sections = ("experiments", "downstream", "diagnoses", "weight_distributions")
        absent = self.config.absent or self.config.absent_tasks
        if not absent and not any(map(self.config.active, sections)):
            message = (
                "the configuration has nothing for a report to show; add a comparison under "
                "experiments (report.papers must list one of its papers, if it names any), or name a target, "
                f"such as {example_target(self.config)}; results/README.md lists the files of targets"
            )
            raise ConfigError("\n  ".join([message, *self.config.hidden_views()]))
        return self.overview_tables

    def pages(self, section: str) -> Files:
        """Return every page of a section; calling it raises ConfigError if there is none."""
        template, view_name = PAGES[section]
        entries = getattr(self.config, section)

        def files(wildcards: Wildcards) -> list[str]:
            if not entries:
                raise ConfigError(f"the configuration has no {view_name}; add one under {section}")
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
            if section not in PAGES
        }
        names["experiment"] = ("experiments", [*config.experiments, *config.downstream])
        return names | {
            "candidates": ("first_stages", list(config.stage_labels)),
            "index": ("indexes", list(config.index_labels)),
            "weighting": ("term_weights", [*config.term_weights, TF_INDEX]),
            "asset": ("the embedded assets", sorted(self.manifest.assets)),
            "entry": ("the catalogue", list(self.catalogue.entries)),
            "paper": ("report.papers", [*config.report.papers]),
        }

    def faults(self, target: str, wildcards: Mapping[str, str]) -> Iterator[str]:
        """Yield why the configuration has no file `target`, whose rule finds these wildcards in it."""
        names = self.names()
        for wildcard, value in wildcards.items():
            section, names_of_section = names.get(wildcard, ("", [value]))
            if value in names_of_section:
                continue
            if wildcard == "experiment" and value in self.config.absent:
                yield f"{target}: experiment {value} is left out: {self.config.absent[value].reason}"
            else:
                suggestion = instead_of(value, names_of_section, f"{section} has")
                yield f"{target}: {value!r} is not in {section} of this configuration; {suggestion}"


@dataclass(frozen=True, eq=False)
class Attributions(PlanPart):
    """Jobs of a page of attributions."""

    models: Models
    experiments: Experiments

    def model_files_of_page(self, wildcards: Wildcards) -> list[str]:
        page = self._page(wildcards)
        files = [self.models.final_files(model, page.seed) for model in page.models]
        return [path for model_files in files for path in as_list(model_files)]

    def shown_models(self, wildcards: Wildcards) -> list[dict[str, Any]]:
        """Key, label, directory and run of each model of a page, and how it re-ranks."""
        page = self._page(wildcards)
        return [
            {
                "model": model,
                "label": self.config.models[model].label,
                "directory": self.models.final(model, page.seed),
                "run": self._run(page, model),
                "reranking": as_json(self.config.reranking_of(model)),
            }
            for model in page.models
        ]

    def _run(self, page: AttributionConfig, model: str) -> str:
        [path] = self.experiments.run_files(attributed_cell(page, model))
        return path

    def _page(self, wildcards: Wildcards) -> AttributionConfig:
        return self.config.attributions[wildcards.page]


class Plan(PlanPart):
    """Inputs, resources and parameters of jobs, by part; computed when a rule needs them."""

    def __init__(self, config: Config, manifest: Manifest) -> None:
        super().__init__(config, manifest)
        self.catalogue = Catalogue(config, manifest)
        self.corpora = Corpora(config, manifest)
        self.datasets = Datasets(config, manifest)
        self.axioms = Axioms(config, manifest)
        self.models = Models(config, manifest)
        self.diagnoses = Diagnoses(config, manifest)
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
    def shown_by(self, *papers: Paper) -> ReportFiles:
        """Return what a report on some papers shows."""
        return ReportFiles(self.config, list(papers), self.corpora, self.experiments)

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
            **{section: self.targets.pages(section) for section in PAGES},
        }

    def paper_results(self, paper: str) -> Callable[[Wildcards], list[str]]:
        """Return the files of a paper's target; calling it raises ConfigError if the configuration lacks the paper."""

        def results(wildcards: Wildcards) -> list[str]:
            papers = [name for name in self.config.report.papers if name == paper]
            if not papers:
                raise ConfigError(f"report.papers of the configuration does not name {paper}; add it there")
            shown_results = self.shown_by(*papers)
            return [paths.PAPER_REPORT.format(paper=paper), *shown_results.tables, *shown_results.figures]

        return results
