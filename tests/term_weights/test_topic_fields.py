"""DeepCT-Query over titles, descriptions and narratives: from one file of TREC topics to targets, folds and models."""

from pathlib import Path

import pytest
from small_weights import TEXT, weighting

from irpretrain.config.corpora import DatasetConfig
from irpretrain.config.term_weights import TermLabelsConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.corpora.make_folds import make_folds
from irpretrain.corpora.testcollection import prepare
from irpretrain.evaluation.folds import read_folds, roles
from irpretrain.foundation.contracts import QUERIES, TERM_TARGETS
from irpretrain.retrieval.term_weights.targets import query_targets
from irpretrain.retrieval.term_weights.train import train_regressor

TOPIC = """
<top>

<num> Number: {}
<title> {}

<desc> Description:
{}

<narr> Narrative:
{}
</top>
"""
TOPICS = [
    (
        901,
        "island volcanoes",
        "Which volcanoes on islands have erupted?",
        "A relevant document names an island and its volcano.  Those\nunder the sea (seamounts) are not relevant.",
    ),
    (902, "Bread, sour", "How is sour bread baked &amp; kept?", "Documents on yeast alone are not relevant."),
    *((n, f"word{n} cab", f"What is word{n}?", f"All of word{n} is relevant.") for n in range(903, 911)),
]
DOCUMENTS = {
    "d1": ("An island", "its volcano erupted"),
    "d2": ("Volcanoes", "lava by the sea"),
    "d3": ("Bread", "sourdough needs a sour start"),
    **{f"d{n}": (f"word{n}", "relevant") for n in range(903, 911)},
}
RELEVANT = {"901": ["d1", "d2"], "902": ["d3"], **{str(n): [f"d{n}"] for n in range(903, 911)}}
FIELDS = {
    # By stems; d1 has volcano, island and erupted, d2 volcanoes; its title and body count alike.
    "title": [("901", "island volcanoes", [0.5, 1]), ("902", "Bread, sour", [1, 1])],
    "description": [
        ("901", "Which volcanoes on islands have erupted?", [0, 1, 0, 0.5, 0, 0.5]),
        ("902", "How is sour bread baked & kept?", [0, 0, 1, 1, 0, 0]),
    ],
    "narrative": [
        (
            "901",
            "A relevant document names an island and its volcano. Those under the sea (seamounts) are not relevant.",
            [0, 0, 0, 0, 0.5, 0.5, 0, 0.5, 1, 0, 0, 0.5, 0.5, 0, 0, 0, 0],
        ),
        ("902", "Documents on yeast alone are not relevant.", [0] * 7),
    ],
}


@pytest.fixture
def made(tmp_path, make_documents):
    """Return a function that makes queries, judgements, folds and targets of one field of the topics."""
    topics, judged = tmp_path / "topics.txt", tmp_path / "judged.txt"
    topics.write_text("".join(TOPIC.format(*topic) for topic in TOPICS))
    judged.write_text("".join(f"{query} 0 {d} 1\n" for query, found in RELEVANT.items() for d in found))
    documents = [make_documents(DOCUMENTS)]

    def make(field: str) -> Path:
        folder = tmp_path / field
        folder.mkdir()
        dataset = DatasetConfig(
            label=field,
            corpus="c",
            queries={"format": "trec", "path": "x", "options": {"fields": [field]}},
            qrels={"format": "trec", "path": "x"},
        )
        queries, qrels = folder / "queries.parquet", folder / "qrels.txt"
        prepare(dataset, topics, judged, documents, 1, queries, qrels)
        make_folds(queries, dataset, 1, folder / "folds.json")
        query_targets(documents, queries, qrels, TermLabelsConfig(), TEXT, folder / "targets.parquet")
        return folder

    return make


@pytest.mark.parametrize("field", FIELDS)
def test_a_data_set_has_the_field_that_it_names(made, field):
    folder = made(field)
    queries = QUERIES.read(folder / "queries.parquet").to_pylist()
    targets = TERM_TARGETS.read(folder / "targets.parquet").to_pylist()
    found = [(q["query_id"], q["text"], t["targets"]) for q, t in zip(queries, targets, strict=True)]
    assert found[:2] == FIELDS[field]
    assert [query for query, *_ in found] == [str(n) for n in range(901, 911)]


def test_all_fields_have_the_same_five_folds(made):
    folders = [made(field) for field in FIELDS]
    assert len({(folder / "folds.json").read_text() for folder in folders}) == 1
    folds = read_folds(folders[0] / "folds.json")
    assert [len(folds.queries(fold)) for fold in range(1, 6)] == [2] * 5


def test_a_fold_s_model_has_not_seen_the_queries_that_it_weighs(made, tiny_encoder):
    """Targets of the queries that a fold tests do not change its model, those of any other do."""
    folder = made("title")
    options = weighting(kind="queries", max_length=30)

    def train(changed: set[str]) -> bytes:
        rows = TERM_TARGETS.read(folder / "targets.parquet").to_pylist()
        for row in rows:
            if row["document_id"] in changed:
                row["targets"] = [1 - target for target in row["targets"]]
        name = f"{len(changed)}-changed"
        TERM_TARGETS.write(folder / f"targets-{name}", rows)
        counts = train_regressor(
            tiny_encoder, folder / f"targets-{name}", options, EncoderConfig(path="x", label="x"), TEXT, 1,
            folder / f"model-{name}", folder / f"metrics-{name}", folder / "checkpoints", folder / "folds.json", 1,
        )  # fmt: skip
        assert counts["texts"] == 8
        return (folder / f"model-{name}" / "model.safetensors").read_bytes()

    split = roles(read_folds(folder / "folds.json"), 1, validates=False)
    model = train(set())
    assert train({*split.test}) == model
    assert train({split.train[0]}) != model
