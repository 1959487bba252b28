"""Dumps made for tests: pages, whole dumps, the containers they come in, and the tables that are read from them."""

import bz2
import gzip
import lzma

import pyarrow as pa

from irpretrain.config.corpora import CorpusConfig
from irpretrain.corpora.sources import write_shard

HEAD = (
    "<mediawiki><siteinfo><dbname>testwiki</dbname><base>https://t.example/wiki/Main_Page</base><namespaces>"
    '<namespace key="0"/><namespace key="6">Datei</namespace><namespace key="14">Kategorie</namespace>'
    "</namespaces></siteinfo>\n"
)
END = "</mediawiki>\n"


def page(number, title="Title", text="Some text.", namespace=0, extra=""):
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>{number}</id>{extra}<revision><id>99</id>"
        f"<contributor><id>7</id><username>x</username></contributor><text>{text}</text></revision></page>\n"
    )


def dump(*pages, end=END):
    return (HEAD + "".join(pages) + end).encode()


def articles(count, words=30):
    """Articles, each of other words, and a redirect after every fifth."""
    for number in range(1, count + 1):
        text = " ".join(f"w{number * 7919 * n % 10007}" for n in range(1, words))
        yield page(number, f"Title {number}", text)
        if number % 5 == 0:
            marked = f'<redirect title="Title {number}" />'
            yield page(f"{number}00", f"To {number}", f"#REDIRECT [[Title {number}#Part]]", extra=marked)


def multistream(pages, pages_in_stream=10):
    """Return a dump of many streams and its index, as Wikimedia makes them."""
    streams, index = [bz2.compress(HEAD.encode())], []
    for first in range(0, len(pages), pages_in_stream):
        group = pages[first : first + pages_in_stream]
        start = sum(map(len, streams))
        index += [f"{start}:{_between(p, 'id')}:{_between(p, 'title')}\n" for p in group]
        streams.append(bz2.compress("".join(group).encode()))
    return b"".join([*streams, bz2.compress(END.encode())]), bz2.compress("".join(index).encode())


def zstandard(data):
    return pa.compress(data, codec="zstd", asbytes=True)


CONTAINERS = {
    "plain": bytes,
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "zstd": zstandard,
    "bzip2": lambda data: bz2.compress(data, 1),
    "bzip2 streams cut anywhere": lambda data: b"".join(
        bz2.compress(data[n : n + 5000]) for n in range(0, len(data), 5000)
    ),
}


def write_tables(source, folder, shards=1, malformed=0.001, **options):
    """Write what so many shards read from a dump; return their documents, their redirects, and their counts."""
    folder.mkdir(exist_ok=True)
    config = CorpusConfig(
        format="wikipedia-dump", path="x", shards=shards, malformed={"skip": malformed}, options=options
    )
    documents = [folder / f"documents-{n}.parquet" for n in range(shards)]
    redirects = [folder / f"redirects-{n}.parquet" for n in range(shards)]
    counts = [write_shard(config, source, n, documents[n], redirects[n]) for n in range(shards)]
    return documents, redirects, counts


def _between(text, name):
    return text.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
