"""Pages that cost too much are lost alone. The worker imports its parsers from this module."""

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from multiprocessing import Pipe

import pytest

from irpretrain.foundation.errors import InputError, SetupError
from irpretrain.library import documents
from irpretrain.wikipedia import guarded_parser
from irpretrain.wikipedia.guarded_parser import Failure, GuardedParser, Settings
from patience import PATIENCE

SEEN = []
"""What a worker was given so far."""


def hostile_parser(text, argument):
    """Does what the text says; the count of texts shows whether the worker is a new one."""
    SEEN.append(text)
    if text == "endless":
        while True:
            pass
    if text == "endless in C":
        return 9 ** (9**9)
    if text == "sleep":
        time.sleep(3600)
    if text == "huge":
        SEEN.append(bytearray(1 << 40))
    if text == "huge in C":
        return compiled()
    if text == "grow":
        SEEN.append(bytearray(60 << 20))  # stays: two of these in one worker are too much
    if text == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if text == "deep":
        return parse_deep()
    return f"{argument} {text} {len(SEEN)}"


def compiled():
    try:
        bytearray(1 << 40)
    except MemoryError as error:
        raise SystemError("returned a result with an exception set") from error


def parse_deep():
    return parse_deep()


def settings(parser="hostile_parser", seconds=5):
    return Settings(f"{__name__}:{parser}", ("parsed",), seconds, 100)


@pytest.fixture
def parse(monkeypatch):
    monkeypatch.setattr(guarded_parser, "WAIT_FACTOR", PATIENCE)

    def parse(texts, parser="hostile_parser"):
        with GuardedParser(settings(parser, 0.3)) as guarded:
            return [found for _, found in guarded.parse(zip(texts, texts, strict=True))]

    return parse


def test_answers_come_in_order_with_none_for_items_without_text(parse):
    texts = [None, *(f"t{n}" if n % 3 else None for n in range(20))]
    found = parse(texts)
    assert [f and f.split()[1] for f in found] == texts
    assert parse([]) == []


def test_the_next_text_is_read_while_one_is_parsed_and_its_fault_comes_behind_it():
    read_items = []

    def items():
        for text in ("one", "two"):
            read_items.append(text)
            yield text, text
        raise InputError("dump.xml", "it ends here")

    used_items = []
    with GuardedParser(settings()) as guarded:
        parses = guarded.parse(items())
        for item, _ in islice(parses, 2):
            used_items.append((item, list(read_items)))
        with pytest.raises(InputError, match="it ends here"):
            next(parses)
    assert used_items == [("one", ["one", "two"]), ("two", ["one", "two"])]


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next():
    with GuardedParser(settings()) as guarded:
        for _ in guarded.parse(zip("abc", "abc", strict=True)):
            break
        parses = list(guarded.parse(zip("xyz", "xyz", strict=True)))
    assert [parse.split()[1] for _, parse in parses] == ["x", "y", "z"]


def test_texts_and_parses_longer_than_a_pipe_holds_do_not_wait_for_each_other():
    texts = [letter * 3_000_000 for letter in "abcd"]
    with GuardedParser(settings()) as guarded:
        parses = [parse for _, parse in guarded.parse((text[0], text) for text in texts)]
    assert parses == [f"parsed {text} {number}" for number, text in enumerate(texts, 1)]


def test_nothing_is_started_without_texts():
    """A worker would find no such parser."""
    with GuardedParser(Settings("none:none", (), 1, 100)) as guarded:
        assert list(guarded.parse([(1, None), (2, None)])) == [(1, None), (2, None)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("endless", "took more than 0.3 s", marks=pytest.mark.deep),
        ("endless in C", "took more than 0.3 s"),
        pytest.param("huge", "needed more than 100 MB", marks=pytest.mark.deep),
        ("huge in C", "needed more than 100 MB"),
        ("die", "made the parser crash (signal 11)"),
        ("deep", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_culprits_are_named_and_the_others_are_parsed(parse, text, reason):
    texts = [text, "a", text, text, "b", "c", text]
    found = [answer if isinstance(answer, Failure) else answer.split()[1] for answer in parse(texts)]
    assert found == [Failure(reason) if item == text else item for item in texts]


def test_what_pages_before_it_left_behind_does_not_count_against_a_page(parse):
    assert parse(["grow", "grow", "grow", "end"]) == [
        "parsed grow 2",
        "parsed grow 2",
        "parsed grow 2",
        "parsed end 3",
    ]


@pytest.mark.deep
def test_a_worker_that_hangs_is_killed(parse, monkeypatch):
    monkeypatch.setattr(guarded_parser, "WAIT_FACTOR", 20)
    assert parse(["a", "sleep", "b"])[1] == Failure("gave no answer within 6 s")


def test_a_worker_killed_from_outside_is_replaced(monkeypatch):
    with GuardedParser(settings()) as guarded:
        assert list(guarded.parse([("a", "a")])) == [("a", "parsed a 1")]
        guarded._process.kill()
        guarded._process.wait()
        assert list(guarded.parse([("b", "b")])) == [("b", "parsed b 1")]


def test_no_worker_stays_behind():
    with GuardedParser(settings()) as guarded:
        next(guarded.parse([("a", "a")] * 3))
        process = guarded._process
    assert process.returncode == 0


def test_a_parser_that_cannot_be_imported(parse):
    with pytest.raises(SetupError, match=r"does not start \(status 1\)"):
        parse(["a"], "no_parser")


@pytest.mark.parametrize("messages", [[], [settings()]])
def test_a_worker_ends_quietly_when_nobody_listens(messages, monkeypatch):
    """The process that started it was killed before it was ready."""
    monkeypatch.setattr(guarded_parser.signal, "signal", lambda *_: None)
    monkeypatch.setattr(guarded_parser, "_limit_memory", lambda _: None)
    ours, theirs = Pipe()
    for message in messages:
        ours.send(message)
    ours.close()
    guarded_parser.main(os.dup(theirs.fileno()))


def test_the_library_gives_up_a_page_that_costs_too_much(monkeypatch):
    monkeypatch.setattr(documents, "PARSING_SECONDS", 0.2)
    # Quadratic within one regular expression, which no bytecode interrupts.
    monkeypatch.setattr(documents, "parse_article", lambda *_: re.match("(a+)+b", "a" * 60))
    with pytest.raises(InputError, match=r"the page 'Pear' took more than 0\.2 s"):
        documents.parse_wikitext("a", "Pear")
    assert signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)


def test_the_library_leaves_a_program_its_own_signal(monkeypatch):
    monkeypatch.setattr(documents, "PARSING_SECONDS", 1e-6)
    before = signal.signal(signal.SIGPROF, signal.SIG_IGN)
    try:
        assert documents.parse_wikitext("a " * 10_000).body
    finally:
        signal.signal(signal.SIGPROF, before)
    signal.setitimer(signal.ITIMER_PROF, 1000)
    try:
        assert documents.parse_wikitext("a").body == "a"
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 900
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    with ThreadPoolExecutor() as pool:
        assert pool.submit(documents.parse_wikitext, "a").result().body == "a"
