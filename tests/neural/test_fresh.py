"""Fresh rankers: the words of a collection, its vectors, drawn weights; and that what is saved is what is loaded."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_rankers import TYPES, ids, ranker

from irpretrain.foundation.errors import ConfigError, InputError, IntegrityError
from irpretrain.foundation.provenance import sha256
from irpretrain.models.neural.registry import is_neural_ranker, load_neural_ranker
from irpretrain.text.vocabulary import Vocabulary
from irpretrain.text.word_store import WordDocuments
from irpretrain.training.batches import WordBatchBuilder
from plain_groups import Group, StoreSpan, columns

DOCUMENTS = {"d1": "The cat sat. The cat!", "d2": "a dog; THE dog", "d3": ""}
VECTORS = {"cat": [1.0, 2.0], "dog": [3.0, 4.0], "the": [0.5, 0.5]}
names = pytest.mark.parametrize("name", TYPES)


@names
def test_a_saved_ranker_is_loaded_with_the_same_scores(name: str, tmp_path: Path) -> None:
    made = ranker(name)
    made.save(tmp_path / "saved")
    assert is_neural_ranker(tmp_path / "saved")
    loaded = load_neural_ranker(tmp_path / "saved").eval()
    pairs = ids([1, 2, 3], [4], []), ids([2, 5, 1, 7, 3], [9, 4], [1])
    with torch.inference_mode():
        assert torch.equal(loaded(*pairs), made(*pairs))
    assert loaded.options == made.options
    loaded.save(tmp_path / "again")
    assert sha256(tmp_path / "saved") == sha256(tmp_path / "again")


def test_what_is_no_ranker_is_refused(tmp_path: Path) -> None:
    assert not is_neural_ranker(tmp_path)
    with pytest.raises(InputError, match="not a ranker over words"):
        load_neural_ranker(tmp_path)
    ranker("knrm").save(tmp_path / "saved")
    for name in ("vocabulary.parquet", "model.safetensors"):
        broken = tmp_path / f"without-{name}"
        shutil.copytree(tmp_path / "saved", broken)
        (broken / name).unlink()
        with pytest.raises(InputError, match=f"without-{name}"):
            load_neural_ranker(broken)
    config = tmp_path / "saved" / "config.json"
    sound = json.loads(config.read_text())
    config.write_text(json.dumps(sound | {"dimensions": sound["dimensions"] + 1}))
    with pytest.raises(InputError, match="cannot be loaded"):
        load_neural_ranker(tmp_path / "saved")
    # As one that was saved when the kernels could be set.
    config.write_text(json.dumps(sound | {"options": {**sound["options"], "kernels": 11}}))
    with pytest.raises(InputError, match=r"cannot be loaded: config\.json: options: kernels: unknown key"):
        load_neural_ranker(tmp_path / "saved")


@pytest.mark.parametrize("numbers", [[], [-1, 1], [1, 1], [2, 1], [0, 3]])
def test_a_vocabulary_of_other_rows_than_the_collection_s_is_refused(
    tmp_path: Path, numbers: list[int]
) -> None:
    Vocabulary(["cat"] * len(numbers), np.array(numbers, np.int64), 3, "letters").write(tmp_path)
    with pytest.raises(IntegrityError, match="not rising rows of a collection with 3 words"):
        Vocabulary.read(tmp_path, 3, "letters")


def test_a_fresh_ranker_knows_the_collection(make_corpus: Callable[..., Any]) -> None:
    corpus = make_corpus(DOCUMENTS, VECTORS)
    directory, counts = corpus.ranker("knrm", type="knrm")
    made: Any = load_neural_ranker(directory)
    assert made.vocabulary.words == ["a", "cat", "dog", "sat", "the"]
    assert made.vectors.weight[0].tolist() == [0, 0]
    assert made.vectors.weight[2].tolist() == [1, 2]
    assert made.vectors.weight[1].any(), "a word without a vector is drawn one"
    assert counts == {
        "words": 5,
        "words_left_out": 0,
        "words_without_vector": 2,
        "trained_parameters": 6 * 2 + 11 + 1,
    }
    _, counts = corpus.ranker("drmm", type="drmm")
    assert counts["trained_parameters"] == 30 * 5 + 5 + 5 + 1 + 1, "DRMM's word vectors stay as they are"


def test_rare_words_are_unknown(make_corpus: Callable[..., Any]) -> None:
    corpus = make_corpus(DOCUMENTS, VECTORS)
    directory, counts = corpus.ranker("drmm", type="drmm", minimum_count=2)
    made: Any = load_neural_ranker(directory)
    assert made.vocabulary.words == ["cat", "dog", "the"]
    assert counts["words_left_out"] == 2
    assert made.vocabulary.encode("The dog sat on a CAT, unheard of").tolist() == [3, 2, 1]
    # Three documents, the empty one too; each word is in one.
    assert made.idf.tolist() == pytest.approx([0, np.log(3), np.log(3), np.log(3 / 2)])
    with pytest.raises(ConfigError, match="no word of the collection occurs 9 times"):
        corpus.ranker("none", type="drmm", minimum_count=9)


def test_documents_are_read_as_queries_are(make_corpus: Callable[..., Any]) -> None:
    """From a word store, by number; from a text, by word."""
    corpus = make_corpus(DOCUMENTS, VECTORS)
    directory, _ = corpus.ranker("knrm", type="knrm", document_words=3)
    known = load_neural_ranker(directory).vocabulary
    documents = WordDocuments.open([corpus.words])
    builder = WordBatchBuilder(documents, known, 20, 3)
    batch = builder.build(columns(Group(["Cat!"], [StoreSpan(2)])))
    assert (batch.query.tolist(), batch.document.tolist()) == ([[2]], [[0]]), (
        "an empty document is one word of none"
    )
    rows = documents.rows(DOCUMENTS)
    for row, text in zip(rows, DOCUMENTS.values(), strict=True):
        assert builder.document(int(row)).tolist() == known.encode(text)[:3].tolist()
    assert documents.lengths.tolist() == [5, 4, 0]
    assert documents.find(["d2", "none"]).tolist() == [1, -1]
    with pytest.raises(InputError, match="1 document in none of 1 word store, such as none"):
        documents.rows(["d2", "none"])


def test_words_numbered_by_another_collection_are_refused(make_corpus: Callable[..., Any]) -> None:
    corpus = make_corpus(DOCUMENTS, VECTORS)
    other = make_corpus({"d1": "cat dog"}, VECTORS, "other")
    known = load_neural_ranker(corpus.ranker("knrm", type="knrm")[0]).vocabulary
    with pytest.raises(IntegrityError, match="of a collection of 2 words, the ranker of one of 5"):
        WordBatchBuilder(WordDocuments.open([other.words]), known, 5, 5)
    with pytest.raises(IntegrityError, match="it numbers 2 words, but the collection has 5"):
        WordDocuments.open([corpus.words, other.words])
    with pytest.raises(IntegrityError, match="3 document identifiers occur twice"):
        WordDocuments.open([corpus.words, corpus.words])


def test_seeds_draw_other_weights_and_equal_ones_equal_files(make_corpus: Callable[..., Any]) -> None:
    corpus = make_corpus(DOCUMENTS, VECTORS)
    options = {"type": "duet", "document_words": 102}
    first, second, other = (
        corpus.ranker(name, seed, **options)[0] for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert sha256(first) == sha256(second) != sha256(other)
    made: Any = load_neural_ranker(first)
    assert made.dimensions == 0, "Duet reads no word vectors, and needs none"
    assert made.ngraphs[0] == "#"
    for parameter_name, parameter in made.named_parameters():
        assert parameter.any() != parameter_name.endswith("bias"), parameter_name
    signs = [
        tuple(p.sign().flatten()[:32].tolist()) for p in made.parameters() if p.any() and p.numel() >= 32
    ]
    assert len(set(signs)) == len(signs) > 1, "each layer has numbers of its own"
