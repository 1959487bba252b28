"""The library, the command and a configuration resolve the same options of one choice."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from irpretrain import Collection, CrossEncoder, Options, finetune, own_groups, pretrain
from irpretrain.config.load import apply_recipe
from irpretrain.foundation.errors import ConfigError
from irpretrain.models.cross_encoder import CrossEncoderModel

PAIRS = [("word01 word02", "word01 word02 ab"), ("word03", "word03 cd"), ("word05", "word06 ef word05")]
SHORT = {"max_length": 24, "query_length": 8}
SHORT_SET = ["--set", "max_length=24", "--set", "query_length=8"]
DOCUMENTS = [" ".join(f"Word{n + m:02d} ab word{n + m + 1:02d}." for m in range(6)) for n in range(0, 30, 5)]


def record_of(model: Path) -> dict[str, Any]:
    parameters: dict[str, Any] = json.loads(Path(f"{model}.meta.json").read_text())["parameters"]
    return parameters


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(DOCUMENTS)))
    return path


def test_a_recipe_fills_what_a_fine_tuning_leaves_out(tiny_encoder: Path, tmp_path: Path, call: Any) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "start")
    optimiser = {"weight_decay": 0.5}
    finetune(
        own_groups(PAIRS, tmp_path / "start"),
        tmp_path / "library",
        recipe="prop",
        epochs=1,
        learning_rates=[1e-5],
        batch_sizes=[16],
        optimiser=optimiser,
        **SHORT,
    )
    pairs = tmp_path / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({"query": query, "document": text}) + "\n" for query, text in PAIRS))
    settings = ["recipe=prop", "epochs=1", "learning_rates=[1.0e-5]", "batch_sizes=[16]"]
    command = ["finetune", tmp_path / "start", pairs, tmp_path / "command", *SHORT_SET]
    for setting in (*settings, "optimiser.weight_decay=0.5"):
        command += ["--set", setting]
    assert call(*command).status == 0
    changes = {"recipe": "prop", "epochs": 1, "learning_rates": [1e-5], "batch_sizes": [16]}
    expected = apply_recipe({"finetuning": {**changes, "optimiser": optimiser, **SHORT}})["finetuning"]
    for output in ("library", "command"):
        options = record_of(tmp_path / output)["options"]
        assert {key: options[key] for key in expected.keys() - {"optimiser"}} == {
            key: value for key, value in expected.items() if key != "optimiser"
        }
        assert (options["loss"], options["negatives"]) == ("listwise", 11)
        assert options["optimiser"].items() >= {"clip": None, "weight_decay": 0.5}.items()


ARES = {
    "word_vectors": {"minimum_count": 1, "dimensions": 4},
    "pseudo_queries": {"minimum_count": 1, "temperature": 1},
}


@pytest.mark.parametrize(
    ("objective", "sections", "changes", "expected"),
    [
        ("rop", {}, {"minimum_count": 1}, {"head": "mlp", "clip": None, "scope": "document"}),
        ("rop", {"preset": "released"}, {"minimum_count": 1, "short_document_pieces": 0}, {"head": "pooled"}),
        ("ict", {"graph": {"segment_words": 50}}, {}, {"clip": None}),
        ("ares", ARES, {"agreement": "strict"}, {"head": "pooled", "clip": 1.0, "scope": "sequence"}),
    ],
)
def test_groups_of_the_command_pre_train_as_those_of_the_library(
    objective: str,
    sections: dict[str, Any],
    changes: dict[str, Any],
    expected: dict[str, Any],
    documents: Path,
    tiny_encoder: Path,
    tmp_path: Path,
    call: Any,
) -> None:
    lines, budget = tmp_path / "groups.jsonl", {"steps": 1, "batch_groups": 2, **SHORT}
    collection = Collection.read(documents, None, Options(**sections), tiny_encoder)
    pretrain(collection.groups(objective, **changes), tmp_path / "library", **budget)
    preset = ["--preset", sections.get("preset", "paper"), "--encoder", tiny_encoder]
    settings = [
        ("--set", f"{key}={json.dumps(value)}")
        for key, value in {**sections, **changes}.items()
        if key != "preset"
    ]
    made = call("groups", objective, documents, lines, *preset, *chain.from_iterable(settings))
    assert made.status == 0
    budget_set = [*SHORT_SET, "--set", "steps=1", "--set", "batch_groups=2"]
    done = call("pretrain", lines, tmp_path / "command", "--encoder", tiny_encoder, *budget_set)
    assert done.status == 0, done.err
    options = record_of(tmp_path / "library")["options"]
    assert record_of(tmp_path / "command")["options"] == options
    values = {
        "head": options["head"],
        "clip": options["optimiser"]["clip"],
        "scope": options["masking"]["scope"],
    }
    assert values.items() >= expected.items()
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    assert own_groups(rows).options.type == objective
    assert own_groups([*rows, {"queries": ["a", "b"], "document": "c"}]).options.type == "given"


@pytest.mark.parametrize(
    "fields", [{}, {"objective": ["rop"], "options": 3}, {"options": {"preset": "released"}}]
)
def test_a_user_s_own_lines_have_no_preset_of_an_objective(
    fields: dict[str, Any], tiny_encoder: Path, tmp_path: Path, call: Any
) -> None:
    lines = tmp_path / "own.jsonl"
    lines.write_text("".join(json.dumps({"query": q, "document": d, **fields}) + "\n" for q, d in PAIRS))
    budget_set = [*SHORT_SET, "--set", "steps=1", "--set", "batch_groups=2"]
    assert call("pretrain", lines, tmp_path / "model", "--encoder", tiny_encoder, *budget_set).status == 0
    record = record_of(tmp_path / "model")
    assert [task["objective"] for task in record["tasks"]] == ["given"]
    assert (record["options"]["head"], record["options"]["optimiser"]["clip"]) == ("mlp", 1.0)


def test_segments_of_a_file_of_groups_are_as_long_as_they_were_made(
    tiny_encoder: Path, tmp_path: Path, call: Any
) -> None:
    """PHP's segments must be read whole: their length is an option of the documents, which the file carries."""
    lines, command = tmp_path / "groups.jsonl", ["pretrain", tmp_path / "groups.jsonl", tmp_path / "model"]
    command += ["--encoder", tiny_encoder, *SHORT_SET, "--set", "steps=1", "--set", "batch_groups=2"]
    for words, status in ((8, 0), (9, 2)):
        origin = {"objective": "hp", "options": {"graph": {"segment_words": words}}}
        rows = [{"queries": [query], "documents": [text, "word09"], **origin} for query, text in PAIRS]
        lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
        done = call(*command)
        assert (done.status, f"graph.segment_words {words} words" in done.err) == (status, status == 2)


@pytest.mark.parametrize("value", [64.0, "64", 22.0, "22", 22])
def test_a_length_is_taken_as_a_configuration_takes_it(
    value: Any, tiny_encoder: Path, tmp_path: Path
) -> None:
    model = CrossEncoderModel.from_encoder(tiny_encoder)
    model.trained_length, model.trained_reading = 64, {"query_length": 16, "passages": None}
    model.save(tmp_path / "model")
    options = CrossEncoder(tmp_path / "model", max_length=value).options
    assert options == CrossEncoder(tmp_path / "model", max_length=int(value)).options
    assert (options.max_length, options.query_length) == (int(value), 16 if int(value) == 64 else 9)


@pytest.mark.parametrize("value", [64.5, "long", True, None, 3])
def test_what_is_no_length_is_refused_by_its_own_name(value: Any, tiny_encoder: Path, tmp_path: Path) -> None:
    CrossEncoderModel.from_encoder(tiny_encoder).save(tmp_path / "model")
    with pytest.raises(ConfigError, match="max_length") as refused:
        CrossEncoder(tmp_path / "model", max_length=value)
    assert "query_length" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "model", "message"),
    [
        ("depth", 2, "bm25", "changes nothing in this search by bm25. Give {} to the search."),
        ("depth", 200, "ares-bm25", "changes nothing in this search by ares-bm25. Give {} to the search."),
        (
            "sweep",
            {"k1": [1, 2]},
            "bm25",
            "changes nothing in this search by bm25. It reads text.language,",
        ),
    ],
)
def test_a_key_that_no_search_reads_is_refused_in_the_same_words(
    key: str, value: Any, model: Any, message: str, documents: Path, tmp_path: Path, call: Any
) -> None:
    (tmp_path / "topics.tsv").write_text("q\tword01\n")
    setting = f"retrieval.{key}={json.dumps(value)}"
    done = call("search", documents, tmp_path / "topics.tsv", "--model", model, "--set", setting)
    assert f"--set retrieval.{key} {message.format('--depth').replace(' to the search', '')}" in done.err
    collection = Collection.read(documents, options=Options(retrieval={key: value}))
    with pytest.raises(ConfigError) as refused:
        collection.search(["word01"], model=model)
    assert str(refused.value).startswith(f"retrieval.{key} {message.format('depth')}")
    read = Options(retrieval={"bm25": {"k1": 1.2}, "threads": 1})
    assert len(Collection.read(documents, options=read).search(["word01"], model=model))
