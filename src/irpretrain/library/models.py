"""Cross-encoders are trained; DeepCT's weighers are applied."""

import json
import reprlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from irpretrain.config.base import explain, leaves
from irpretrain.config.finetuning import FinetuningConfig, keys_unread_by
from irpretrain.config.load import apply_recipe
from irpretrain.config.pretraining import TaskConfig
from irpretrain.config.retrieval import RerankingConfig
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import TextConfig
from irpretrain.corpora.make_folds import deal
from irpretrain.evaluation.runs import write_run
from irpretrain.foundation.atomic import check_output_folder, folder_to_write, write_text
from irpretrain.foundation.contracts import QUERIES
from irpretrain.foundation.errors import ConfigError, naming_extras, reporting_disk_errors
from irpretrain.foundation.provenance import Recorder, read_sidecar
from irpretrain.library.groups import Groups, OwnGroupsOptions
from irpretrain.library.inputs import checked_text, listed, naming
from irpretrain.library.options import Options
from irpretrain.library.own_groups import own_groups
from irpretrain.models.encoder_files import model_directory
from irpretrain.training.job_lock import hold_output
from irpretrain.training.leftovers import remove_unfinished, was_writing

# Keys of `finetuning` that groups have no use for, and why.
UNREAD_BY_GROUPS = {
    **dict.fromkeys(sorted(keys_unread_by("full")), "all groups train; give batch_sizes"),
    "keep_models": "the model is what is written",
    "optimiser.learning_rate": "the rates that are tried are learning_rates",
    "positives": "the groups say which documents are relevant",
}


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
            options: keys of a weighting of section term_weights: max_length (by default where the directory's tokenizer
                cuts, which is the length of a training here; else 128), window_overlap, inference.
        """
        from irpretrain.models.parameters import longest_sequence
        from irpretrain.models.term_weight_regressor import REMEDY
        from irpretrain.retrieval.term_weights.infer import INFERENCE_KEYS, WeightPredictor
        from irpretrain.training.compute import choose_device

        folder = model_directory(directory, REMEDY)
        length = longest_sequence(folder)
        values = {"label": "", "dataset": "any", **options}
        if length is not None:
            values.setdefault("max_length", length)
        checked_options = explain(TermWeightsConfig, values, "term_weights", top=True)
        if unread := [key for key in options if key not in INFERENCE_KEYS]:
            read_keys = ", ".join(sorted(INFERENCE_KEYS))
            raise ConfigError(f"{unread[0]} changes nothing here: a trained weigher reads {read_keys}")
        self._compute = checked_options.inference.compute
        self._name = f"{str(folder)!r}, max_length={checked_options.max_length}"
        device = choose_device(self._compute)
        self._model = WeightPredictor.open(folder, checked_options, text or Options().text, device)

    def __repr__(self) -> str:
        """Name the directory, and how much of texts is read."""
        return f"TermWeigher({self._name})"

    def weigh(self, texts: Iterable[str]) -> list[dict[str, float]]:
        """Return word → its largest weight, for each text; words that the model does not read are left out."""
        from irpretrain.text.texts import Text
        from irpretrain.training.compute import reproducible

        numbered_texts = [
            Text(0, text_number, str(text_number), checked_text(text, f"text {text_number}: "))
            for text_number, text in enumerate(listed(texts, "texts"))
        ]
        with reproducible(self._compute):
            rows, _ = self._model.rows(numbered_texts)
        return [{term["term"]: term["weight"] for term in terms} for terms in rows["terms"].to_pylist()]


# Of the queries of a fine-tuning, the first of which chooses.
MAX_FOLDS = 5
# That can be parted so.
MIN_QUERIES = 3


@naming_extras()
def pretrain(
    groups: Groups | Iterable[Groups], output: str | Path, *, layers: int | None = None, **training: Any
) -> dict[str, Any]:
    """Pre-train a cross-encoder on the groups of one objective or several, and write it.

    A run that was broken off goes on from its last checkpoint, in `<output>.checkpoints`.

    Args:
        groups: of one collection, which has an encoder. Each objective made at least one group.
        output: model directory to write: new, empty, or an earlier one, which the record beside it tells. Its metrics
            go to `<output>.metrics.jsonl`, its accuracy on held-out groups to `<output>.probe.csv`, the record of the
            training to `<output>.meta.json`.
        layers: keep only the encoder's first layers; None for all.
        training: keys of section pretraining that differ from the preset's; by default one epoch in batches of 64.

    Returns:
        Counts: steps, groups seen and available, epochs, word pieces.

    Examples:
        >>> from irpretrain import Collection, CrossEncoder
        >>> texts = ["apple pie with apple juice", "pear pie", "an apple and a pear"]
        >>> groups = Collection(texts, encoder=encoder_directory).groups("rop", minimum_count=1)
        >>> counts = pretrain(groups, output_directory, steps=2, batch_groups=4, max_length=32, query_length=8)
        >>> model = CrossEncoder(output_directory, max_length=32, query_length=8)
        >>> counts["steps"], model.predict([("pie", "pear pie")]).size
        (2, 1)
    """
    from irpretrain.training.pretrain import pretrain as run

    group_sets = [groups] if isinstance(groups, Groups) else listed(groups, "groups")
    if not group_sets or not all(isinstance(group_set, Groups) for group_set in group_sets):
        groups_text = reprlib.repr(groups)
        raise ConfigError(
            f"groups: give own_groups(...), read_groups(...) or what Collection.groups returns, not {groups_text}"
        )
    collections = {id(group_set.collection): group_set.collection for group_set in group_sets}
    if len(collections) != 1:
        raise ConfigError("groups: pretrain learns from groups of one collection; make one of all documents")
    collection = _with_encoder(group_sets[0])
    for group_set in group_sets:
        if not len(group_set):
            fault = f"objective {group_set.options.type} made no group{group_set.skipped_note()}"
            raise ConfigError(f"groups: {fault}; leave it out")
    output = Path(output)  # without a slash at its end, which would put what lies beside the folder into it
    training = {"batch_groups": 64, **training}
    if not training.keys() & {"steps", "epochs"}:
        training["epochs"] = 1
    objective_types = [group_set.options.type for group_set in group_sets]
    tasks = [TaskConfig(objective=objective_type) for objective_type in objective_types]
    options, encoder = collection.options.training(objective_types, **training), collection.encoder
    encoder_options = collection.encoder_options(layers)
    record = Recorder(
        "pretrain",
        [str(encoder)],
        [str(output)],
        {
            "encoder": encoder_options.model_dump(),
            "options": options.model_dump(),
            "tasks": [
                {**task.model_dump(), "options": group_set.options.model_dump()}
                for task, group_set in zip(tasks, group_sets, strict=True)
            ],
            "seed": collection.options.seed,
        },
    )
    with (
        reporting_disk_errors([output]),
        _writing(output, [encoder], "pretrain") as unfinished,
        collection.naming(),
    ):
        counts = run(
            encoder=encoder,
            start=None,
            groups=[group_set.table for group_set in group_sets],
            tokens=[collection.tokens],
            tasks=tasks,
            options=options,
            encoder_options=encoder_options,
            seed=collection.options.seed,
            output=output,
            metrics=f"{output}.metrics.jsonl",
            probe=f"{output}.probe.csv",
            checkpoints=unfinished,
            keeps_checkpoints=True,
        )
        record.write(counts)
    return counts


@naming_extras()
def finetune(groups: Groups, output: str | Path, **training: Any) -> dict[str, Any]:
    """Fine-tune a cross-encoder on groups of one query and several documents, and write it.

    With more than one epoch, batch size or learning rate, a fifth of the queries is held out and chooses among them
    (RR@10 of the preferred documents).

    Args:
        groups: of a collection whose encoder is the cross-encoder to start from: one of `pretrain`, or a sequence
            classifier with one label.
        output: model directory to write, as in `pretrain`. What was chosen goes to `<output>.metrics.json`, the
            record of the training to `<output>.meta.json`.
        training: keys of section finetuning. The defaults here are one batch size (16), one learning rate (2e-5) and
            3 epochs; a `recipe` has its own.

    Returns:
        Counts: queries, groups, epochs trained, what was chosen.

    Raises:
        ConfigError: no group can be trained on, or too few queries are there to choose anything.

    Examples:
        >>> from irpretrain import CrossEncoder, own_groups
        >>> pairs = [("apple juice", "apple pie with apple juice"), ("pear", "pear pie")]
        >>> groups = own_groups(pairs, encoder=model_directory)
        >>> counts = finetune(groups, tuned_directory, epochs=1, max_length=32, query_length=8)
        >>> counts["training_queries"], CrossEncoder(tuned_directory, max_length=32, query_length=8).predict(pairs).size
        (2, 2)
    """
    from irpretrain.training.finetune import finetune as run

    defaults = {"batch_sizes": [16], "learning_rates": [2e-5], "epochs": 3}
    if unread := [key for key in UNREAD_BY_GROUPS if key in dict(leaves(training))]:
        raise ConfigError(f"finetuning.{unread[0]} changes nothing here: {UNREAD_BY_GROUPS[unread[0]]}")
    values = {**defaults, **apply_recipe({"finetuning": training})["finetuning"]}
    options = explain(FinetuningConfig, values, "finetuning", top=True)
    if not isinstance(groups, Groups):
        raise ConfigError(f"groups: give own_groups(...) or read_groups(...), not {reprlib.repr(groups)}")
    collection = _with_encoder(groups)
    if not isinstance(groups.options, OwnGroupsOptions):  # an objective's documents are parts of others
        groups = own_groups(groups, collection.encoder, collection.options)
        collection = groups.collection
    judged_groups = groups.judged()
    chooses = options.chooses("full")
    if chooses and len(judged_groups.queries) < MIN_QUERIES:
        raise ConfigError(
            f"groups: {len(judged_groups.queries)} queries are too few to hold some out, which choose the epoch; give "
            f"{MIN_QUERIES} or more, or epochs=1"
        )
    output = Path(output)
    record = Recorder(
        "finetune",
        [str(collection.encoder)],
        [str(output)],
        {"options": options.model_dump(), "seed": collection.options.seed},
    )
    with (
        reporting_disk_errors([output]),
        _writing(output, [collection.encoder], "finetune") as unfinished,
        TemporaryDirectory(prefix="irpretrain-") as folder,
    ):
        queries, qrels, candidates, folds = (
            Path(folder, name) for name in ("queries", "qrels", "run", "folds")
        )
        QUERIES.write(
            queries, [{"query_id": name, "text": text} for name, text in judged_groups.queries.items()]
        )
        lines = (
            f"{query} 0 {name} 1\n" for query, names in judged_groups.preferred.items() for name in names
        )
        write_text(qrels, "".join(lines))
        write_run(candidates, judged_groups.candidates, "groups")
        fold_of = dict.fromkeys(judged_groups.queries, 2)
        if chooses:
            fold_count = min(MAX_FOLDS, len(judged_groups.queries))
            fold_of = deal(list(judged_groups.queries), fold_count, collection.options.seed).fold_of
        write_text(folds, json.dumps({"folds": max(fold_of.values()), "queries": fold_of}))
        with collection.naming(), naming({Path(folder): "groups"}):
            counts = run(
                model=collection.encoder,
                stores=[collection.tokens],
                queries=queries,
                qrels=qrels,
                candidates=candidates,
                folds=folds,
                fold=0,
                regime="full",
                options=options,
                reranking=options.reranking(RerankingConfig()),
                measure="RR@10",
                seed=collection.options.seed,
                # No query is tested, but the run's path names the job: the same in each call.
                run=unfinished / "tested.run",
                metrics=f"{output}.metrics.json",
                checkpoints=unfinished,
                output=output,
                keeps_checkpoints=True,
            )
        record.write(counts)
        (unfinished / "tested.run").unlink(missing_ok=True)
    return counts


def _with_encoder(groups: Groups) -> Any:
    if not groups.collection.has_encoder:
        raise ConfigError(
            "groups: their collection has no encoder to start from; Collection(..., encoder=...)"
        )
    return groups.collection


@contextmanager
def _writing(output: Path, inputs: Iterable[Path], stage: str) -> Iterator[Path]:
    """Check the output, lock it for the whole run, and yield the folder of its unfinished trainings.

    A finished training removes the checkpoints of killed trainings with other inputs or options.
    """

    unfinished = Path(f"{folder_to_write(output)}.checkpoints")

    def is_earlier(folder: Path) -> bool:
        return read_sidecar(folder).get("stage") == stage or was_writing(unfinished, folder)

    def check() -> None:
        check_output_folder(output, inputs, is_earlier, f"a model of {stage} (.meta.json beside it)")

    check()
    try:
        with hold_output(unfinished / "output.lock", output):
            check()  # another process may have ended since
            yield unfinished
            remove_unfinished(unfinished)
    finally:
        with suppress(OSError):  # checkpoints, or the lock of another process
            unfinished.rmdir()
