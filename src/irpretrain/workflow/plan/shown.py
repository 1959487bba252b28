"""What reports show: the files behind the tables and figures of some papers."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any

from irpretrain.config import Config
from irpretrain.config.experiments import Paper
from irpretrain.config.papers import Published, figure_names, paper_file, read_paper, show_axioms
from irpretrain.config.term_weights import TRAINED_MODELS
from irpretrain.evaluation.claims import claims_file, has_claims
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.corpora import Corpora
from irpretrain.workflow.plan.datasets import Experiments, attributed_cell
from irpretrain.workflow.plan.part import paths_of

TABLE_FORMATS = ("md", "csv", "tex")
FIGURE_FORMATS = ("svg", "png")

# Files behind the tables of papers; `Shown` and `irpretrain.report.result_files` have a field of each name.
MEASURED_FILES = (
    "scores", "per_query", "trainings", "predictors", "rank_intervals", "diagnoses", "depths", "answers",
    "sweeps",
)  # fmt: skip

# Files behind a report.
REPORT_FILES = (
    *MEASURED_FILES,
    "tables",
    "claims",
    "figures",
    "probes",
    "searches",
    "attributions",
    "examples",
)


@dataclass(frozen=True, eq=False)
class ReportFiles:
    """The files of a report on some papers, by the names that rules of reports give them."""

    whole: Config
    papers: list[Paper]
    corpora: Corpora
    experiments: Experiments

    @cached_property
    def config(self) -> Config:
        """The configuration with these papers alone."""
        return self.whole.of_papers(self.papers)

    @cached_property
    def numbers(self) -> list[Published]:
        """The numbers printed in these papers."""
        return [read_paper(paper) for paper in self.papers]

    @property
    def published(self) -> list[str]:
        """The files with these numbers."""
        return [str(paper_file(paper)) for paper in self.papers]

    @property
    def measured(self) -> dict[str, list[str]]:
        """The files behind the tables, by their names."""
        return {name: getattr(self, name) for name in MEASURED_FILES}

    @property
    def reported(self) -> dict[str, list[str]]:
        """The files behind a report, by their names."""
        return {name: getattr(self, name) for name in REPORT_FILES}

    # Experiments

    @cached_property
    def scored_experiments(self) -> list[str]:
        """Experiments whose runs are scored as they are; those at several depths have tables of their own."""
        experiments = self.config.active_experiments.items()
        return [name for name, experiment in experiments if not experiment.depths]

    @property
    def scores(self) -> list[str]:
        return paths_of(paths.SCORES, self.scored_experiments)

    @property
    def per_query(self) -> list[str]:
        return paths_of(paths.PER_QUERY, self.scored_experiments)

    @property
    def searches(self) -> list[str]:
        """Some searches of these experiments."""
        return paths_of(paths.SEARCHES, self.scored_experiments)

    @property
    def attributions(self) -> list[str]:
        """What scores come from, for pages of models that these experiments score anyway."""
        cells = {cell for name in self.config.active_experiments for cell in self.experiments.cells(name)}
        return paths_of(
            paths.ATTRIBUTED_WORDS,
            (
                name
                for name, page in self.config.attributions.items()
                if cells.issuperset(map(partial(attributed_cell, page), page.models))
            ),
        )

    @property
    def depths(self) -> list[str]:
        """What is measured at several depths."""
        experiments = self.config.active_experiments.items()
        return [paths.DEPTHS.format(experiment=name) for name, experiment in experiments if experiment.depths]

    @property
    def answers(self) -> list[str]:
        """Scores of the tasks beside retrieval, for the papers with a table of them."""
        if not any(numbers.answers for numbers in self.numbers):
            return []
        return paths_of(paths.TASK_PER_QUERY, self.config.active("downstream"))

    @property
    def claimed(self) -> list[str]:
        """The files with what these papers claim."""
        return [str(claims_file(paper)) for paper in self.papers if has_claims(paper)]

    @property
    def claims(self) -> list[str]:
        return paths_of(paths.CLAIMS, self.papers)

    # Trainings

    @cached_property
    def trained_models(self) -> list[tuple[str, int]]:
        """(model, seed) of every model with a learning curve behind a cell."""
        cells = [cell for name in self.config.active_experiments for cell in self.experiments.cells(name)]
        pairs = dict.fromkeys((cell.model.partition("@")[0], cell.seed) for cell in cells)
        return [(model, seed) for model, seed in pairs if self.config.models[model].tasks]

    @property
    def metrics(self) -> list[str]:
        return [
            paths.PRETRAINING_METRICS.format(model=model, seed=seed) for model, seed in self.trained_models
        ]

    @property
    def trainings(self) -> list[str]:
        """Sidecars of these models, and of those that they start from: what each has read, and chosen snapshots."""
        return [
            paths.sidecar(template.format(model=model, seed=seed))
            for model, seed in self.pretrainings
            for template in (paths.PRETRAINED, paths.SELECTED)
            if template == paths.PRETRAINED or self.config.models[model].select_on
        ]

    @property
    def probes(self) -> list[str]:
        """What these models, and those that they start from, make of held-out groups."""
        return [paths.PROBE.format(model=model, seed=seed) for model, seed in self.pretrainings]

    @property
    def examples(self) -> list[str]:
        """An example of each objective that one of these models learns, and of the targets of weights of words."""
        learned_objectives = (
            (self.config.models[model].collection, self.corpora.tokenizer_of(model), task.objective)
            for model, _ in self.pretrainings
            for task in self.config.models[model].tasks
        )
        weighting_by_targets: dict[str, str] = {}
        for name, weighting in self.config.weightings_in(self.config.used_entries()).items():
            if weighting.model in TRAINED_MODELS:
                # Weightings that learn from equal targets have one example.
                weighting_by_targets.setdefault(
                    repr((weighting.kind, weighting.dataset, weighting.labels)), name
                )
        return [
            *(
                paths.EXAMPLE.format(collection=collection, tokenizer=tokenizer, objective=objective)
                for collection, tokenizer, objective in dict.fromkeys(learned_objectives)
            ),
            *paths_of(paths.TARGETS_EXAMPLE, weighting_by_targets.values()),
        ]

    @cached_property
    def pretrainings(self) -> list[tuple[str, int]]:
        """(model, seed) of every trained model and of those that it starts from."""
        trainings = [
            (name, seed)
            for model, seed in self.trained_models
            for name in reversed(self.config.with_starts([model]))
        ]
        return list(dict.fromkeys(trainings))

    # Axioms

    @property
    def predictors(self) -> list[str]:
        """The scores of every preference predictor, for the papers that show them."""
        predictors = self.whole.active("predictors") if show_axioms(self.papers) else {}
        return paths_of(paths.PREDICTOR_SCORES, predictors)

    @property
    def rank_intervals(self) -> list[str]:
        """How high pseudo-queries rank their documents, in the collections whose axioms something compares."""
        if not show_axioms(self.papers):
            return []
        models = [self.config.models[model] for model, _ in self.trained_models]
        entries: Iterable[Any] = [
            *self.whole.active("predictors").values(),
            *(
                model
                for model in models
                if any("axiom_values" in self.corpora.needed(task.objective) for task in model.tasks)
            ),
            *self.config.diagnoses.values(),
        ]
        return paths_of(paths.RANK_INTERVALS, dict.fromkeys(entry.collection for entry in entries))

    @property
    def diagnoses(self) -> list[str]:
        """What was found of each re-ranker, axiom by axiom, for the papers that show it."""
        return paths_of(paths.DIAGNOSIS, self.config.active("diagnoses"))

    # First stages

    @property
    def sweeps(self) -> list[str]:
        """What tuned first stages were tuned to."""
        stages = self.config.first_stages
        return paths_of(
            paths.TUNING, (name for name in self.config.used_names("first_stages") if stages[name].tuned_on)
        )

    # Views, tables, figures

    @property
    def distributions(self) -> list[str]:
        """The distribution of weights of every collection that has one, for the papers with a figure of them."""
        return paths_of(paths.WEIGHT_SHARES, self.config.active("weight_distributions"))

    @property
    def tables(self) -> list[str]:
        """Each paper's headline table, that of its claims, and its own tables."""
        names, comparing_tables = list[str](), list[str]()
        for numbers in self.numbers:
            table_names = numbers.table_names()
            claims = ["claims"] if has_claims(numbers.paper) else []
            names += [f"{numbers.paper}_{table}" for table in ("headline", *claims, *table_names)]
            runs = [table for table in table_names if numbers.compares_runs(table)]
            comparing_tables += [f"{numbers.paper}_{table}" for table in ("headline", *runs)]
        return table_files(names, comparing_tables)

    @property
    def figures(self) -> list[str]:
        return [
            paths.FIGURE.format(name=name, format=format)
            for name, format in product(figure_names(self.papers), FIGURE_FORMATS)
        ]


def table_files(names: Iterable[str], comparing: Iterable[str] = ()) -> list[str]:
    """Return the files of tables, each in every format, and the ledgers of those that compare runs."""
    files = [*product(names, TABLE_FORMATS), *product(comparing, ["ledger.csv"])]
    return [paths.TABLE.format(name=name, format=format) for name, format in files]
