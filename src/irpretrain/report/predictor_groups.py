"""Predictors that differ in their setting alone stand together: one column of the table, one figure's panels."""

from collections.abc import Sequence
from dataclasses import dataclass

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms
from irpretrain.report.axiom_results import PredictorScores
from irpretrain.report.naming import dataset_label


@dataclass(frozen=True)
class PredictorGroup:
    """Predictors of one data set, collection and choice of axioms, at most one a setting.

    Attributes:
        label: the data set, and what else tells this group from others.
        dataset: key of the data set whose queries are the positive ones; empty where the configuration has none.
        members: setting → scores.
    """

    label: str
    dataset: str
    members: dict[str, PredictorScores]


def predictor_groups(
    published: PublishedAxioms, config: Config, predictors: Sequence[PredictorScores]
) -> list[PredictorGroup]:
    """Return the groups in the order of the files; a second predictor of a setting opens a group of its own."""
    keyed: list[tuple[tuple[object, ...], dict[str, PredictorScores]]] = []
    for predictor in predictors:
        key = (*_data(config, predictor), *sorted(predictor.axioms))
        place = next((g for k, g in keyed if k == key and predictor.setting not in g), None)
        if place is None:
            keyed.append((key, {}))
            place = keyed[-1][1]
        place[predictor.setting] = predictor
    several = len({key[1] for key, _ in keyed}) > 1
    labels = [_label(published, config, members, several) for _, members in keyed]
    return [
        PredictorGroup(
            f"{label}, {_names(members)}" if label in labels[:place] else label, str(key[0]), members
        )
        for place, ((key, members), label) in enumerate(zip(keyed, labels, strict=True))
    ]


def axioms_text(published: PublishedAxioms, predictor: PredictorScores) -> str:
    """Return "all nine axioms", or the axioms' names."""
    if set(predictor.axioms) == set(published.groups):
        return "all nine axioms" if len(published.groups) == 9 else "all axioms"
    return ", ".join(axiom for axiom in in_order(published, predictor.axioms))


def in_order(published: PublishedAxioms, axioms: Sequence[str]) -> list[str]:
    """Return axioms in the paper's order, those that it does not have last."""
    printed = [axiom for axiom in published.groups if axiom in axioms]
    return printed + [axiom for axiom in axioms if axiom not in published.groups]


def _data(config: Config, predictor: PredictorScores) -> tuple[str, str]:
    """Data set and collection of a predictor, as the configuration has them."""
    described = config.predictors.get(predictor.name)
    return (described.dataset, described.collection) if described else ("", "")


def _label(
    published: PublishedAxioms, config: Config, members: dict[str, PredictorScores], with_collection: bool
) -> str:
    predictor = next(iter(members.values()))
    dataset, collection = _data(config, predictor)
    parts = [dataset_label(config, dataset) if dataset else "this configuration"]
    if with_collection:
        parts.append(collection)
    if set(predictor.axioms) != set(published.groups):
        parts.append(f"{axioms_text(published, predictor)} alone")
    return ", ".join(parts)


def _names(members: dict[str, PredictorScores]) -> str:
    return " and ".join(predictor.name for predictor in members.values())
