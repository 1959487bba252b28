"""F1 and exact match of answers, as the official evaluations of SQuAD 1.1 and MRQA 2019 define them.

Both texts are normalised: lower case, without ASCII punctuation, without articles (a, an, the), with single spaces.
F1 is the harmonic mean of precision and recall of the words, counted with repetition. A question is worth the best of
its accepted answers; an answer that is missing is worth 0.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence

F1, EM = "F1", "EM"
MEASURES = (F1, EM)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(answer: str) -> str:
    """Return an answer as it is compared."""
    bare = answer.lower().translate(_WITHOUT_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", bare).split())


def token_f1(answer: str, accepted: str) -> float:
    """Return the F1 of an answer's words against one accepted answer; 0 where they share none, even if both are
    empty."""
    answer_words, accepted_words = normalised(answer).split(), normalised(accepted).split()
    common = sum((Counter(answer_words) & Counter(accepted_words)).values())
    if common == 0:
        return 0.0
    return 2 * common / (len(answer_words) + len(accepted_words))


def exact_match(answer: str, accepted: str) -> float:
    """Return 1 if both are the same once normalised, else 0."""
    return float(normalised(answer) == normalised(accepted))


def score_answers(
    predictions: Mapping[str, str], accepted: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, float]]:
    """Return measure → question → its value, from 0 to 1, of every question that has accepted answers."""
    scored: dict[str, dict[str, float]] = {measure: {} for measure in MEASURES}
    for name, answers in accepted.items():
        predicted = predictions.get(name)
        for measure, function in ((F1, token_f1), (EM, exact_match)):
            values = [] if predicted is None else [function(predicted, answer) for answer in answers]
            scored[measure][name] = max(values, default=0.0)
    return scored
