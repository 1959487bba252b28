"""Weights in batches and windows are those of a plain computation: one window of one text at a time.

The texts have words that are cut in pieces, that occur again, that the vocabulary lacks, that are of other scripts, and
each of these at the edges of windows.
"""

import json
import shutil

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from small_weights import TEXT, weighting, write_targets

from irpretrain.foundation.contracts import TERM_WEIGHTS
from irpretrain.foundation.errors import InputError
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.retrieval.term_weights.infer import infer_documents
from irpretrain.retrieval.term_weights.sequences import TrainingSequences
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.words import word_spans

ROOM = 10
"""Pieces of a text in a sequence of 12 positions."""
WORDS = "cab bad word07 word30 unknowable 東京 мир Ünïcode cat€xyz the word08,"


@pytest.fixture(scope="module")
def model(make_encoder, tmp_path_factory):
    """A model whose weights differ visibly from word to word."""
    folder = tmp_path_factory.mktemp("regressor") / "model"
    TermWeightRegressor.from_encoder(make_encoder(initializer_range=0.4)).save(folder)
    return folder


def drawn(number):
    """A text of 0 to 17 words."""
    return " ".join(np.random.default_rng(number).choice(WORDS.split(), number % 18))


DOCUMENTS = {
    # c is the first window's last piece, ##a and ##b stand beyond it.
    "edge": " ".join([*(f"word{n:02d}" for n in range(ROOM - 1)), "cab word40 word41"]),
    # Two windows: the second begins at the last piece of cab.
    "beyond": " ".join(["word01", *["word02"] * 3, "cab", *["word03"] * 9]),
    "foreign": "東京 мир Ünïcode unknowable 東京 cat€xyz 東京",
    "stop-words": "the of and the",
    "punctuation": "?! … —",
    "empty": "",
    **{f"d{number:02d}": drawn(number) for number in range(40)},
}


def plain_windows(pieces, overlap):
    """First piece and end of each window, by walking along the text."""
    if pieces <= ROOM or overlap is None:
        return [(0, min(pieces, ROOM))]
    starts = [0]
    while starts[-1] + ROOM < pieces:
        starts.append(min(starts[-1] + ROOM - overlap, pieces - ROOM))
    return [(start, start + ROOM) for start in starts]


def first_piece(start, end, pieces):
    """The first piece that has a character of the word."""
    positions = zip(pieces.starts, pieces.ends, strict=True)
    return next((n for n, (a, b) in enumerate(positions) if set(range(a, b)) & set(range(start, end))), None)


def plain_weights(network, encoder, text, overlap):
    """Term → weight, the largest of its occurrences."""
    words, [pieces] = word_spans(text, "alphanumeric"), encoder.pieces([text])
    total, read = len(pieces.ids), []
    for start, end in plain_windows(total, overlap):
        ids = torch.tensor([[*encoder.prefix, *pieces.ids[start:end].tolist(), *encoder.suffix]])
        with torch.no_grad():
            read.append((start, end, network(ids, torch.ones_like(ids))[0, 1:-1].tolist()))
    found = {}
    for word, start, end in zip(words.words, words.starts, words.ends, strict=True):
        position = first_piece(start, end, pieces)
        seen = {}
        for a, b, weights in read:
            if position is not None and a <= position < b:
                margin = min([position - a] * (a > 0) + [b - 1 - position] * (b < total), default=total)
                seen.setdefault(margin, weights[position - a])
        if seen:
            found[word] = max(found.get(word, -np.inf), seen[max(seen)])
    return found


@pytest.mark.parametrize("overlap", [None, 0, 2, 4])
def test_weights_are_those_of_a_plain_computation(model, make_documents, tmp_path, overlap):
    options = weighting(window_overlap=overlap)
    infer_documents(
        model, make_documents(DOCUMENTS), options, TEXT, tmp_path / "weights", tmp_path / "unfinished"
    )
    network, encoder = TermWeightRegressor.load(model).eval(), EncoderPieces(model)
    spread, terms = [], {}
    for row in TERM_WEIGHTS.read(tmp_path / "weights").to_pylist():
        expected = plain_weights(network, encoder, DOCUMENTS[row["document_id"]], overlap)
        terms[row["document_id"]] = [entry["term"] for entry in row["terms"]]
        assert terms[row["document_id"]] == sorted(expected)
        found = [entry["weight"] for entry in row["terms"]]
        assert_allclose(found, [expected[word] for word in sorted(expected)], atol=1e-5)
        spread += found
    assert np.std(spread) > 0.1
    # A window that ends between the pieces of a word reads its first, which is all that counts.
    assert "cab" in terms["edge"]
    assert ("word40" in terms["edge"]) == (overlap is not None)
    assert terms["stop-words"] == ["and", "of", "the"]
    assert terms["punctuation"] == terms["empty"] == []


def test_a_tokenizer_of_another_model_is_refused(model, make_documents, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["vocab"]["word01"] = 500
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    arguments = (make_documents(DOCUMENTS), weighting(), TEXT, tmp_path / "weights", tmp_path / "unfinished")
    with pytest.raises(InputError, match="needs 501 embeddings"):
        infer_documents(folder, *arguments)


def test_a_window_that_begins_within_a_word_learns_nothing_of_it(model, tmp_path):
    """11 pieces in windows of 10, the second from the piece after the first: ##a."""
    words = ["cab", *(f"word{n:02d}" for n in range(8))]
    targets = [0.5, *(n / 10 for n in range(8))]
    write_targets(tmp_path / "targets", {"d": (" ".join(words), targets)})
    options = weighting(window_overlap=4)
    sequences = TrainingSequences.read(tmp_path / "targets", EncoderPieces(model), options, TEXT)
    assert sequences.spans.tolist() == [[0, 10], [1, 11]]
    batch = sequences.batch(0, 2, 1)
    rows = {
        tuple(ids): [None if np.isnan(t) else round(float(t), 1) for t in given]
        for ids, given in zip(batch.input_ids.tolist(), batch.targets, strict=True)
    }
    first, second = (rows[key] for key in sorted(rows, key=lambda ids: ids[1] != 7))
    assert first == [None, 0.5, None, None, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, None]
    assert second == [None, None, None, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, None]
