"""A saved re-ranker: any Hugging Face sequence classifier, also a cross-encoder of this project.

A classifier with one label scores by its logit. One with two labels scores by logit 1 minus logit 0, which orders
documents as the probability of label 1 does: label 1 must mean relevant. An activation function that the directory
names for its scores (a sigmoid) is left out, as it keeps the order.
"""

import inspect
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoModelForSequenceClassification

from irpretrain.foundation.errors import InputError, refusing
from irpretrain.models.encoder_batches import EncoderBatch, PaddedBatch
from irpretrain.models.encoder_files import CEDR_FILE
from irpretrain.models.length_batches import padding_mask, to_device
from irpretrain.models.packed import batch_of_tensors, classify_packed
from irpretrain.models.parameters import HubModel, check_embeddings, load_network, refuse_missing
from irpretrain.text.pair_tokenizer import REMEDY, PairTokenizer, check_types

# Names of a label that means the contrary of another, such as not_relevant, irrelevant, no, negative.
NEGATED_LABEL = re.compile(r"(?:not|non|irrel|unrel|neg)|(?:no|false|0)$", re.IGNORECASE)


class Reranker(HubModel):
    """Scores sequences of a query and a document; packs those of a BERT (`ComputeConfig.packing`)."""

    def __init__(self, network: nn.Module, tokenizer: PairTokenizer) -> None:
        super().__init__(network, tokenizer.directory)
        self.tokenizer = tokenizer
        parameters = inspect.signature(network.forward).parameters
        self.takes_types = tokenizer.uses_types and "token_type_ids" in parameters

    def limits(self) -> list[int]:
        # The tokenizer's length may be that of a training, so the model's positions alone refuse a longer one.
        limit = self.tokenizer.limit
        return super().limits() or ([] if limit is None else [limit])

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return raw scores, float [sequences], of int64 [sequences, positions]."""
        return self.score(batch_of_tensors(self, input_ids, token_type_ids, attention_mask))

    def score(self, batch: EncoderBatch) -> Tensor:
        """Return raw scores, float [sequences]."""
        if isinstance(batch, PaddedBatch):
            host_mask = torch.from_numpy(batch.attention_mask)
            mask = padding_mask(self.encoder, host_mask, self.device)
            # What a batch is filled up with is word piece 0; decoders find a sequence's end by their own padding.
            host_ids = np.where(batch.attention_mask, batch.input_ids, self.tokenizer.pad_token_id)
            ids, types = (
                to_device(torch.from_numpy(array), self.device) for array in (host_ids, batch.token_type_ids)
            )
            token_types = {"token_type_ids": types} if self.takes_types else {}
            logits = self.classifier(input_ids=ids, attention_mask=mask, **token_types).logits
        else:
            logits, _ = classify_packed(self, batch.on(self.device))
        return logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0]


def load_reranker(directory: str | Path) -> Reranker:
    """Load a re-ranker in single precision, for scoring; none of the directory's code is run.

    Raises:
        InputError: there is no such model, parts of it are missing, or it has more than two labels.
    """
    directory = Path(directory)
    if (directory / CEDR_FILE).exists():
        raise InputError(
            directory, "scores of CEDR-KNRM come from all layers, so it is no sequence classifier"
        )
    network, missing_names = load_network(AutoModelForSequenceClassification, directory, REMEDY)
    refuse_missing(directory, missing_names)
    if network.config.num_labels not in (1, 2):
        raise InputError(
            directory,
            f"a re-ranker has one label, or two (not relevant, relevant), this model has {network.config.num_labels}",
        )
    _refuse_swapped_labels(network.config, directory)
    tokenizer = PairTokenizer(directory)
    check_embeddings(network, tokenizer.size, directory)
    # Decoders score at the last position that is not this one; else at a place that depends on the batch.
    network.config.pad_token_id = tokenizer.pad_token_id
    model = Reranker(network, tokenizer).eval()
    if model.takes_types:
        check_types(network, directory)
    _refuse_reading_padding(model, directory)
    return model


def _refuse_swapped_labels(config: Any, directory: Path) -> None:
    """Raise InputError where the name of label 1 says that it is the one that is not relevant."""
    labels = [str(config.id2label.get(label, "")) for label in range(config.num_labels)]
    if len(labels) == 2 and NEGATED_LABEL.match(labels[1]) and not NEGATED_LABEL.match(labels[0]):
        raise InputError(
            directory,
            f"label 1, which must mean relevant, is {labels[1]!r}, and label 0 is {labels[0]!r}",
            remedy="Swap the two rows of the classifier's output layer, and the names in config.json.",
        )


def _refuse_reading_padding(model: Reranker, directory: Path) -> None:
    """Raise InputError where a longer sequence in the same batch changes a score (XLNet reads the last position)."""
    short, long = model.tokenizer.encode(["a", "a b c d e"], max_pieces=5)
    limits = model.limits()
    if limits and min(limits) < len(short) + len(long) + model.tokenizer.template.special_count:
        return
    unpadded, padded = (
        [torch.from_numpy(array) for array in model.tokenizer.join(pairs)]
        for pairs in ([(short, short)], [(short, short), (short, long)])
    )
    with torch.inference_mode(), refusing(directory, "the model scores no sequence", REMEDY):
        scores = float(model(*unpadded)[0]), float(model(*padded)[0])
    if not math.isclose(*scores, rel_tol=1e-3, abs_tol=1e-3):
        raise InputError(
            directory,
            f"padding behind a sequence changes its score from {scores[0]:.4f} to {scores[1]:.4f}",
            remedy="Take a model that scores by the first position or by those of the attention mask.",
        )
