"""ARES: word vectors, pseudo-queries, preference predictors, diagnoses."""

from irpretrain.workflow.plan import paths
from irpretrain.workflow.plan.part import Input, PlanPart, Wildcards, as_list, is_embedded

# What decides which words are terms.
TERM_SETTINGS = {"stemming", "stop_list"}

# What decides the values of RANK alone.
RANKING_SETTINGS = TERM_SETTINGS | {"bm25"}


class Axioms(PlanPart):
    """Jobs of a collection's axioms."""

    def given_vectors(self, wildcards: Wildcards) -> Input:
        """The user's file of a collection's word vectors, or the copy of an embedded one; nothing if trained."""
        path = self.config.word_vectors.files.get(wildcards.collection)
        if path is None:
            return []
        return self.source(path) if is_embedded(path) else self.require_path(path)

    def calibrated_temperature(self, wildcards: Wildcards) -> Input:
        """The temperature that is found for a collection, where the configuration gives no number."""
        if self.config.pseudo_queries.temperature != "calibrated":
            return []
        return paths.TEMPERATURE.format(collection=wildcards.collection)

    def negatives(self, wildcards: Wildcards) -> list[str]:
        """Values of pseudo-queries for a predictor's negatives: of each judged query, or of the data set's corpus."""
        if self.entry("predictors", wildcards).negative_terms == "any":
            return self.of_dataset(paths.AXIOMS, "predictors")(wildcards)
        return as_list(self.file(paths.NEGATIVE_AXIOMS, "predictors")(wildcards))


class Diagnoses(PlanPart):
    """Jobs of a diagnosis: which axioms re-rankers have learned."""

    def scores(self, wildcards: Wildcards) -> dict[str, list[str]]:
        """The scores of each model, a file for each seed."""
        name, seeds = wildcards.diagnosis, self.config.diagnoses[wildcards.diagnosis].seeds
        return {
            model: [paths.DIAGNOSIS_SCORES.format(diagnosis=name, model=model, seed=seed) for seed in seeds]
            for model in self.labels(wildcards)
        }

    def labels(self, wildcards: Wildcards) -> dict[str, str]:
        """Models of a diagnosis with their names in tables, in its order."""
        models = self.config.diagnoses[wildcards.diagnosis].models
        return {model: self.config.models[model].label for model in models}
