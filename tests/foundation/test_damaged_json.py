"""JSON files of our own that are cut, or hold something else, are refused with one message."""

import pytest

from irpretrain.axioms.predictor import load_predictor
from irpretrain.axioms.pseudo_queries import read_temperature
from irpretrain.axioms.rank_engine.postings import Postings
from irpretrain.config.retrieval import IndriOptions
from irpretrain.corpora.catalogue.table import read_report
from irpretrain.corpora.formats.ir_datasets import read_description
from irpretrain.evaluation.folds import read_folds
from irpretrain.foundation.errors import InputError
from irpretrain.models.neural.registry import load_neural_ranker
from irpretrain.retrieval.indri import Positions
from irpretrain.retrieval.lucene import stage_parameters
from irpretrain.retrieval.opened_index import RECORD, index_analysis
from irpretrain.text.token_store import TokenShard
from irpretrain.text.word_store import WordStore
from irpretrain.text.word_vectors import open_word_vectors

TORN = [
    "",
    "{",
    "[]",
    "3",
    "null",
    '{"foundation/errors.py": 3}',
    '{"foundation/errors.py": null}',
    '{"foundation/errors.py": ["a"]}',
]


@pytest.mark.parametrize("content", TORN)
@pytest.mark.parametrize(
    "read",
    [
        read_folds,
        read_report,
        read_description,
        index_analysis,
        load_predictor,
        load_neural_ranker,
        read_temperature,
        lambda path: stage_parameters({}, path),
        lambda path: Positions.open(path, IndriOptions(), "alphabetic"),
        Postings.open,
        WordStore,
        TokenShard,
        lambda path: open_word_vectors(path, 3),
    ],
)
def test_a_damaged_json_file_of_our_own_is_one_message(tmp_path, read, content):
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("config", "names", "record", "store", "vectors", "postings"):
        (folder / f"{name}.json").write_text(content)
    (folder / RECORD).write_text(content)
    (tmp_path / "file").write_text(content)
    for path in (folder, tmp_path / "file"):
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).count("\n") <= 1
