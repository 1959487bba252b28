"""Effectiveness measures of trec_eval, computed through ir_measures, and gdeval's nDCG and ERR.

A run is judged in the order in which it is ranked (`irpretrain.evaluation.runs`). trec_eval itself re-sorts a
run by its scores, rounds them to single precision on the way, and puts equal ones in descending document
order; so it is handed the negated rank instead of the score.

A mean runs over all queries of the judgements: one for which nothing was retrieved counts 0."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from irpretrain.foundation.errors import ConfigError, nearest

if TYPE_CHECKING:
    from ir_measures.measures import Measure

    from irpretrain.evaluation.runs import Qrels, Run


# nDCG and ERR as gdeval computes them, the script of TREC's Web tracks (gdeval.pl, version 1.2).
#
# It has the gain 2^grade - 1 where trec_eval has the grade itself, and grades go up to 4. Its own means leave out
# judged queries for which nothing was retrieved; ours count them as 0, as for all measures here.


# Highest grade of the Web tracks: a document of this grade satisfies with probability 15/16.
HIGHEST_GRADE = 4
# Highest grade whose gain, 2^grade - 1, can still be added up many times.
HIGHEST_EXPONENT = 1000
# No run is longer, and no grade is higher; trec_eval counts in 64 bits.
LARGEST_PARAMETER = 1_000_000


def gain(grade: int) -> float:
    """Return 2^grade - 1, 0 for a grade below 0."""
    return 2.0 ** max(grade, 0) - 1


def discounted_gain(grades: Iterable[int], cutoff: int) -> float:
    """Return the sum of gain / log2(rank + 1) over the first `cutoff` grades (Burges et al., ICML 2005)."""
    leading_grades = list(grades)[:cutoff]
    return math.fsum(gain(grade) / math.log2(rank + 1) for rank, grade in enumerate(leading_grades, 1))


def ndcg(ranked_grades: Sequence[int], judged_grades: Iterable[int], cutoff: int) -> float:
    """Return nDCG at a cut-off, from the grades of the ranking (0 without a judgement) and of all judged documents."""
    ideal = discounted_gain(sorted(judged_grades, reverse=True), cutoff)
    return discounted_gain(ranked_grades, cutoff) / ideal if ideal else 0.0


def err(ranked_grades: Sequence[int], cutoff: int) -> float:
    """Return the expected reciprocal rank at a cut-off (Chapelle et al., CIKM 2009): the mean of 1 / rank of the
    document that satisfies a user who reads down and is satisfied by each with probability gain / 2^4.
    """
    score, reach_probability = 0.0, 1.0
    for rank, grade in enumerate(ranked_grades[:cutoff], 1):
        satisfaction = gain(grade) / 2**HIGHEST_GRADE
        score += reach_probability * satisfaction / rank
        reach_probability *= 1 - satisfaction
    return score


def check_grades(measure: str, query: str, grades: Iterable[int], highest: int) -> None:
    """Raise ConfigError where a query has a grade for which a measure is not defined."""
    if (grade := max(grades, default=0)) > highest:
        raise ConfigError(
            f"measures: {measure} is defined for grades up to {highest}, and query {query} has a judgement of {grade}; "
            f"leave {measure} out of the data set's measures"
        )


# What each measure means; printed beside its numbers.
DEFINITIONS = {
    "nDCG": "sum of grade / log2(rank + 1), linear gain as in trec_eval, over that of the ideal ranking",
    "P": "share of relevant documents among the first {cutoff}; fewer retrieved ones count as not relevant",
    "AP": "precision at the rank of each relevant document, 0 where it is not found, averaged over all",
    "RR": "1 / rank of the first relevant document, 0 where there is none",
    "R": "share of the relevant documents that are among the first {cutoff}",
    "Success": "1 where a relevant document is among the first {cutoff}, else 0",
    "Rprec": "share of relevant documents among the first R, of R relevant documents in all",
    "Bpref": "mean over relevant documents, 0 where one is not found, of 1 - n / min(R, N): n documents judged not "
    "relevant rank higher, at most R; R and N: documents judged relevant, and judged not relevant",
    "ERR": "sum over ranks of (2^grade - 1) / 16 / rank, each times the chance that no earlier document satisfied, "
    "as in gdeval",
}
# The same of nDCG(dcg='exp-log2').
EXPONENTIAL_NDCG = (
    "sum of (2^grade - 1) / log2(rank + 1), exponential gain as in gdeval, over that of the ideal ranking"
)

NEEDS_CUTOFF = ("P", "R", "Success")
# trec_eval's names of these measures, those with a cut-off without it.
TREC_EVAL_NAMES = ("ndcg", "map", "recip_rank", "Rprec", "bpref")
TREC_EVAL_NAMES_WITH_CUTOFF = ("ndcg_cut", "P", "map_cut", "recall", "success")

# Other libraries' names of these measures, such as ranx's: no measures here, but what is meant is known.
OTHER_NAMES = {
    "recall": "R",
    "precision": "P",
    "hit_rate": "Success",
    "mrr": "RR",
    "map": "AP",
    "r-precision": "Rprec",
}


def parse_measure(name: str) -> Measure:
    """Return the measure that `name` denotes in ir_measures' notation, such as nDCG@20, AP(rel=2) or RR@10, or in
    trec_eval's, such as ndcg_cut_20.

    gdeval's are ERR@20 and nDCG(dcg='exp-log2')@20.

    Raises:
        ConfigError: it is none of the measures in `DEFINITIONS`, or its cut-off or level make no sense.
    """
    measure = _parse(name)
    refusal = f"{name!r} is not a measure; {_suggestion(name)}" if measure is None else _refusal(measure)
    if measure is None or refusal:
        raise ConfigError(
            f"measures: {refusal}allowed are {_allowed_forms()} with k of 1 or more, those of trec_eval also with "
            "a level, such as AP(rel=2)"
        )
    return measure


def _allowed_forms() -> str:
    """Return the forms in which each measure is computed."""
    forms = [form for name in DEFINITIONS for form in (name, f"{name}@k")] + ["nDCG(dcg='exp-log2')@k"]
    parsed_forms = [(form, _parse(form.replace("@k", "@1"))) for form in forms]
    return ", ".join(form for form, measure in parsed_forms if measure is not None and not _refusal(measure))


def _parse(name: str) -> Measure | None:
    import ir_measures

    try:
        stem, _, number = name.rpartition("_")
        if name in TREC_EVAL_NAMES or (
            stem in TREC_EVAL_NAMES_WITH_CUTOFF and re.fullmatch("[0-9]+", number)
        ):
            measure = ir_measures.parse_trec_measure(name)[0]
        else:
            measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except (NameError, ValueError, AssertionError, SyntaxError, TypeError, KeyError, AttributeError):
        return None
    return measure


def is_gdeval(measure: Measure) -> bool:
    """Whether a measure is gdeval's, not trec_eval's."""
    return measure.NAME == "ERR" or measure.params.get("dcg") == "exp-log2"


def _suggestion(name: str) -> str:
    base_name = re.split(r"[@(]|[_.][0-9]+$", name, maxsplit=1)[0]
    known_names = [*DEFINITIONS, *TREC_EVAL_NAMES, *TREC_EVAL_NAMES_WITH_CUTOFF]
    if base_name == name and base_name in known_names:
        return "it needs a cut-off; "
    parameters = name[len(base_name) :].replace(".", "_")
    near_names = [
        f"{near_name}{parameters}"
        for near_name in dict.fromkeys(
            [OTHER_NAMES.get(base_name.lower(), ""), *nearest(base_name, known_names)]
        )
        if _parse(f"{near_name}{parameters}")
    ]
    return f"did you mean {' or '.join(near_names)}? " if near_names else ""


def _refusal(measure: Measure) -> str:
    parameters = dict(measure.params)
    cutoff, level = parameters.pop("cutoff", None), parameters.pop("rel", 1)
    parameters = {} if parameters in ({"dcg": "exp-log2"}, {"dcg": "log2"}) else parameters
    if measure.NAME not in DEFINITIONS or parameters:
        return f"{measure} is not computed here; "
    if max(cutoff or 0, level) > LARGEST_PARAMETER:
        return f"{measure} has a cut-off or a level above {LARGEST_PARAMETER:,}; "
    # trec_eval ends the whole process on a cut-off or a level below 1.
    if (cutoff is None and (measure.NAME in NEEDS_CUTOFF or is_gdeval(measure))) or (
        cutoff is not None and cutoff < 1
    ):
        return f"{measure} needs a cut-off of 1 or more; "
    return f"{measure} needs a relevance level of 1 or more; " if level < 1 else ""


def cutoff(name: str) -> int | None:
    """Return the rank at which a measure stops reading; None where it reads whole rankings."""
    rank: int | None = parse_measure(name).params.get("cutoff")
    return rank


def definition(name: str) -> str:
    """Return one line that says what the measure `name` is, for tables: "nDCG@20: sum of grade / log2 ..."."""
    measure = parse_measure(name)
    exponential = measure.params.get("dcg") == "exp-log2"
    text = EXPONENTIAL_NDCG if exponential else DEFINITIONS[str(measure.NAME)]
    text = text.format(cutoff=measure.params.get("cutoff"))
    if "cutoff" in measure.params and measure.NAME not in NEEDS_CUTOFF:
        text += f"; only the first {measure.params['cutoff']} ranks count"
    if measure.params.get("rel", 1) != 1:
        text += f"; relevant is a grade of {measure.params['rel']} or more"
    return f"{measure}: {text}"


def per_query(run: Run, qrels: Qrels, measures: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the value of each measure for each judged query.

    Args:
        run: in canonical order; queries without judgements are passed over.
        qrels: the judgements; their queries, in sorted order, are those of the result.
        measures: names in ir_measures' notation.

    Returns:
        measure, as ir_measures prints it, → query → value.
    """
    import ir_measures

    parsed_measures = list(dict.fromkeys(parse_measure(name) for name in measures))
    values: dict[str, dict[str, float]] = {
        str(measure): dict.fromkeys(sorted(qrels), 0.0) for measure in parsed_measures
    }
    ranked_documents = {query: _by_rank(run[query]) for query in sorted(qrels) if run.get(query)}
    trec_eval_measures = [measure for measure in parsed_measures if not is_gdeval(measure)]
    if ranked_documents and trec_eval_measures:
        for metric in ir_measures.iter_calc(trec_eval_measures, _without_negative(qrels), ranked_documents):
            values[str(metric.measure)][metric.query_id] = float(metric.value)
    for measure in filter(is_gdeval, parsed_measures):
        values[str(measure)] |= {
            query: _gdeval(measure, query, run[query], qrels[query]) for query in ranked_documents
        }
    return values


def _gdeval(
    measure: Measure, query: str, ranking: Sequence[tuple[str, float]], grades: Mapping[str, int]
) -> float:
    ranked_grades, cutoff = [grades.get(document, 0) for document, _ in ranking], measure.params["cutoff"]
    if measure.NAME == "nDCG":
        check_grades("nDCG(dcg='exp-log2')", query, grades.values(), HIGHEST_EXPONENT)
        return ndcg(ranked_grades, grades.values(), cutoff)
    check_grades("ERR", query, grades.values(), HIGHEST_GRADE)
    return err(ranked_grades, cutoff)


def _without_negative(qrels: Qrels) -> Qrels:
    """Judgements without grades below 0: trec_eval takes these for unjudged, but its code crashes or hangs on them."""
    return {
        query: {name: grade for name, grade in grades.items() if grade >= 0}
        for query, grades in qrels.items()
        if max(grades.values(), default=-1) >= 0
    }


def _by_rank(ranking: Iterable[tuple[str, float]]) -> dict[str, float]:
    return {document: float(-position) for position, (document, _) in enumerate(ranking, 1)}


def mean(values: Mapping[str, float], queries: Iterable[str] | None = None) -> float:
    """Return the mean over `queries` (default: all) of per-query values, summed in sorted order."""
    averaged_queries = sorted(values if queries is None else queries)
    return (
        sum(values[query] for query in averaged_queries) / len(averaged_queries) if averaged_queries else 0.0
    )


def mean_of_run(run: Run, qrels: Qrels, measure: str, queries: Iterable[str]) -> float:
    """Return the mean of one measure over `queries`, all of which must be judged; used to choose models."""
    judgements = {query: qrels[query] for query in queries}
    (values,) = per_query(run, judgements, [measure]).values()
    return mean(values)
