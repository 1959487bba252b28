"""Indexes and first stages."""

from typing import Any

from irpretrain.config.retrieval import (
    MODEL_PARAMETERS,
    MODEL_SECTIONS,
    TF_INDEX,
    FirstStageConfig,
    RunConfig,
)
from irpretrain.config.run import Run
from irpretrain.evaluation.measures import parse_measure
from irpretrain.foundation.errors import ConfigError
from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.part import (
    Input,
    PlanPart,
    Wildcards,
    as_json,
    first_stage_run,
    reading_options,
)

# What decides an index, and how it is made; the rest of `retrieval` matters to searches only.
INDEX_SETTINGS = {"stemmer", "stop_list", "threads", "memory_mb"}

# What decides a search beside the parameters of its model; grids of parameters do not.
SEARCH_SETTINGS = {"stemmer", "stop_list", "threads"}


class Retrieval(PlanPart):
    """Jobs of an index (wildcard `index`) and of a first stage (wildcard `candidates`)."""

    # Indexes

    def indexes_of_type(self, *types: str) -> list[str]:
        return [name for name, index in self.config.indexes.items() if index.type in types]

    def index_of(self, index: str, dataset: str) -> str:
        corpus = self.config.datasets[dataset].corpus
        template = paths.INDEX if index == TF_INDEX else paths.WEIGHTED_INDEX
        return template.format(index=index, corpus=corpus)

    def vectors(self, wildcards: Wildcards) -> list[str]:
        """Weights of a corpus's terms, all shards."""
        return self.each_shard(paths.INDEX_VECTORS, [wildcards.corpus], index=wildcards.index)

    def query_words(self, wildcards: Wildcards) -> str:
        return self.config.index_words(wildcards.index)

    # First stages

    def stages_of_own_searches(self, structured: bool) -> list[str]:
        """Return the configured first stages that we search, by structured queries or not."""
        stages = self.config.first_stages.items()
        return [name for name, stage in stages if not stage.runs and (stage.model == "indri") == structured]

    def stages_of_external_runs(self) -> list[str]:
        """Return the first stages whose runs others made."""
        return [name for name, stage in self.config.first_stages.items() if stage.runs]

    def index(self, wildcards: Wildcards) -> str:
        return self.index_of(self._stage(wildcards).index, wildcards.dataset)

    def search_options(self, wildcards: Wildcards) -> Any:
        """What decides a search, beside what is a named first stage's own."""
        search: Any = Run(self.config, wildcards.dataset, wildcards.candidates).search
        return self._with_depth(wildcards.dataset, SEARCH_SETTINGS | {MODEL_SECTIONS[search.model]})

    def ranked(self, wildcards: Wildcards) -> Input:
        """The run whose candidates a first stage ranks, for those that search no whole index."""
        candidates = self._stage(wildcards).candidates
        return first_stage_run(wildcards.dataset, candidates) if candidates else []

    def tuning(self, wildcards: Wildcards) -> Input:
        """Where a first stage's parameters are chosen, for those that are tuned."""
        is_tuned = self._stage(wildcards).tuned_on is not None
        return paths.TUNING.format(candidates=wildcards.candidates) if is_tuned else []

    def structured_stage(self, wildcards: Wildcards) -> Any:
        """What of a first stage decides its structured queries; they are cut into words as positions were."""
        stage = as_json(self._stage(wildcards), include={"parameters", "dependence"})
        return stage | {"query_words": self.config.text.word_kind}

    # External runs

    def external_run_files(self, wildcards: Wildcards) -> list[str]:
        return self.files_of(self._external_run(wildcards))

    def external_run_options(self, wildcards: Wildcards) -> Any:
        return reading_options(self._external_run(wildcards))

    def external_run_soundness(self, wildcards: Wildcards) -> list[str]:
        return self.verification_files(self._external_run(wildcards))

    def _external_run(self, wildcards: Wildcards) -> RunConfig:
        runs = self._stage(wildcards).runs
        if wildcards.dataset not in runs:
            raise ConfigError(f"first_stages.{wildcards.candidates} has no run for {wildcards.dataset}")
        return runs[wildcards.dataset]

    # Parameters that are tuned

    def tuning_index(self, wildcards: Wildcards) -> str:
        stage = self._stage(wildcards)
        return self.index_of(stage.index, str(stage.tuned_on))

    def tuning_options(self, wildcards: Wildcards) -> Any:
        stage = self._stage(wildcards)
        grid = {"measure", *MODEL_PARAMETERS[stage.model]}
        return {
            "model": stage.model,
            "dataset": stage.tuned_on,
            "sweep": as_json(self.config.retrieval.sweep, grid),
            "queries_are_documents": self.config.datasets[str(stage.tuned_on)].queries_are_documents,
        }

    def tuning_search_options(self, wildcards: Wildcards) -> Any:
        """What decides the searches of a sweep: the depth only where the measure has no cutoff, which is the depth."""
        if "cutoff" in parse_measure(self.config.retrieval.sweep.measure).params:
            return self.settings("retrieval", include=INDEX_SETTINGS)
        return self._with_depth(str(self._stage(wildcards).tuned_on), INDEX_SETTINGS)

    def depth(self, wildcards: Wildcards) -> int:
        """How many documents of a query are taken of a run of others, or found by structured queries."""
        return self.config.retrieval_depth(wildcards.dataset).documents

    def _with_depth(self, dataset: str, keys: set[str]) -> Any:
        depth = self.config.retrieval_depth(dataset).documents
        return as_json(self.config.retrieval.model_copy(update={"depth": depth}), include=keys | {"depth"})

    def _stage(self, wildcards: Wildcards) -> FirstStageConfig:
        return self.config.first_stages[wildcards.candidates]
