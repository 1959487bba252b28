"""Which axioms do re-rankers follow? The share of pairs on which each decides as each axiom does; beyond the papers."""

import math
from collections.abc import Sequence

from irpretrain.config import Config
from irpretrain.papers.axioms import PublishedAxioms
from irpretrain.papers.published import Published
from irpretrain.report.axiom_results import Diagnosis
from irpretrain.report.cells import Column, Ours
from irpretrain.report.plans import CellPlan, PlannedPanel, PlannedRow, TablePlan
from irpretrain.report.predictor_groups import in_order

TITLE = "Axiom diagnosis of re-rankers"
NO_DIAGNOSES = "No re-ranker was diagnosed: this configuration has no diagnoses (section diagnoses)."
MISSING_TERMS = (
    "PROX-1 and PROX-2 prefer a query whose terms all occur to one that lacks a term; where most pseudo-queries lack "
    "one, that is most of what they say."
)


def plan_diagnosis(
    published: Published, axioms: PublishedAxioms, config: Config, diagnoses: Sequence[Diagnosis]
) -> TablePlan:
    """Return the plan of one panel a diagnosis: models by axioms, shares with intervals."""
    panels = tuple(_panel(axioms, config, diagnosis) for diagnosis in diagnoses)
    notes = tuple(_notes(axioms, config, diagnoses))
    return TablePlan(f"{published.paper}_diagnosis", "", TITLE, panels, notes)


def diagnosis_label(config: Config, diagnosis: Diagnosis) -> str:
    """Return the configuration's label of a diagnosis."""
    described = config.diagnoses.get(diagnosis.name)
    return described.label if described else diagnosis.name


def diagnosed_axioms(axioms: PublishedAxioms, diagnosis: Diagnosis) -> list[str]:
    """Return the axioms of a diagnosis in the paper's order."""
    return in_order(axioms, list(dict.fromkeys(row.axiom for row in diagnosis.agreements)))


def pairs_of(diagnosis: Diagnosis) -> dict[str, int]:
    """Return axiom → pairs on which it has a preference, which are the same for every model."""
    return {row.axiom: row.pairs for row in diagnosis.agreements}


def _panel(axioms: PublishedAxioms, config: Config, diagnosis: Diagnosis) -> PlannedPanel:
    names = diagnosed_axioms(axioms, diagnosis)
    columns = tuple(Column("agrees with", axiom) for axiom in names)
    rows = tuple(
        PlannedRow(model, label, "", tuple(_cell(diagnosis, model, axiom) for axiom in names))
        for model, label in diagnosis.models.items()
    )
    return PlannedPanel(diagnosis_label(config, diagnosis), columns, rows)


def _cell(diagnosis: Diagnosis, model: str, axiom: str) -> CellPlan:
    agreement = diagnosis.get(model, axiom)
    if agreement is None:
        return CellPlan(model, diagnosis.name, "", axiom, "", reason=f"{diagnosis.path} has no such row")
    if not agreement.pairs or math.isnan(agreement.share):
        undecided = "the axiom prefers neither query of any pair"
        return CellPlan(model, diagnosis.name, "", axiom, "", reason=undecided)
    name, value = (diagnosis.name, model), (agreement.share, agreement.low, agreement.high)
    ours = Ours.of_file(name, axiom, value, agreement.pairs, "pairs", diagnosis.path)
    alone = "no paper prints such a number"
    return CellPlan(model, diagnosis.name, "", axiom, "", measured=ours, alone=alone)


def _notes(axioms: PublishedAxioms, config: Config, diagnoses: Sequence[Diagnosis]) -> list[str]:
    if not diagnoses:
        return [NO_DIAGNOSES, *config.report.notes]
    return [
        "Of the pairs of pseudo-queries of one document on which an axiom prefers one query, the share on which the "
        "re-ranker gives that query the higher score [95% interval, Wilson's, pairs taken as independent]. Half is "
        "what chance gives.",
        "Axioms agree with each other on many pairs. A share above one half says that the scores agree with an axiom, "
        "not that the model has learnt it.",
        *([MISSING_TERMS] if config.axioms.missing_terms == "worst" else []),
        *(
            f"{diagnosis_label(config, diagnosis)}: pairs that count, {_pairs(axioms, diagnosis)}."
            for diagnosis in diagnoses
        ),
        *config.report.notes,
    ]


def _pairs(axioms: PublishedAxioms, diagnosis: Diagnosis) -> str:
    """Return "RANK 480, REP-QL 600": on how many pairs each axiom has a preference."""
    counts = pairs_of(diagnosis)
    return ", ".join(f"{axiom} {counts[axiom]:,}" for axiom in diagnosed_axioms(axioms, diagnosis))
