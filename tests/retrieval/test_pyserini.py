"""An index of weights in pyserini's own LuceneSearcher, by the code of docs/methods/deepct-index.md.

Pyserini's jar is a dependency, what its Python imports is none: the environment variable PYSERINI names a folder that
holds that, as `.ci/run` makes one. It also needs a whole Java of version 21 or newer, in JAVA_HOME or /usr/lib/jvm.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_lucene import OPTIONS, write_vectors

from irpretrain.retrieval.weighted_index import index_weights

PAGE = Path(__file__).resolve().parents[2] / "docs/methods/deepct-index.md"
FOLDER = os.environ.get("PYSERINI", "")
DOCUMENTS = {"d1": {"river": 40, "bridge": 3}, "d2": {"bridges": 90}, "d3": {"road": 7}}


def whole_java() -> str | None:
    """Return the home of a Java that has the module that pyserini asks for."""
    homes = [os.environ.get("JAVA_HOME", ""), *sorted(map(str, Path("/usr/lib/jvm").glob("*")), reverse=True)]
    for home in filter(None, homes):
        java = Path(home, "bin/java")
        if java.is_file():
            listed = subprocess.run([java, "--list-modules"], capture_output=True, text=True).stdout
            version = re.search(r"^jdk\.incubator\.vector@(\d+)", listed, re.MULTILINE)
            if version and int(version[1]) >= 21:
                return home
    return None


@pytest.mark.deep
@pytest.mark.skipif(not FOLDER, reason="PYSERINI names no folder with what pyserini imports")
def test_its_searcher_finds_the_weighted_words(tmp_path: Path) -> None:
    if (home := whole_java()) is None:
        pytest.skip("there is no whole Java of version 21 or newer")
    shard = write_vectors(tmp_path / "0.parquet", DOCUMENTS)
    index_weights([shard], "lucene", OPTIONS, tmp_path / "index")
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    code = "\n".join(line.strip() for line in code.splitlines())
    code = re.sub(r'LuceneSearcher\(".*?"\)', f"LuceneSearcher({str(tmp_path / 'index')!r})", code)
    code = code.replace("set_bm25(4, 0.7)", "set_bm25(10, 0.9)").replace(
        "Who was this season's NFL MVP?", "river bridge"
    )
    code += "\nprint('hits', searcher.num_docs, *(f'{hit.docid}:{hit.score:.4f}' for hit in hits))"
    settings = {"PYTHONPATH": FOLDER, "JAVA_HOME": home, "OPENAI_API_KEY": "unused", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    hits = re.findall(r"(d\d):([\d.]+)", done.stdout.partition("hits 3 ")[2])
    assert [name for name, _ in hits] == ["d1", "d2"]
    # BM25 with k1 10 and b 0.9, of one term: 140 weights in 3 documents; Lucene keeps a length of 90 as 88.
    idf = 0.470004  # ln(1 + (3 - 2 + 0.5) / (2 + 0.5))
    assert float(hits[1][1]) == pytest.approx(idf * 90 / (90 + 10 * (0.1 + 0.9 * 88 / (140 / 3))), abs=2e-4)
