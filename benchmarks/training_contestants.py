"""Who trains in training.py: our trainer, the Hugging Face Trainer in three ways, sentence-transformers' trainer.

The head of training.py says what differs between them.
"""

import contextlib
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from embedded_work import TrainingSource, TrainingWork
from irpretrain.config.training import OptimiserConfig
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.text.texts import stream_texts
from irpretrain.training.compute import reproducible
from irpretrain.training.metrics import waited_share
from irpretrain.training.ranking_groups import RankingGroups, text_rows
from irpretrain.training.ranking_tasks import RankingTask, SequenceReader
from irpretrain.training.trainer import Trainer
from side_by_side import Stopwatch, Turn

CHECKED = 3
"""First steps whose losses are compared."""
MEGABATCH = 50
"""Batches whose groups Hugging Face's sampler sorts by length together."""
IGNORED = -100
LEAD = 3
"""Steps before those that are timed."""
OPTIONS = OptimiserConfig(learning_rate=1e-4, warmup=0.0, decay="none")


def steps_of(work: TrainingWork, number: int) -> range:
    """The steps of a turn: the first few, whose losses are compared, and then `steps_in_turn` each."""
    first = CHECKED + (number - 1) * work.steps_in_turn
    return range(CHECKED) if number == 0 else range(first, first + work.steps_in_turn)


def finish(device: torch.device) -> None:
    """Wait until the device has done everything."""
    if device.type == "cuda":
        torch.cuda.synchronize()


class Ours:
    """Our trainer; batches are made of the token store and masked in every step."""

    def __init__(self, work: TrainingWork, accumulation: int = 1) -> None:
        self._work, source = work, work.source()
        self._setting = contextlib.ExitStack()  # kept, or the threads would be given back at once
        self._device = self._setting.enter_context(reproducible(work.compute))
        mlm = 1.0 if work.masking else 0.0
        reader = SequenceReader(source.builder, source.masker if work.masking else None)
        self._task = RankingTask("rop", source.groups, reader, "hinge", mlm_weight=mlm)
        model = CrossEncoderModel.load(work.model)
        # The schedule is constant, so its length does not matter.
        self._trainer = Trainer(model, OPTIONS, work.compute, self._device, work.seed, 1 << 30, accumulation)

    def turn(self, number: int) -> Turn:
        """See `Contestant`."""
        return self.train(steps_of(self._work, number))

    def train(self, steps: range) -> Turn:
        """Do some steps."""
        # As in a training, the clock finds batches that were read ahead.
        lead = min(steps.start, LEAD)
        done = self._trainer.run(range(steps.start - lead, steps.stop), [self._task], lambda step: False)
        for _ in range(lead):
            next(done)
        watch, measured = Stopwatch(), [*done]
        finish(self._device)
        facts = {
            "losses": [step.loss for step in measured],
            "waited": waited_share(measured),
            "graphs": self._trainer.graph_count,
            "peak_bytes": torch.cuda.max_memory_allocated() if self._device.type == "cuda" else None,
        }
        return watch.turn(sum(step.tokens for step in measured), **facts)


class HingeAndMlm(nn.Module):
    """Hugging Face's classifier and its MLM head on one encoder; what an expert would write."""

    def __init__(self, work: TrainingWork, everywhere: bool) -> None:
        from safetensors.torch import load_file
        from transformers import BertForSequenceClassification
        from transformers.models.bert.modeling_bert import BertPredictionHeadTransform

        super().__init__()
        self.classifier: Any = BertForSequenceClassification.from_pretrained(
            work.model, use_safetensors=True, local_files_only=True, trust_remote_code=False
        )
        self._everywhere = everywhere
        if work.masking:
            given = load_file(work.model / "mlm_head.safetensors")
            names = {"layer_norm": "LayerNorm"}
            self.transform = BertPredictionHeadTransform(self.classifier.config)
            weights = {
                f"{names.get(name.split('.')[0], name.split('.')[0])}.{name.split('.')[1]}": tensor
                for name, tensor in given.items()
                if "." in name
            }
            self.transform.load_state_dict(weights)
            self.bias = nn.Parameter(given["bias"])

    def forward(self, labels: Tensor | None = None, **inputs: Tensor) -> Tensor:
        """Return the loss of pairs of sequences, the first of each preferred."""
        if labels is None:
            return hinge(self.classifier(**inputs).logits.squeeze(-1))
        found = self.classifier.bert(**inputs)
        scores = self.classifier.classifier(self.classifier.dropout(found.pooler_output)).squeeze(-1)
        states = found.last_hidden_state
        if not self._everywhere:
            chosen = labels != IGNORED
            states, labels = states[chosen], labels[chosen]
        embeddings = self.classifier.bert.embeddings.word_embeddings.weight
        logits = functional.linear(self.transform(states), embeddings, self.bias)
        mlm = functional.cross_entropy(logits.view(-1, logits.shape[-1]).float(), labels.view(-1))
        return hinge(scores) + mlm


def hinge(scores: Tensor) -> Tensor:
    """The mean over pairs of max(0, 1 − s⁺ + s⁻)."""
    first, second = scores.float().view(-1, 2).unbind(1)
    return functional.relu(1 - first + second).mean()


class Features:
    """The sequences of a training's groups as lists, for collators."""

    def __init__(self, work: TrainingWork, source: TrainingSource) -> None:
        self._work, self._source = work, source

    def of_step(self, step: int) -> list[dict[str, Any]]:
        """Return the groups of a step, each with its sequences, masked as ours are."""
        source = self._source
        batch = source.builder.build(source.groups.groups(step))
        masked = source.masker.apply(batch, step) if source.masker else None
        ids = batch.input_ids if masked is None else masked.input_ids
        labels = np.full(ids.shape, IGNORED)
        if masked is not None:
            labels[masked.is_selected] = masked.labels
        sequences = []
        for row, length in enumerate(batch.attention_mask.sum(axis=1)):
            types = batch.token_type_ids[row, :length].tolist()
            one = {"input_ids": ids[row, :length].tolist(), "token_type_ids": types}
            sequences.append(one | ({"labels": labels[row, :length].tolist()} if masked else {}))
        pairs = [sequences[first : first + 2] for first in range(0, len(sequences), 2)]
        return [{"sequences": pair, "length": max(len(s["input_ids"]) for s in pair)} for pair in pairs]


class HuggingFace:
    """The Hugging Face Trainer on groups in our order."""

    everywhere = False

    def __init__(self, work: TrainingWork) -> None:
        from transformers import AutoTokenizer, DataCollatorWithPadding
        from transformers import Trainer as HuggingFaceTrainer

        self._work, self._features = work, Features(work, work.source())
        torch.set_num_threads(work.compute.threads)
        losses = self._losses = list[Tensor]()

        class Recording(HuggingFaceTrainer):
            def compute_loss(self, model: nn.Module, inputs: Any, *_: Any, **__: Any) -> Tensor:
                loss: Tensor = model(**inputs)
                losses.append(loss.detach())
                return loss

        pad = DataCollatorWithPadding(
            AutoTokenizer.from_pretrained(work.model, local_files_only=True, trust_remote_code=False)
        )
        model = HingeAndMlm(work, self.everywhere)
        arguments = training_arguments(import_module("transformers").TrainingArguments, work)
        self._clock = Clock(arguments.device)
        self._trainer = Recording(
            model,
            arguments,
            data_collator=Collator(pad),
            train_dataset=[0],
            callbacks=[self._clock.callback()],
        )

    def batches(self, number: int) -> list[list[dict[str, Any]]]:
        """Return the batches of a turn."""
        return [self._features.of_step(step) for step in steps_of(self._work, number)]

    def turn(self, number: int) -> Turn:
        """See `Contestant`."""
        groups = [group for batch in self.batches(number) for group in batch]
        self._trainer.train_dataset = groups
        self._losses.clear()
        self._trainer.train()
        tokens = sum(len(one["input_ids"]) for group in groups for one in group["sequences"])
        return self._clock.turn(tokens, losses=[float(loss) for loss in self._losses])


class AllPositions(HuggingFace):
    """The same, with MLM logits for all positions, as in BertForMaskedLM."""

    everywhere = True


class GroupedByLength(HuggingFace):
    """The same, with the batches of Hugging Face's sampler by length."""

    def batches(self, number: int) -> list[list[dict[str, Any]]]:
        """Return the batches of a turn: evenly from those of MEGABATCH batches' groups."""
        from transformers.trainer_pt_utils import LengthGroupedSampler

        if number == 0:
            return super().batches(number)
        steps = range(CHECKED, CHECKED + MEGABATCH)
        groups = [group for step in steps for group in self._features.of_step(step)]
        size = self._work.batch_groups
        lengths = [group["length"] for group in groups]
        order = list(
            LengthGroupedSampler(size, lengths=lengths, generator=torch.Generator().manual_seed(number))
        )
        made = [[groups[i] for i in order[first : first + size]] for first in range(0, len(order), size)]
        made.sort(key=lambda batch: -max(group["length"] for group in batch))
        positions = np.linspace(0, len(made), self._work.steps_in_turn, endpoint=False)
        shift = len(made) / self._work.steps_in_turn / 2
        return [made[int(position + shift)] for position in positions]


class Collator:
    """Pads the sequences of some groups, and their labels where they have any."""

    def __init__(self, pad: Callable[..., Any]) -> None:
        self._pad = pad

    def __call__(self, groups: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return the batch."""
        sequences = [dict(one) for group in groups for one in group["sequences"]]
        labels = [torch.tensor(one.pop("labels")) for one in sequences if "labels" in one]
        batch = dict(self._pad(sequences))
        if labels:
            batch["labels"] = nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=IGNORED)
        return batch


class SentenceTransformers:
    """CrossEncoderTrainer with its default collator, on texts in our order."""

    def __init__(self, work: TrainingWork) -> None:
        library = import_module("sentence_transformers.cross_encoder")
        data = self._data = import_module("datasets")
        data.disable_progress_bars()
        torch.set_num_threads(work.compute.threads)
        self._work, self._source = work, work.source()
        self._texts = texts_of(work)
        losses = self._losses = list[Tensor]()
        model = library.CrossEncoder(str(work.model), max_length=work.max_length, device=work.compute.device)
        cut = {"text": {"truncation": "only_second", "max_length": work.max_length}}

        class PairHinge(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(
                self, inputs: list[list[str]], labels: Any, prompt: str | None = None, task: str | None = None
            ) -> Tensor:
                pairs = [pair for q, a, b in zip(*inputs, strict=True) for pair in ((q, a), (q, b))]
                features = self.model.preprocess(pairs, prompt=prompt, task=task, processing_kwargs=cut)
                features = {
                    name: value.to(self.model.device) if isinstance(value, Tensor) else value
                    for name, value in features.items()
                }
                loss = hinge(self.model(features)["scores"].view(-1))
                losses.append(loss.detach())
                return loss

        kind = library.CrossEncoderTrainingArguments
        arguments = training_arguments(kind, work, batch_sampler=in_order)
        self._clock = Clock(arguments.device)
        self._trainer = library.CrossEncoderTrainer(
            model=model,
            args=arguments,
            train_dataset=self._rows([self._source.groups.groups(0)]),
            loss=PairHinge(),
            callbacks=[self._clock.callback()],
        )

    def _rows(self, batches: Sequence[RankingGroups]) -> Any:
        columns: dict[str, list[str]] = {"query": [], "positive": [], "negative": []}
        for groups in batches:
            numbers = text_rows(groups.queries["row"][groups.starts])
            columns["query"] += [groups.texts[number] for number in numbers]
            for name, position in (("positive", 0), ("negative", 1)):
                rows = groups.documents["row"][groups.starts + position]
                columns[name] += [self._texts[row] for row in rows]
        return self._data.Dataset.from_dict(columns)

    def turn(self, number: int) -> Turn:
        """See `Contestant`."""
        source = self._source
        batches = [source.groups.groups(step) for step in steps_of(self._work, number)]
        self._trainer.train_dataset = self._rows(batches)
        self._losses.clear()
        self._trainer.train()
        tokens = sum(source.builder.build(batch).tokens for batch in batches)
        return self._clock.turn(tokens, losses=[float(loss) for loss in self._losses])


def in_order(dataset: Any, batch_size: int, drop_last: bool, **others: Any) -> Any:
    """A batch sampler of sentence-transformers that keeps the order, which is a random one already."""
    sampler = import_module("sentence_transformers.base.sampler").DefaultBatchSampler
    order = torch.utils.data.SequentialSampler(dataset)
    return sampler(order, batch_size=batch_size, drop_last=drop_last, **others)


def texts_of(work: TrainingWork) -> list[str]:
    """The texts of all documents, in the order of the token stores' rows."""
    return [
        text for table in work.documents for _, texts in stream_texts(table, work.text, 512) for text in texts
    ]


def training_arguments(kind: Any, work: TrainingWork, **more: Any) -> Any:
    """Hugging Face's arguments for our optimiser, in the order of the data set."""
    cpu = work.compute.device == "cpu"
    if "batch_sampler" not in more:
        more["train_sampling_strategy"] = "sequential"
    return kind(
        output_dir=tempfile.mkdtemp(prefix="trainer-", dir=work.model.parent),
        per_device_train_batch_size=work.batch_groups,
        num_train_epochs=1,
        learning_rate=OPTIONS.learning_rate,
        lr_scheduler_type="constant",
        weight_decay=OPTIONS.weight_decay,
        max_grad_norm=OPTIONS.clip,
        optim="adamw_torch_fused",
        bf16=work.compute.precision == "bf16",
        use_cpu=cpu,
        dataloader_pin_memory=not cpu,
        dataloader_num_workers=0 if cpu else 4,
        remove_unused_columns=False,
        logging_strategy="no",
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        **more,
    )


class Clock:
    """Seconds from the begin of a Trainer's training to its end, by its own callbacks."""

    def __init__(self, device: torch.device) -> None:
        self._device, self._watch, self._done = device, Stopwatch(), Turn(0, 0, 0, {})

    def callback(self) -> Any:
        """Return what the Trainer calls."""
        from transformers import TrainerCallback

        clock = self

        class Timing(TrainerCallback):
            def on_train_begin(self, *_: Any, **__: Any) -> None:
                clock._watch = Stopwatch()

            def on_train_end(self, *_: Any, **__: Any) -> None:
                finish(clock._device)
                clock._done = clock._watch.turn(0)

        return Timing()

    def turn(self, amount: float, **facts: Any) -> Turn:
        """Return the training that was ended last."""
        return Turn(amount, self._done.wall, self._done.cpu, facts)
