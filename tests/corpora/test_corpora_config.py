"""Formats and their options are checked when the configuration is loaded, without heavy imports."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from base_config import base_config
from irpretrain.config import parse_config
from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.formats.tsv import TsvJudgementOptions
from irpretrain.corpora.registry import FORMATS, format_of
from irpretrain.foundation.errors import ConfigError

ROOT = Path(__file__).parents[2]


def parse(*path, value):
    config = base_config()
    section = config
    for key in path[:-1]:
        section = section[key]
    section[path[-1]] = value
    return parse_config(config)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("corpora", "squad-dev", "format"), "squat", "did you mean squad?"),
        (("corpora", "squad-dev", "options"), {"unit": "word"}, "unit"),
        (("corpora", "squad-dev", "options"), {"units": "article"}, "did you mean unit"),
        (("corpora", "enwiki-excerpt", "options"), {"longest_page": 0}, "longest_page"),
        (("datasets", "squad", "queries", "format"), "parquet", "not a format of topics; allowed are trec"),
        (("datasets", "squad", "qrels", "options"), {"unit": "page"}, "datasets.squad.qrels.options"),
        (("datasets", "squad", "queries", "options"), {"unit": "article"}, "unit: unknown key"),
    ],
)
def test_wrong_formats_and_options(path, value, message):
    with pytest.raises(ConfigError) as caught:
        parse(*path, value=value)
    assert message in str(caught.value)
    assert ".".join(path[:2]) in str(caught.value)


def test_options_are_filled_in_and_survive_a_round_trip():
    corpus = CorpusConfig(format="tsv", path="x", options={"columns": ["id", "text"]})
    assert corpus.options["body_fields"] is None
    assert CorpusConfig(**corpus.model_dump()) == corpus


@pytest.mark.parametrize(
    ("options", "field"),
    [
        pytest.param(options, field, id=f"{kind} {name} {field}")
        for kind, names in FORMATS.items()
        for name in names
        for options in [format_of(kind, name).options]
        for field, option in options.model_fields.items()
        if any(hasattr(bound, "min_length") for bound in option.metadata)
    ],
)
def test_an_option_that_may_not_be_empty_takes_one_name(options, field):
    names = ["title", "id", "rel"] if options is TsvJudgementOptions else ["title"]
    is_list = "list" in str(options.model_fields[field].annotation)
    assert options(**{field: names if is_list else "t"})
    with pytest.raises(ValidationError):
        options(**{field: names[1:] if is_list else ""})


def test_a_folder_of_every_format_of_documents_has_endings_that_count():
    assert all(format_of("documents", name).suffixes for name in FORMATS["documents"])


def test_loading_the_configuration_imports_nothing_heavy():
    heavy = (
        "torch transformers numba matplotlib pandas mwparserfromhell"  # pyarrow takes an eighth of a second
    )
    code = (
        "import sys; from irpretrain.config import load_config; load_config('config.yaml');"
        f"sys.exit(' '.join(m for m in '{heavy}'.split() if m in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
