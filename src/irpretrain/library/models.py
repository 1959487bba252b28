"""Cross-encoders, DeepCT's weighers and preference predictors: loading and applying."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from irpretrain.axioms.predictor import PreferencePredictor
from irpretrain.axioms.preferences import larger_is_better, preferences
from irpretrain.config.axioms import AxiomsConfig
from irpretrain.config.base import explain
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import ConfigError, naming_extras, reporting_disk_errors, temporary_folder
from irpretrain.evaluation.runs import Run
from irpretrain.library.documents import document_rows
from irpretrain.library.options import Options, Pair, listed, listed_pairs, listed_texts
from irpretrain.models.encoder_files import RERANKER_REMEDY, model_directory


class CrossEncoder:
    """A re-ranker: pre-trained or fine-tuned here, or any sequence classifier of Hugging Face with one or two labels.

    Examples:
        >>> model = CrossEncoder(model_directory, max_length=32, query_length=8)
        >>> scores = model.score([("apple juice", "apple pie with juice"), ("apple juice", "pear pie")])
        >>> scores.shape, scores.dtype.name
        ((2,), 'float32')
    """

    @naming_extras()
    def __init__(self, directory: str | Path, **options: Any) -> None:
        """Load the model.

        Args:
            directory: Hugging Face directory with its tokenizer, or a name on its hub that is in the local cache.
            options: keys of section reranking: max_length, query_length, batch_tokens, passages, compute.
        """
        from irpretrain.models.reranker import load_reranker

        self._options = explain(RerankingConfig, options, "reranking", top=True)
        self._model = load_reranker(model_directory(directory, RERANKER_REMEDY))
        self._model.check_length(self._options.max_length, "max_length")

    def score(self, pairs: Iterable[Pair]) -> np.ndarray:
        """Return the score of each (query, document), float32 [pairs]; larger is more relevant."""
        from irpretrain.retrieval.rerank import score_with_its_tokenizer

        pairs = listed_pairs(pairs, "a text")
        names = {text: str(number) for number, text in enumerate(dict.fromkeys(text for _, text in pairs))}
        candidates: Run = {}
        for query, text in dict.fromkeys(pairs):
            candidates.setdefault(query, []).append((names[text], 0.0))
        text_options = TextConfig(words="alphanumeric", fields=["body"])
        with (
            reporting_disk_errors([temporary_folder()]),
            TemporaryDirectory(prefix="irpretrain-") as folder,
        ):
            table = Path(folder) / "documents.parquet"
            DOCUMENTS.write(table, document_rows((name, text) for text, name in names.items()))
            queries = {query: query for query in candidates}
            run = score_with_its_tokenizer(
                self._model, [table], text_options, queries, candidates, self._options
            )
        scores = {(query, name): score for query, ranking in run.items() for name, score in ranking}
        return np.array([scores[query, names[text]] for query, text in pairs], np.float32)


class TermWeigher:
    """DeepCT's regressor (Dai and Callan, 2019): weights of the words of a text in that text.

    Examples:
        >>> weigher = TermWeigher(weigher_directory, max_length=32)
        >>> [weights] = weigher.weigh(["word01 and word02, or word01"])
        >>> sorted(weights)
        ['and', 'or', 'word01', 'word02']
    """

    @naming_extras()
    def __init__(self, directory: str | Path, text: TextConfig | None = None, **options: Any) -> None:
        """Load the model.

        Args:
            directory: a regressor trained here, or a token classifier of Hugging Face with one label; or its name on
                the hub, if it is in the local cache.
            text: what a word is; by default the paper's.
            options: keys of a weighting of section term_weights: max_length, window_overlap, inference.
        """
        from irpretrain.models.term_weight_regressor import REMEDY
        from irpretrain.retrieval.term_weights.infer import WeightPredictor
        from irpretrain.training.compute import choose_device

        named = {"label": "", "dataset": "any", **options}
        checked = explain(TermWeightsConfig, named, "term_weights", top=True)
        device = choose_device(checked.inference.compute)
        self._compute = checked.inference.compute
        self._model = WeightPredictor.open(
            model_directory(directory, REMEDY), checked, text or Options().text, device
        )

    def weigh(self, texts: Iterable[str]) -> list[dict[str, float]]:
        """Return word → its largest weight, for each text; words that the model does not read are left out."""
        from irpretrain.text.texts import Text
        from irpretrain.training.compute import reproducible

        keyed = [Text(0, number, str(number), text) for number, text in enumerate(listed_texts(texts))]
        with reproducible(self._compute):
            rows, _ = self._model.rows(keyed)
        return [{term["term"]: term["weight"] for term in terms} for terms in rows["terms"].to_pylist()]


def preference_probabilities(
    predictor: PreferencePredictor, values: pd.DataFrame, first: Sequence[int], second: Sequence[int]
) -> np.ndarray:
    """Return the probability that the first query of each pair is the better one for its document (ARES, section 4.2).

    Args:
        predictor: from `load_predictor`.
        values: what `Collection.axioms` returns.
        first: rows of `values`, the first queries of the pairs.
        second: rows of `values` with the same documents, the second queries.

    Returns:
        float64 [pairs]; 0.5 where no axiom tells the two queries apart.

    Raises:
        ConfigError: `values` has no such row, or the queries of a pair are of different documents.

    Examples:
        >>> from irpretrain import Collection, load_predictor
        >>> options = Options(word_vectors={"minimum_count": 1, "dimensions": 4})
        >>> fruit = Collection(["apple pie with apple juice", "pear pie"], options)
        >>> values = fruit.axioms([("apple juice", "0"), ("pear", "0")])
        >>> predictor = load_predictor(predictor_directory)
        >>> better, same = preference_probabilities(predictor, values, first=[0, 0], second=[1, 0])
        >>> bool(better > 0.5), float(same)
        (True, 0.5)
    """
    threshold = AxiomsConfig(**predictor.record["axioms"]).stm_2_threshold
    table = larger_is_better(pa.Table.from_pandas(values, preserve_index=False))
    rows = [_rows(first, "first", len(values)), _rows(second, "second", len(values))]
    if len(rows[0]) != len(rows[1]):
        raise ConfigError(f"first has {len(rows[0])} rows and second {len(rows[1])}; a pair is one of each")
    if "document_id" in values:
        documents = [values["document_id"].to_numpy()[side] for side in rows]
        if (different := np.flatnonzero(documents[0] != documents[1])).size:
            names = " and ".join(repr(side[different[0]]) for side in documents)
            raise ConfigError(f"pair {different[0]}: its queries are of different documents, {names}")
    return predictor.probabilities(preferences(table, rows[0], rows[1], threshold))


def _rows(numbers: Iterable[int], name: str, count: int) -> np.ndarray:
    rows = np.array(listed(numbers, name))
    if rows.size and (rows.ndim > 1 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= count):
        raise ConfigError(f"{name}: rows are whole numbers from 0 to {count - 1}")
    return rows.astype(np.int64)
