"""The objective of ARES (Chen et al., SIGIR 2022, section 4.3): which of two pseudo-queries of a document axioms
prefer.

The preference is a predictor's, or that of all axioms if they do not conflict. One ranking group is one pair: one
document, two pseudo-queries of equal length. docs/methods/ares-predictor.md has every detail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import pyarrow as pa

from irpretrain.config.axioms import AXIOMS, Axiom
from irpretrain.config.base import LISTED_ONCE, Section, option
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.foundation.errors import ConfigError
from irpretrain.foundation.progress import progress
from irpretrain.foundation.randomness import stream_keys
from irpretrain.objectives.groups import pair_groups
from irpretrain.objectives.shard import Counts, Shard

if TYPE_CHECKING:
    from irpretrain.axioms.axiom_values import ValueBatch
    from irpretrain.axioms.pair_choice import PairChoice, Rule

NEEDS = frozenset({"axiom_values", "predictor"})

# Name of the random streams: (seed, "ares", document id).
STAGE = "ares"


class AresOptions(Section):
    """ARES's pairs of pseudo-queries of one document; axioms or a predictor choose the preferred one."""

    type: Literal["ares"] = option(..., "This objective.")
    agreement: Literal["predictor", "strict"] = option(
        "predictor",
        "Prefer a predictor's choice; or keep pairs on which all axioms with a preference agree.",
    )
    predictor: str | None = option(None, "Key of `predictors`; null with agreement strict.")
    axioms: Annotated[list[Axiom], LISTED_ONCE] | None = option(
        None,
        "With agreement strict: the axioms that must agree; null: all.",
        min_length=1,
    )
    pairs_per_document: int = option(2, "Pairs per document.", unit="pairs", ge=1)
    draw: Literal["until-accepted", "first"] = option(
        ..., "Draw pairs until enough are accepted, or only `pairs_per_document`."
    )
    threshold: float | None = option(
        None,
        "With agreement predictor: least probability of the preferred query; null: every pair that has one.",
        ge=0.5,
        le=1,
    )
    ties: Literal["drop", "keep"] = option(
        ..., "Pairs with probability 0.5: drop, or prefer the query drawn first."
    )

    def faults(self) -> Iterator[str]:
        is_strict = self.agreement == "strict"
        if is_strict and self.predictor is not None:
            yield (
                f"predictor: {self.predictor} has no use with agreement strict; leave it out, or set agreement to "
                "predictor"
            )
        if not is_strict and self.predictor is None:
            yield "predictor: is missing; name a predictor, or set agreement to strict"
        if not is_strict and self.axioms is not None:
            yield (
                f"axioms: the predictor has its own (predictors.{self.predictor}.axioms); leave "
                "these out, or set agreement to strict"
            )
        if is_strict and self.threshold is not None:
            yield "threshold: agreement strict has no probabilities; leave it out, or set agreement to predictor"


OPTIONS = AresOptions


def make_groups(shard: Shard, options: AresOptions, counts: Counts) -> Iterator[pa.Table]:
    """Yield pairs of the shard's pseudo-queries: two literal queries, the preferred one first; one whole document.

    Scores are the probabilities of being preferred (1 and 0 with agreement strict). Counts documents and those without
    pairs by reason, pairs of equal length, pairs considered by outcome, pairs used; for each axiom its agreements,
    disagreements and ties on these; the histogram of probabilities of the pairs considered.

    Raises:
        ConfigError: the options need a predictor and there is none.
        IntegrityError: the values or the predictor cannot be used.
    """
    from irpretrain.axioms.axiom_values import whole_documents  # numba
    from irpretrain.axioms.pair_choice import choose_pairs  # numba

    rule, report = _rule(options, shard), _Report()
    title = f"choose pairs {Path(shard.documents).stem}"
    batches = whole_documents(shard.axiom_values)
    for batch in progress(batches, title, "documents", size=lambda batch: len(batch.document_ids)):
        choice = choose_pairs(batch, stream_keys(shard.seed, STAGE, batch.document_ids), rule)
        yield _groups(batch, choice)
        report.add(choice)
    counts.update(report.counts(DOCUMENTS.count(shard.documents), options))


def _rule(options: AresOptions, shard: Shard) -> Rule:
    from irpretrain.axioms.pair_choice import Rule  # numba
    from irpretrain.axioms.predictor import load_predictor  # numba

    if options.agreement == "predictor" and not shard.predictor:
        raise ConfigError("an objective of type ares with agreement predictor needs a trained predictor")
    is_strict = options.agreement == "strict"
    return Rule(
        is_strict=is_strict,
        table=np.full(1, 0.5) if is_strict else load_predictor(shard.predictor).table,
        threshold=options.threshold or 0.5,
        keep_ties=options.ties == "keep",
        must_agree=np.array([axiom in (options.axioms or AXIOMS) for axiom in AXIOMS]),
        stm_2_threshold=shard.axioms.stm_2_threshold,
        pairs_per_document=options.pairs_per_document,
        stops_early=options.draw == "first",
    )


def _groups(batch: ValueBatch, choice: PairChoice) -> pa.Table:
    rows = batch.rows.combine_chunks()
    queries = pa.array(np.column_stack([choice.preferred, choice.other]).ravel())
    return pair_groups(
        rows.select(["part", "position", "document_id"]).take(pa.array(choice.preferred)),
        rows["query"].combine_chunks().take(queries),
        np.column_stack([choice.probability, 1.0 - choice.probability]),
    )


class _Report:
    def __init__(self) -> None:
        from irpretrain.axioms.pair_choice import BINS, OUTCOMES  # numba

        self._sums: Counter[str] = Counter()
        self._outcome_counts, self._histogram = np.zeros(len(OUTCOMES), np.int64), np.zeros(BINS, np.int64)
        self._agrees, self._disagrees = np.zeros(len(AXIOMS), np.int64), np.zeros(len(AXIOMS), np.int64)

    def add(self, choice: PairChoice) -> None:
        self._sums.update(
            with_queries=len(choice.equal_length_counts),
            without_equal=int((choice.equal_length_counts == 0).sum()),
            without_accepted=int(((choice.equal_length_counts > 0) & (choice.accepted_counts == 0)).sum()),
            equal=int(choice.equal_length_counts.sum()),
            pairs=len(choice.document_of_pair),
            unanimous=choice.unanimous_count,
        )
        self._outcome_counts += choice.outcome_counts
        self._histogram += choice.histogram
        self._agrees += (choice.features > 0).sum(axis=0)
        self._disagrees += (choice.features < 0).sum(axis=0)

    def counts(self, documents: int, options: AresOptions) -> dict[str, Any]:
        from irpretrain.axioms.pair_choice import BINS, OUTCOMES  # numba

        sums, outcome_counts = self._sums, self._outcome_counts.tolist()
        summary: dict[str, Any] = {
            "documents": documents,
            "documents_without_pairs": {
                "no_pseudo_queries": documents - sums["with_queries"],
                "no_two_of_equal_length": sums["without_equal"],
                "none_accepted": sums["without_accepted"],
            },
            "pairs_of_equal_length": sums["equal"],
            "pairs_considered": sum(outcome_counts),
            "pairs": sums["pairs"],
            "dropped": dict(zip(OUTCOMES[1:], outcome_counts[1:], strict=True)),
            "axioms": self._axioms(),
        }
        if options.agreement == "strict":
            return summary | {"pairs_considered_on_which_all_prefer_the_same": sums["unanimous"]}
        lower_bounds = [f"{0.5 + bin_index / (2 * BINS):.2f}" for bin_index in range(BINS)]
        return summary | {
            "probabilities_from": dict(zip(lower_bounds, self._histogram.tolist(), strict=True))
        }

    def _axioms(self) -> dict[str, dict[str, Any]]:
        """Of the pairs used, with how many each axiom agrees; and its share of those on which it has a preference."""
        agreement_by_axiom: dict[str, dict[str, Any]] = {}
        for axiom, agreeing, disagreeing in zip(
            AXIOMS, self._agrees.tolist(), self._disagrees.tolist(), strict=True
        ):
            share = round(agreeing / (agreeing + disagreeing), 4) if agreeing + disagreeing else None
            agreement_by_axiom[axiom] = {
                "agrees": agreeing,
                "disagrees": disagreeing,
                "indifferent": self._sums["pairs"] - agreeing - disagreeing,
                "agreement": share,
            }
        return agreement_by_axiom
