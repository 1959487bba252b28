"""Whatever the files of a model's directory hold, it is loaded or refused with one message; no code of it is run."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from damage import damaged
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.errors import InputError, IRPretrainError
from irpretrain.models.cross_encoder import CrossEncoderModel
from irpretrain.models.encoder_files import check_encoder_files, check_reranker_files
from irpretrain.models.reranker import load_reranker
from irpretrain.models.term_weight_regressor import TermWeightRegressor
from irpretrain.text.pair_tokenizer import EncoderPieces
from irpretrain.text.word_pieces import load_tokenizer
from tiny_models import write_bert

OPTIONS = EncoderConfig(path="x", label="x", vocabulary_size=105, layers=1)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 40)
    | st.floats()
    | st.sampled_from(["", "bert", "gelu", "é"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "0"]), inner, max_size=2)
    ),
    max_leaves=4,
)
TOKENS = [b"[" * 3000, b"null", b"-1", b"9" * 5000, b'"']


def damaged_bytes(sound: bytes) -> st.SearchStrategy[bytes]:
    """Sound bytes of a file that is never compressed, with damage."""
    return damaged(sound, TOKENS, [bytes])


@st.composite
def damaged_json(draw: st.DrawFn, sound: Any) -> bytes:
    """A JSON object with a value replaced or missing at some key, at any depth; or damaged bytes of it."""
    if draw(st.booleans()):
        return draw(damaged_bytes(json.dumps(sound).encode()))
    content = json.loads(json.dumps(sound))
    position = content
    while True:
        key = draw(st.sampled_from(sorted(position)))
        if isinstance(position[key], dict) and position[key] and draw(st.booleans()):
            position = position[key]
            continue
        if draw(st.booleans()):
            position[key] = draw(VALUES)
        else:
            del position[key]
        return json.dumps(content).encode()


def refused_or_loaded(load: Callable[[], object]) -> None:
    """Load; a refusal has one line before its remedy."""
    fault = ""
    try:
        load()
    except IRPretrainError as error:
        fault = str(error).partition("\n  ")[0]
    assert "\n" not in fault


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt"])
def test_what_is_checked_before_any_job(tiny_encoder: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    sound = (folder / name).read_bytes()
    contents = damaged_json(json.loads(sound)) if name.endswith(".json") else damaged_bytes(sound)
    if name == "vocab.txt":
        (folder / "tokenizer.json").unlink()

    @given(contents)
    def check(content: bytes) -> None:
        (folder / name).write_bytes(content)
        refused_or_loaded(lambda: check_encoder_files(folder, OPTIONS, {"x": 64}))
        refused_or_loaded(lambda: check_reranker_files(folder))
        refused_or_loaded(lambda: load_tokenizer(folder, 105))
        refused_or_loaded(lambda: EncoderPieces(folder))

    check()


def test_a_tokenizer_whose_template_names_no_entry_is_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    """The tokenizers library panics at the first text."""
    folder = shutil.copytree(tiny_encoder, tmp_path / "encoder")
    tokenizer = json.loads((folder / "tokenizer.json").read_bytes())
    tokenizer["post_processor"] = {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [],
        "special_tokens": {},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    with pytest.raises(InputError, match=r"no unknown word can be encoded: .*no entry found for key"):
        load_tokenizer(folder, 105)


LOADERS: dict[str, Callable[[Path], object]] = {
    "encoder": lambda folder: CrossEncoderModel.from_encoder(folder, "mlp", None, 0.0, 1),
    "our cross-encoder": CrossEncoderModel.load,
    "given cross-encoder": load_reranker,
    "regressor": TermWeightRegressor.load,
}
FILES = ("config.json", "tokenizer.json", "model.safetensors")
LOADED = [
    *((kind, name) for kind in LOADERS for name in FILES),
    ("our cross-encoder", "mlm_head.safetensors"),
    ("given cross-encoder", "tokenizer_config.json"),
]


@pytest.fixture
def write_model(tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that writes what a loader loads."""

    def write(kind: str) -> Path:
        folder = write_bert(tmp_path / "model", 1)
        if kind == "our cross-encoder":
            CrossEncoderModel.load(folder).save(folder)
        if kind == "regressor":
            TermWeightRegressor.from_encoder(folder).save(folder)
        return folder

    return write


@pytest.mark.hypothesis
@pytest.mark.parametrize(("kind", "name"), LOADED)
def test_what_is_loaded(write_model: Callable[[str], Path], kind: str, name: str) -> None:
    folder = write_model(kind)
    sound = (folder / name).read_bytes()
    contents = damaged_json(json.loads(sound)) if name.endswith(".json") else damaged_bytes(sound)
    LOADERS[kind](folder)

    @given(contents)
    def check(content: bytes) -> None:
        (folder / name).write_bytes(content)
        refused_or_loaded(lambda: LOADERS[kind](folder))

    check()


CODE = "from pathlib import Path\nPath({mark!r}).touch()\nfrom transformers import *\nOwn = {base}\n"
CLASSES = {
    "AutoConfig": "PretrainedConfig",
    "AutoTokenizer": "PreTrainedTokenizerFast",
    "AutoModel": "PreTrainedModel",
    "AutoModelForSequenceClassification": "PreTrainedModel",
    "AutoModelForTokenClassification": "PreTrainedModel",
}


@pytest.mark.parametrize("type_name", ["own", None])
@pytest.mark.parametrize("kind", LOADERS)
def test_code_in_a_directory_is_never_run_nor_requested_about(
    write_model: Callable[[str], Path],
    tmp_path: Path,
    kind: str,
    type_name: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("builtins.input", lambda *question: pytest.fail(f"asked {question}"))
    folder, mark = write_model(kind), tmp_path / "mark"
    own = {name: f"own_{name.lower()}.Own" for name in CLASSES}
    for name, base in CLASSES.items():
        (folder / f"own_{name.lower()}.py").write_text(CODE.format(mark=str(mark), base=base))
    for name in ("config.json", "tokenizer_config.json"):
        content = json.loads((folder / name).read_text()) if (folder / name).exists() else {}
        content |= {"auto_map": {**own, "AutoTokenizer": [None, own["AutoTokenizer"]]}}
        if type_name and name == "config.json":
            content["model_type"] = type_name
        (folder / name).write_text(json.dumps(content))
    refused_or_loaded(lambda: LOADERS[kind](folder))
    (folder / "tokenizer.json").rename(folder / "other.json")
    refused_or_loaded(lambda: load_tokenizer(folder))
    assert not mark.exists()
