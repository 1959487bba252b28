"""Cross-encoders and DeepCT's weighers: loading and applying."""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from irpretrain.config.base import explain
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.contracts import DOCUMENTS
from irpretrain.errors import naming_extras, reporting_disk_errors, temporary_folder
from irpretrain.evaluation.runs import Run
from irpretrain.library.documents import document_rows
from irpretrain.library.options import Options, Pair, listed_pairs, listed_texts
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
