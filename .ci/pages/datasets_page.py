"""docs/datasets.md, from the catalogue of data sets."""

from collections.abc import Iterator, Mapping

from generated_pages import literal

from irpretrain.corpora.catalogue.read import Catalogue, Entry, SourceFile

HEADER = """# Data sets

Use the papers' data sets by their names, and see how to get each. Generated from `resources/datasets` by `make docs`;
do not edit. [A new data set](tutorials/new-dataset.md) is one more file in that folder.

The project downloads nothing. This command prints which files are there and which are missing, and commands that fetch
free files; with `--configfile mine.yaml` in `ARGS`, those of the data sets that the overlay reads:

```sh
make run ARGS=datasets
```

It writes `results/datasets.txt`. Put the files into `data/` (`data_folder` of the
configuration) in the working directory or in the project, under the names below. A data set is `verified` (by
checksums), `present` (some file has no checksum), `incomplete`, `broken` or `missing`.

To use a data set, write its name:

```yaml
experiments:
  robust: {dataset: robust04, models: [control, prop], regimes: [zero-shot]}
  official: {dataset: trec-dl-2019, candidates: official, models: [control], regimes: [zero-shot]}
reranking: {depth: 100} # measures look no deeper
```

Corpus, queries, judgements, folds and runs are filled in from this catalogue. The name works in `collections`,
`train_on`, `select_on` and `tuned_on` too. Your keys win (`corpora: {robust04: {shards: 16}}`). A corpus with its own
`path` and a data set with its own `corpus` are not changed. Some are also in [ir_datasets](corpora.md#ir_datasets),
under the names given below. `resources/datasets/<name>.yaml` has fields, measures, and remarks on texts, judgements
and folds.

Missing or wrong files stop the run before they are read; another number of records stops it when they are read. With
`skip_absent: true` the experiments that miss files are left out, and their cells read "not run: ...".
"""


def datasets_page(catalogue: Catalogue) -> str:
    parts = [HEADER]
    for name, entry in catalogue.items():
        parts += [f"## {name}\n", f"{entry.label}. {entry.what}\n", *_facts(entry), ""]
    return "\n".join(parts).rstrip() + "\n"


def _files(files: Mapping[str, SourceFile]) -> Iterator[str]:
    """The files that a data set needs, then the optional ones."""
    for heading, optional in (("Files", False), ("optional", True)):
        if paths := [f"`{path}`" for path, file in files.items() if file.optional == optional]:
            yield f"{heading}: {', '.join(paths)}"


def _facts(entry: Entry) -> Iterator[str]:
    yield f"- Terms: {literal(entry.licence.terms)} <{entry.licence.page}>"
    if entry.source != entry.licence.page:
        yield f"- Source: <{entry.source}>"
    yield f"- Get: {literal(entry.get)}"
    if entry.needs:
        yield "- Needs: " + ", ".join(f"[{other}](#{other})" for other in entry.needs)
    if entry.ir_datasets:
        yield "- ir_datasets: " + ", ".join(
            f"`{name}`" for names in entry.ir_datasets.values() for name in names
        )
    yield "- " + "; ".join(_files(entry.files))
