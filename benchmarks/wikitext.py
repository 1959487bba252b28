"""Megabytes of wikitext per second and core: ours, with sections and links, and other parsers; in one run.

    python benchmarks/wikitext.py --packages FOLDER --node-modules FOLDER/node_modules

Text: the 106 articles of the embedded excerpt of the English Wikipedia, again and again up to --megabytes. Every parser
works through all of it in a process of its own, in turns; seconds are the median of three rounds, in processor time
(all threads; of node also its compiler's and collector's), without reading the dump. WikiExtractor and wtf_wikipedia
(`pip install --target FOLDER wikiextractor`, `npm install --prefix FOLDER wtf_wikipedia`) are left out where they are
not found. The last line is ours in one and in two processes by the clock, which means little on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median

from irpretrain.corpora.embedded import installed_path, read_manifest
from irpretrain.foundation.pieces import read_pieces
from irpretrain.foundation.records import everything
from irpretrain.library.documents import parse_wikitext
from irpretrain.wikipedia.dump import SiteInfo
from irpretrain.wikipedia.languages import WikiLanguage
from irpretrain.wikipedia.pages import Page, read_pages
from irpretrain.wikipedia.wikitext import parse_article

MANIFEST = Path(__file__).resolve().parents[1] / "resources/embedded.yaml"
ROUNDS = 3
ENGLISH_WIKIPEDIA = 25_000
"""Megabytes of wikitext of the articles of the English Wikipedia, about."""

NODE = """
import fs from "fs"
const { default: parse } = await import(process.argv[2] + "/wtf_wikipedia/src/index.js")
const pages = JSON.parse(fs.readFileSync(process.argv[3], "utf-8")), repeats = Number(process.argv[4])
const before = process.cpuUsage()
for (let i = 0; i < repeats; i++) for (const [title, text] of pages) {
  const article = parse(text, { title })
  article.text(); article.sections().map(section => section.title()); article.links()
}
const used = process.cpuUsage(before)
console.log((used.user + used.system) / 1e6)
"""


def excerpt() -> list[tuple[str, str]]:
    """Return (title, wikitext) of the excerpt's articles."""
    path = installed_path(read_manifest(MANIFEST).asset("enwiki-excerpt"))
    if path is None:
        sys.exit("the gensim package, which holds the excerpt, is not installed")
    pages = [p for p in read_pages(read_pieces(path, everything), 1_000_000) if isinstance(p, Page)]
    return [(p.title, p.text) for p in pages if p.namespace == 0 and p.redirect is None and p.text]


def ours() -> Callable[[str, str], object]:
    language = WikiLanguage.of(SiteInfo("enwiki"))
    return lambda title, text: parse_article(text, language)


def plain_mwparserfromhell() -> Callable[[str, str], object]:
    import mwparserfromhell

    return lambda title, text: mwparserfromhell.parse(text)


def whole_mwparserfromhell() -> Callable[[str, str], object]:
    import mwparserfromhell

    def work(title: str, text: str) -> object:
        code = mwparserfromhell.parse(text, skip_style_tags=True)
        return code.filter_headings(), code.filter_wikilinks(), code.strip_code()

    return work


def wikiextractor() -> Callable[[str, str], object]:
    # Not one of the project's packages: it lies in the folder that --packages names.
    extractor = import_module("wikiextractor.extract").Extractor
    return lambda title, text: extractor("1", "1", "", title, []).clean_text(text, expand_templates=False)


def library() -> Callable[[str, str], object]:
    return lambda title, text: parse_wikitext(text, title)


PARSERS = {
    "ours: text, sections, links": ours,
    "ours, by parse_wikitext": library,
    "mwparserfromhell, parse only": plain_mwparserfromhell,
    "mwparserfromhell, parse, headings, links, text": whole_mwparserfromhell,
    "WikiExtractor without templates: text": wikiextractor,
}


def seconds(name: str, repeats: int) -> float:
    """Return the processor time in which a parser does the excerpt `repeats` times."""
    pages, work = excerpt(), PARSERS[name]()
    start = time.process_time()
    for _ in range(repeats):
        for title, text in pages:
            work(title, text)
    return time.process_time() - start


def in_a_process(name: str, repeats: int, packages: str) -> float | None:
    """Run `seconds` in a fresh process; None where it fails, for want of the package mostly."""
    command = [sys.executable, __file__, "--run", name, "--repeats", str(repeats), "--packages", packages]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"{name}: left out ({done.stderr.strip().splitlines()[-1]})", file=sys.stderr)
        return None
    return float(done.stdout)


def in_node(repeats: int, modules: str) -> float | None:
    """Run wtf_wikipedia; None where node or it are not there."""
    if not modules or shutil.which("node") is None:
        print("wtf_wikipedia: left out (no node, or no --node-modules)", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory() as folder:
        pages, script = Path(folder, "pages.json"), Path(folder, "run.mjs")
        pages.write_text(json.dumps(excerpt()), encoding="utf-8")
        script.write_text(NODE, encoding="utf-8")
        command = ["node", str(script), str(Path(modules).resolve()), str(pages), str(repeats)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def wall(processes: int, repeats: int) -> float:
    """Return the seconds by the clock in which so many processes share the excerpt's repeats."""
    name = next(iter(PARSERS))
    start = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        pool.starmap(seconds, [(name, 1)] * repeats, chunksize=1)
    return time.perf_counter() - start


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--megabytes", type=float, default=100, help="wikitext that each parser does, at least"
    )
    parser.add_argument("--packages", default="", help="folder that holds the wikiextractor package")
    parser.add_argument("--node-modules", default="", help="folder that holds the wtf_wikipedia package")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.packages:
        sys.path.append(given.packages)
    if given.run:
        print(seconds(given.run, given.repeats))
        return
    measure(given.megabytes, given.packages, given.node_modules)


def show(name: str, used: float | None, own: float, megabytes: float) -> None:
    """Print a row of the table; none for a parser that was left out."""
    if used is not None:
        print(f"| {name} | {megabytes / used:.1f} | {used / own:.1f}x |", flush=True)


def measure(megabytes: float, packages: str, modules: str) -> None:
    """Run everything and print it."""
    size = sum(len(text.encode()) for _, text in excerpt()) / 1e6
    repeats = int(-(-megabytes // size))
    print(f"{repeats * size:.0f} MB of wikitext (the excerpt {repeats} times), {os.cpu_count()} cores\n")
    print("| parser | MB/s per core | ours is faster by |\n|---|---:|---:|")
    times: dict[str, list[float]] = {}
    for _ in range(ROUNDS):  # in turns: what else the machine does slows down all alike
        for name in PARSERS:
            used = in_a_process(name, repeats, packages)
            times.setdefault(name, []).extend([] if used is None else [used])
    own = median(times[next(iter(PARSERS))])
    for name, seconds_of_rounds in times.items():
        show(name, median(seconds_of_rounds) if seconds_of_rounds else None, own, repeats * size)
    show("wtf_wikipedia: text, sections, links", in_node(repeats, modules), own, repeats * size)
    print(f"\nEnglish Wikipedia (about {ENGLISH_WIKIPEDIA / 1000:.0f} GB): ", end="")
    print(f"{ENGLISH_WIKIPEDIA / (repeats * size / own) / 60:.0f} core-minutes of parsing")
    one, two = wall(1, repeats), wall(2, repeats)
    print(
        f"by the clock: one process {repeats * size / one:.1f} MB/s, two {repeats * size / two:.1f} MB/s: ",
        end="",
    )
    print(f"{one / two:.2f}x")


if __name__ == "__main__":
    main()
