"""A sequence-to-sequence model that writes queries for documents (Doc2Query, Nogueira et al., 2019).

Any directory that Hugging Face's `AutoModelForSeq2SeqLM` loads (T5, BART). Of its generation_config.json only the ids
of special tokens count; queries are drawn here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from irpretrain.errors import ConfigError, InputError, refusing
from irpretrain.models.encoder_files import GENERATOR_REMEDY
from irpretrain.models.linear import use_fast_linear
from irpretrain.models.parameters import load_network, positions, refuse_missing
from irpretrain.text.pair_tokenizer import EncoderPieces


class QueryGenerator:
    """A loaded model in single precision, ready to generate."""

    def __init__(self, directory: str | Path, device: torch.device) -> None:
        """InputError if there is no such model, parts of it are missing, or it names no token to begin or end with."""
        from transformers import AutoModelForSeq2SeqLM

        directory = Path(directory)
        network, missing = load_network(AutoModelForSeq2SeqLM, directory, GENERATOR_REMEDY)
        refuse_missing(directory, missing)
        use_fast_linear(network)
        self.network: Any = network.to(device).eval()
        self.tokenizer = EncoderPieces(directory)
        self._start, self._ends, self._pad = _special_ids(directory, network)
        self._device, self._directory = device, directory

    def check_lengths(self, lengths: Mapping[str, int]) -> None:
        """Raise ConfigError, naming the configuration's key, if sequences may exceed the model's positions."""
        most = positions(self.network)
        for key, length in lengths.items():
            if most is not None and length > most:
                raise ConfigError(f"{key}: {length} is longer than the model's {most} positions; lower it")

    @torch.inference_mode()
    def sample(self, ids: np.ndarray, attention: np.ndarray, draws: np.ndarray, top_k: int) -> np.ndarray:
        """Return queries drawn piece by piece among the `top_k` likeliest, in proportion to their probabilities.

        Args:
            ids, attention: int64 [documents, positions].
            draws: from [0, 1), float64 [documents, queries, pieces]: each chooses a piece.

        Returns:
            int64 [documents, queries, pieces]; padding after a query's end.

        Raises:
            InputError: a score is NaN.
        """
        documents, queries, steps = draws.shape
        uniform = draws.reshape(documents * queries, steps)
        mask = torch.from_numpy(attention).to(self._device)
        read = self.network.get_encoder()(
            input_ids=torch.from_numpy(ids).to(self._device), attention_mask=mask, return_dict=True
        )
        read.last_hidden_state = read.last_hidden_state.repeat_interleave(queries, 0)
        mask = mask.repeat_interleave(queries, 0)
        pieces = np.full(uniform.shape, self._pad, np.int64)
        last = np.full(len(uniform), self._start, np.int64)
        going, cache = np.ones(len(uniform), bool), None
        for step in range(steps):
            out = self.network(
                encoder_outputs=read,
                attention_mask=mask,
                decoder_input_ids=torch.from_numpy(last[:, None]).to(self._device),
                past_key_values=cache,
                use_cache=True,
            )
            cache = out.past_key_values
            try:
                chosen = choose(out.logits[:, -1], uniform[:, step], top_k)
            except FloatingPointError as error:
                raise InputError(self._directory, f"the model cannot be used: {error}") from None
            last = np.where(going, chosen, self._pad)
            pieces[:, step] = last
            going &= ~np.isin(last, self._ends)
            if not going.any():
                break
        return pieces.reshape(draws.shape)

    def text(self, pieces: np.ndarray) -> str:
        """Return the text of one generated query without special tokens, on one line."""
        ends = np.flatnonzero(np.isin(pieces, self._ends))
        return self.tokenizer.decode(pieces[: ends[0]] if len(ends) else pieces)


def choose(logits: Tensor, uniform: np.ndarray, top_k: int) -> np.ndarray:
    """Return one entry of each row of logits [rows, vocabulary], drawn among its `top_k` largest.

    The k probabilities, in double precision and falling, are laid side by side; `uniform`, float64 [rows] in [0, 1),
    falls on one of them. FloatingPointError on a NaN or an infinite logit.
    """
    largest, positions = torch.topk(logits.float(), min(top_k, logits.shape[1]), dim=1)
    values = largest.cpu().numpy().astype(np.float64)
    if not np.isfinite(values[:, 0]).all():
        raise FloatingPointError("its scores of next pieces are not numbers")
    sums = np.exp(values - values[:, :1]).cumsum(1)
    rank = (sums <= uniform[:, None] * sums[:, -1:]).sum(1)
    chosen: np.ndarray = positions.cpu().numpy()[np.arange(len(rank)), np.minimum(rank, values.shape[1] - 1)]
    return chosen


def _special_ids(directory: Path, network: Any) -> tuple[int, np.ndarray, int]:
    """The piece that a query begins after, those that end it, and padding; leave the model no other options."""
    from transformers import GenerationConfig

    generation = network.generation_config
    names = ("decoder_start_token_id", "eos_token_id", "pad_token_id")
    special = dict[str, Any]()
    for name in names:
        value = getattr(generation, name, None)
        special[name] = getattr(network.config, name, None) if value is None else value
        if special[name] is None:
            raise InputError(
                directory,
                f"neither config.json nor generation_config.json has {name}",
                remedy=GENERATOR_REMEDY,
            )
    with refusing(directory, "its special tokens cannot be used", GENERATOR_REMEDY):
        network.generation_config = GenerationConfig(**special)
        start, ends, pad = (special[name] for name in names)
        return int(start), np.atleast_1d(np.array(ends, np.int64)), int(pad)
