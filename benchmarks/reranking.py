"""Re-ranking: ours, sentence-transformers' CrossEncoder.predict and a plain Hugging Face loop, in one run.

    python benchmarks/reranking.py [--device cuda] [--lengths default long] [--threads 2] [--precision bf16]

The competitors are no dependencies of the project; the head of training.py says how to install them beside it. What is
missing is left out, and the script says so.

Work: BM25's candidates of the default run's SQuAD questions, scored by one cross-encoder with random heads on its
encoder (on a GPU of BERT-base's shape and all random); questions longer than `query_length` are left out, as the others
would cut them otherwise. `default` has the default's lengths, `long` 512 word pieces. All get the same pairs, other
queries in every round, and all cut the document alone; the scores must agree, or the script fails. What differs:

- ours takes the documents' word pieces from the token store, where they lie for all stages, and tokenises the queries;
  it sorts by length and fills batches up to `reranking.batch_tokens`. The others get texts. What tokenising the pairs
  takes is printed.
- CrossEncoder.predict sorts by length (in characters) and has batches of the given size, 32 being its own default.
- the plain loop takes the pairs as they come, 32 at a time, each batch padded to its longest.
- with bf16 the others' weights are bf16 too, ours compute in it (autocast).
"""

import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

from embedded_work import LENGTHS, Dataset, Workshop, candidates
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.text import TextConfig
from irpretrain.config.training import ComputeConfig
from irpretrain.evaluation.runs import Run
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.retrieval.rerank import rerank_run
from irpretrain.text.texts import stream_texts
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from side_by_side import (
    Stopwatch,
    Turn,
    head,
    heading,
    installed,
    options,
    play,
    playing,
    quiet,
    read_options,
    rows,
)

TOLERANCES = {"fp32": 0.01, "bf16": 0.3}
"""How far scores may be apart, in standard deviations of ours."""
BATCHES = (32, 8, 128)
"""Sizes of batches that CrossEncoder.predict is tried with; the first is its default."""
LARGE = 16384
"""Word pieces of a large batch of ours, beside those that suit the device."""
PACKAGES = {"sentence_transformers": "sentence-transformers"}
INSTALL = "the head of benchmarks/training.py says how to install it"


@dataclass(frozen=True)
class Work:
    """A re-ranking: model, files of the data set, lengths, and how many queries a turn has."""

    model: Path
    store: Path
    documents: Path
    dataset: Dataset
    options: RerankingConfig
    text: TextConfig
    queries_in_turn: int

    def candidates(self) -> tuple[dict[str, str], list[Run]]:
        """Return the texts of the queries, and the candidates of every turn."""
        texts, run = candidates(self.dataset, self.options.depth)
        encoded = load_tokenizer(self.model).encode([texts[query] for query in run])
        longest = self.options.query_length
        retained = [query for query, pieces in zip(run, encoded, strict=True) if len(pieces) <= longest]
        size = self.queries_in_turn
        turns = [retained[first : first + size] for first in range(0, len(retained) - size + 1, size)]
        if not turns:
            sys.exit(f"there are only {len(retained)} queries; lower --queries-in-turn")
        return texts, [{query: run[query] for query in some} for some in turns]


class Scorer:
    """What all contestants have in common: the pairs of each turn, and who scores them."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.texts, self._turns = work.candidates()
        torch.set_num_threads(work.options.compute.threads)

    def chosen(self, number: int) -> Run:
        """Return the candidates of a turn; they begin anew where the queries end."""
        return self._turns[number % len(self._turns)]


class Ours(Scorer):
    """Our re-ranking, as the workflow does it."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._model, self._tokenizer = CrossEncoderModel.load(work.model), load_tokenizer(work.model)
        self._store = TokenStore.open([work.store])
        if work.options.compute.device == "cuda":
            self._model.to("cuda")  # not anew in every turn

    def turn(self, number: int) -> Turn:
        """See `Contestant`."""
        chosen, watch = self.chosen(number), Stopwatch()
        parts = self._store, self.texts, chosen, self.work.options
        ranked = rerank_run(self._model, self._tokenizer, *parts)
        pairs = sum(map(len, ranked.values()))
        return watch.turn(pairs, scores={(q, d): s for q, some in ranked.items() for d, s in some})


def in_large_batches(work: Work) -> Ours:
    """Return ours with large batches."""
    return Ours(replace(work, options=work.options.model_copy(update={"batch_tokens": LARGE})))


class Texts(Scorer):
    """The pairs of each turn as texts."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self._documents = {
            name: text
            for names, texts in stream_texts(work.documents, work.text, 512)
            for name, text in zip(names, texts, strict=True)
        }

    def pairs(self, number: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """Return identifiers and texts of a turn's queries and documents."""
        names = [(query, document) for query, some in self.chosen(number).items() for document, _ in some]
        return names, [(self.texts[query], self._documents[document]) for query, document in names]


class WithTexts(Texts, ABC):
    """A contestant that gets pairs of texts."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.dtype = torch.bfloat16 if work.options.compute.precision == "bf16" else torch.float32
        self.device = work.options.compute.device

    @abstractmethod
    def score(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """Return the scores of pairs of texts."""

    def turn(self, number: int) -> Turn:
        """See `Contestant`."""
        names, pairs = self.pairs(number)
        watch = Stopwatch()
        scores = self.score(pairs)
        return watch.turn(len(pairs), scores=dict(zip(names, scores.tolist(), strict=True)))


class Predict(WithTexts):
    """sentence-transformers' CrossEncoder.predict."""

    def __init__(self, work: Work, batch_size: int) -> None:
        super().__init__(work)
        kind = import_module("sentence_transformers").CrossEncoder
        longest = work.options.max_length
        settings = {"max_length": longest, "device": self.device, "model_kwargs": {"dtype": self.dtype}}
        self._model = kind(str(work.model), **settings)
        self._batch_size = batch_size
        self._cut = {"text": {"truncation": "only_second", "max_length": longest}}

    def score(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """See `WithTexts`."""
        options = {"batch_size": self._batch_size, "show_progress_bar": False, "processing_kwargs": self._cut}
        found: np.ndarray = self._model.predict(pairs, activation_fn=torch.nn.Identity(), **options)
        return found


class PlainLoop(WithTexts):
    """A loop over batches of 32 pairs with Hugging Face's tokenizer and model."""

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self._tokenizer: Any = AutoTokenizer.from_pretrained(
            work.model, local_files_only=True, trust_remote_code=False
        )
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            work.model,
            dtype=self.dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
        )
        self._network = network.to(self.device).eval()

    def score(self, pairs: list[tuple[str, str]]) -> np.ndarray:
        """See `WithTexts`."""
        found = []
        with torch.inference_mode():
            for first in range(0, len(pairs), 32):
                inputs = tokenise(self._tokenizer, pairs[first : first + 32], self.work.options.max_length)
                found.append(self._network(**inputs.to(self.device)).logits[:, 0].float().cpu())
        return torch.cat(found).numpy()


def tokenise(tokenizer: Any, pairs: Sequence[tuple[str, str]], longest: int) -> Any:
    """Return a padded batch of pairs, the documents cut."""
    queries, documents = zip(*pairs, strict=True)
    cut = {"truncation": "only_second", "max_length": longest, "padding": True, "return_tensors": "pt"}
    return tokenizer(list(queries), list(documents), **cut)


def compare_scores(turns: dict[str, list[Turn]], precision: str) -> str:
    """Return a line that says how far scores are apart; end the program if too far."""
    ours, furthest = turns["ours"], 0.0
    deviation = float(np.std([score for turn in ours for score in turn.facts["scores"].values()]))
    for name, own in turns.items():
        for mine, theirs in zip(ours, own, strict=True):
            first, second = mine.facts["scores"], theirs.facts["scores"]
            if first.keys() != second.keys():
                sys.exit(f"{name} scored other pairs than ours")
            furthest = max(furthest, *(abs(score - second[pair]) for pair, score in first.items()))
        if not furthest <= TOLERANCES[precision] * deviation:
            sys.exit(
                f"{name} has other scores than ours: they differ by {furthest:.1e}, which is much beside their "
                f"standard deviation of {deviation:.1e}"
            )
    return f"scores have a standard deviation of {deviation:.1e} and differ by {furthest:.1e} at most"


def contestants(there: set[str]) -> dict[str, Callable[[Work], Any]]:
    """Return who takes part, ours first."""
    found: dict[str, Callable[[Work], Any]] = {
        "ours": Ours,
        f"ours, batches of {LARGE:,} word pieces": in_large_batches,
        "plain loop, batches of 32": PlainLoop,
    }
    if there:
        found |= {f"CrossEncoder.predict, batches of {n}": partial(Predict, batch_size=n) for n in BATCHES}
    return found


def describe(work: Work) -> str:
    """Return lengths, and what tokenising a turn's pairs takes."""
    _, pairs = Texts(work).pairs(1)
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(work.model, local_files_only=True, trust_remote_code=False)
    tokenise(tokenizer, pairs[:32], work.options.max_length)
    start = time.process_time()
    batch = tokenise(tokenizer, pairs, work.options.max_length)
    spent = time.process_time() - start
    lengths = batch["attention_mask"].sum(dim=1)
    return (
        f"{len(pairs)} pairs a round, {float(lengths.float().mean()):.0f} word pieces on average, the longest "
        f"{int(lengths.max())}; tokenising {len(pairs) / spent:,.0f} pairs/s of processor time"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = options(__doc__, models=True)
    parser.add_argument("--lengths", nargs="+", choices=["default", "long"])
    parser.add_argument(
        "--queries", type=int, help="of the data set (default: the configuration's; GPU 2000)"
    )
    parser.add_argument("--queries-in-turn", type=int, help="of a round (default 10; on a GPU 300)")
    given = read_options(parser, arguments)
    there = installed(PACKAGES, "compared with a plain loop alone", INSTALL)
    print(heading(given, ["torch", "transformers", *PACKAGES.values()], ""))
    print(head("lengths", "pairs"), flush=True)
    lines = []
    with tempfile.TemporaryDirectory() as temporary:
        queries = given.queries or (2000 if given.gpu else None)
        shop = Workshop(given.folder or Path(temporary), given.encoder, given.articles, queries)
        config = shop.config
        with quiet():
            dataset, model = shop.dataset("squad"), shop.model()
            store, documents = shop.tokens(dataset.corpus), shop.documents(dataset.corpus)
        for mix in given.lengths or (["long"] if given.gpu else ["default", "long"]):
            own = config.reranking
            longest, query = LENGTHS.get(mix, (own.max_length, own.query_length))
            compute = ComputeConfig(threads=given.threads, precision=given.precision, device=given.device)
            # The others know no passages.
            changes = {"max_length": longest, "query_length": query, "passages": None, "compute": compute}
            work = Work(
                model,
                store,
                documents,
                dataset,
                own.model_copy(update=changes),
                config.text,
                given.queries_in_turn or (300 if given.gpu else 10),
            )
            with playing(contestants(there), work, ["torch", "transformers", "embedded_work"]) as players:
                turns = play(players, given.rounds)
            print("\n".join(rows(turns, mix)), flush=True)
            lines.append(f"{mix}: {describe(work)}; {compare_scores(turns, given.precision)}")
    print("\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
