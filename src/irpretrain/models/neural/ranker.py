"""What all word rankers share: words, fresh weights, and their directory.

A ranker scores (query, document) pairs of word ids, where 0 is padding. It is saved as a directory of `config.json`
(type, options, sizes), `vocabulary.parquet` and `model.safetensors`, which loads without anything else.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from irpretrain.config.finetuning import NeuralConfig
from irpretrain.foundation.atomic import atomic_directory
from irpretrain.foundation.randomness import generator
from irpretrain.models.parameters import open_weights
from irpretrain.text.vocabulary import Vocabulary

MODEL_TYPE = "irpretrain-neural-ranker"
PADDING = 0


class NeuralRanker(nn.Module, ABC):
    """A ranker over words; `dimensions` is the size of its word vectors."""

    ngraphs: Sequence[str] = ()  # the character n-graphs that it reads

    def __init__(self, options: NeuralConfig, vocabulary: Vocabulary, dimensions: int) -> None:
        super().__init__()
        self.options, self.vocabulary, self.dimensions = options, vocabulary, dimensions

    @abstractmethod
    def scores(self, query: Tensor, document: Tensor) -> Tensor:
        """Return float32 scores [pairs] of word ids, int64 [pairs, query words] and [pairs, document words]."""

    def forward(self, query: Tensor, document: Tensor) -> Tensor:
        """Return the scores of pairs in single precision: narrower formats blur exact matches (similarity 1)."""
        with torch.autocast(query.device.type, enabled=False):
            return self.scores(query, document)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def save(self, directory: str | Path) -> None:
        with atomic_directory(directory) as folder:
            self.write_files(folder)

    def write_files(self, folder: Path) -> None:
        """Write the ranker's files into an existing folder; equal weights give equal bytes."""
        model_config = {
            "model_type": MODEL_TYPE,
            "options": self.options.model_dump(mode="json"),
            "words": self.vocabulary.kind,
            "vocabulary": len(self.vocabulary),
            "collection_words": self.vocabulary.collection_words,
            "dimensions": self.dimensions,
            "facts": {"ngraphs": self.ngraphs} if self.ngraphs else {},
        }
        (folder / "config.json").write_text(json.dumps(model_config, indent=1, sort_keys=True) + "\n")
        self.vocabulary.write(folder)
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.state_dict().items()}
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        open_weights(folder)


def word_vectors(word_count: int, dimensions: int, is_trained: bool) -> nn.Embedding:
    """Return a layer of vectors by word id, all zero so far; that of padding stays zero."""
    layer: nn.Embedding = nn.utils.skip_init(nn.Embedding, word_count + 1, dimensions, padding_idx=PADDING)
    nn.init.zeros_(layer.weight)
    layer.weight.requires_grad_(is_trained)
    return layer


def draw_weights(ranker: NeuralRanker, seed: int) -> None:
    """Draw all weights but word vectors uniformly in ±√(6 / (inputs + outputs)) (Glorot and Bengio, 2010); biases 0."""
    with torch.no_grad():
        for name, parameter in ranker.named_parameters():
            if name.endswith("bias"):
                parameter.zero_()
            elif not name.startswith("vectors."):
                outputs, inputs, *window = parameter.shape  # of a convolution all inputs of its window count
                limit = math.sqrt(6 / ((inputs + outputs) * math.prod(window)))
                values = generator(seed, "initialise", name).uniform(-limit, limit, tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(values))


def word_mask(ids: Tensor) -> Tensor:
    """Return where there are words and no padding: bool, as the ids."""
    return ids != PADDING


def similarities(query: Tensor, document: Tensor) -> Tensor:
    """Return cosines [pairs, query vectors, document vectors] of vectors [pairs, vectors, size]; 0 for zero vectors."""
    normal = nn.functional.normalize
    return normal(query, dim=-1) @ normal(document, dim=-1).transpose(1, 2)
