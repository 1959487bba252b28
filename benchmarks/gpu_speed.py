"""How fast: the parts of gpu.py that measure rates. Each yields a row a case, those that matter most first."""

import itertools
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

import training
from generated_work import TEXT
from gpu_setting import GIB, LOSSES, SCORES, Row, Setting, cases, matrix_rate, precise, profile, seconds_of
from irpretrain.config.term_weights import TermWeightsConfig
from irpretrain.config.text import EncoderConfig
from irpretrain.foundation.contracts import DOCUMENTS
from irpretrain.retrieval.term_weights.infer import WeightPredictor, _write_in_blocks
from irpretrain.retrieval.term_weights.train import train_regressor
from irpretrain.text.token_store import TokenStore
from irpretrain.text.word_pieces import load_tokenizer
from irpretrain.training.checkpoints import Checkpoints
from irpretrain.training.compute import reproducible
from side_by_side import Player, Turn, play, playing, rate, ratio
from training_contestants import CHECKED, Ours

PRELOAD = ["torch", "transformers", "gpu_speed"]
UNUSUAL = ("grouped by length", "all positions", "batches of 8", "batches of 128")
"""Ends of names of systems that are measured last."""


def peak(setting: Setting) -> Iterator[Row]:
    """Matrix products by size and precision, those of BERT-base at 65,536 word pieces, and copies of memory."""
    device = torch.device(setting.device)
    sizes = (128, 256) if setting.small else (8192, 4096, 16384, 2048)
    shapes = [(size, size, size) for size in sizes]
    products: list[Row] = [
        {"precision": precision, "shape": list(shape)}
        for precision, shape in itertools.product(setting.precisions, shapes)
        if precision != "fp32" or shape[0] <= 8192
    ]
    if not setting.small:
        layers = [(65536, 768, 768), (65536, 768, 3072), (65536, 3072, 768), (9830, 768, 30522)]
        products += [{"precision": "bf16", "shape": list(shape)} for shape in layers]
    yield from cases(
        setting, products, lambda c: {"per_second": matrix_rate(device, c["precision"], *c["shape"])}
    )
    size = (1 << 22) if setting.small else GIB
    copied = torch.zeros(size, dtype=torch.uint8, device=device)
    host = torch.zeros(size, dtype=torch.uint8, pin_memory=setting.device == "cuda")
    other = torch.empty_like(copied)
    copies: list[Row] = [{"copy": "within the device"}, {"copy": "from the host"}]
    sources = {"within the device": (copied, 2), "from the host": (host, 1)}

    def copy(case: Row) -> Row:
        source, passes = sources[case["copy"]]
        return {
            "bytes_per_second": passes * size / seconds_of(lambda: other.copy_(source, True), device, 0.02)
        }

    yield from cases(setting, copies, copy)


def training_cases(setting: Setting) -> list[Row]:
    """The trainings that are measured, those that matter most first."""
    main: Row = {
        "work": "pre-training",
        "lengths": "articles",
        "precision": "bf16",
        "packing": "auto",
        "dropout": "none",
        "groups": 4 if setting.small else 64,
    }
    if setting.small:
        changes: list[Row] = [
            {},
            {"packing": "off"},
            {"groups": 8},
            {"dropout": "all"},
            {"lengths": "passages"},
            {"work": "pre-training without MLM"},
            {"work": "fine-tuning"},
            {"precision": "fp32"},
        ]
        return [main | change for change in changes]
    padded, passages = {"packing": "off"}, {"lengths": "passages"}
    tuned, alone = {"work": "fine-tuning"}, {"work": "pre-training without MLM"}
    changes = [
        {},
        {"groups": 16},
        {**passages, "groups": 64},
        {"dropout": "all"},
        {**tuned, "dropout": "all", **passages, "groups": 16},
        {**passages, "groups": 1024},
        {"lengths": "paragraphs", **padded},
        {"groups": 512},
        {"precision": "fp16"},
        tuned,
        {"lengths": "paragraphs"},
        {"groups": 256},
        padded,
        {"precision": "tf32", "groups": 16},
        {"precision": "fp32", "groups": 16},
        {"dropout": "hidden"},
        {**passages, "groups": 2048},
        *({"groups": groups} for groups in (32, 128)),
        {**passages, "groups": 256},
        {**passages, **padded, "groups": 256},
        *({**alone, "dropout": dropout} for dropout in ("none", "all")),
        {**tuned, "dropout": "all"},
        {**tuned, **padded},
        {**tuned, **passages, "groups": 256},
        {**tuned, **passages, **padded, "groups": 256},
        {"precision": "fp16", **passages, "groups": 256},
    ]
    return [main | change for change in changes]


def training_part(setting: Setting) -> Iterator[Row]:
    """Steps of our trainer: word pieces a second, share of the peak, memory, share of time waiting, kernels."""
    device = torch.device(setting.device)
    full: dict[Any, int] = {}

    @cache
    def best(precision: str) -> float:
        size = 128 if setting.small else 8192
        return matrix_rate(device, precision, size, size, size)

    def series(case: Row) -> Any:
        return tuple(sorted((key, value) for key, value in case.items() if key != "groups"))

    def too_large(case: Row) -> bool:
        return case["groups"] > full.get(series(case), 1 << 30)

    def measure(case: Row) -> Row:
        compute = setting.compute(case["precision"], packing=case["packing"])
        steps = 2 if setting.small else int(np.clip(1280 // case["groups"], 4, 40))
        work = setting.work.training(
            case["work"], case["lengths"], case["groups"], steps, compute, case["dropout"]
        )
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats()
        with precise(case["precision"]):
            ours = Ours(work)
            for number in range(1 if setting.small else 2):  # a GPU records its graphs
                ours.turn(number)
            turn = ours.turn(2)
            hint = profile(lambda: ours.train(range(CHECKED + 2 * steps, CHECKED + 2 * steps + 4)), device)
        measured_peak = best(case["precision"])
        return {
            "word_pieces_per_second": turn.amount / turn.wall,
            "mfu": turn.amount * training.operations(work) / turn.wall / measured_peak,
            "peak_flops": measured_peak,
            "seconds_a_step": turn.wall / steps,
            "word_pieces_a_step": turn.amount / steps,
            "waited": turn.facts["waited"],
            "memory_gib": None if device.type == "cpu" else turn.facts["peak_bytes"] / GIB,
            "graphs": turn.facts["graphs"],
            "losses": turn.facts["losses"],
            "profile": hint,
        }

    for row in cases(setting, training_cases(setting), measure, too_large):
        if str(row.get("failed")).startswith("memory"):
            full[series({key: row[key] for key in training_cases(setting)[0]})] = row["groups"]
        yield row


def reranking_cases(setting: Setting) -> list[Row]:
    """The re-rankings that are measured, those that matter most first."""
    main: Row = {
        "lengths": "articles",
        "precision": "bf16",
        "packing": "auto",
        "batch_tokens": 2048 if setting.small else 65536,
    }
    passages, padded = {"lengths": "passages"}, {"packing": "off"}
    changes: list[Row] = [{}, passages, padded, {**passages, **padded}]
    if not setting.small:
        changes += [{"batch_tokens": size} for size in (16384, 262144)]
        changes += [{**passages, "batch_tokens": size} for size in (16384, 262144)]
        changes += [{"lengths": "paragraphs"}, {"precision": "fp16"}]
    return [main | change for change in changes]


def reranking_part(setting: Setting) -> Iterator[Row]:
    """Our re-ranking of candidates: pairs a second."""
    from reranking import Ours as Reranker

    choices = reranking_cases(setting)

    def measure(case: Row) -> Row:
        compute = setting.compute(case["precision"], packing=case["packing"])
        queries = 6 if setting.small else 200
        work = setting.work.reranking(case["lengths"], compute, queries, case["batch_tokens"])
        ours = Reranker(work)
        ours.turn(0)
        if setting.device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        turns = [ours.turn(number) for number in (1, 2)]
        seconds = sum(turn.wall for turn in turns)
        device = torch.device(setting.device)
        hint = profile(lambda: ours.turn(3), device) if case in choices[:2] else None
        pieces = word_pieces(work, [ours.chosen(number) for number in (1, 2)])
        return {
            "pairs_per_second": sum(turn.amount for turn in turns) / seconds,
            "word_pieces_per_second": pieces / seconds,
            "memory_gib": torch.cuda.max_memory_allocated() / GIB if setting.device == "cuda" else None,
            "profile": hint,
        }

    yield from cases(setting, choices, measure)


def word_pieces(work: Any, runs: list[Any]) -> int:
    """Return the word pieces of the sequences of a re-ranking's pairs."""
    store, texts = TokenStore.open([work.store]), work.candidates()[0]
    names = [(query, document) for run in runs for query, some in run.items() for document, _ in some]
    tokenizer = load_tokenizer(work.model)
    encoded = tokenizer.encode([texts[query] for query, _ in names])
    queries = np.array([min(len(pieces), work.options.query_length) for pieces in encoded])
    documents = store.lengths[store.rows([document for _, document in names])]
    return int(
        np.minimum(tokenizer.template.special_count + queries + documents, work.options.max_length).sum()
    )


def weighing_cases(setting: Setting) -> list[Row]:
    """What is measured of DeepCT."""
    weights: Row = {"work": "weights", "lengths": "passages", "precision": "bf16"}
    return [weights, weights | {"work": "training"}] + (
        [] if setting.small else [weights | {"precision": "fp16"}]
    )


def weighing(setting: Setting) -> Iterator[Row]:
    """DeepCT: weights of passages, and the training of its model, with the dropout that its paper's overlay has."""

    def options(case: Row) -> TermWeightsConfig:
        compute = {"device": setting.device, "threads": setting.threads, "precision": case["precision"]}
        inference = {"batch_tokens": 2048 if setting.small else 65536, "compute": compute}
        steps = {"steps": 6 if setting.small else 60, "batch_size": 16, "compute": compute}
        return TermWeightsConfig(
            label="b",
            dataset="b",
            max_length=setting.work.lengths(case["lengths"]).longest,
            inference=inference,
            training=steps,
        )

    def measure(case: Row) -> Row:
        if case["work"] == "training":
            return train(case)
        chosen, number = options(case), 120 if setting.small else 16384
        texts, columns = setting.work.documents_to_weigh(case["lengths"], number), {"title": "", "url": ""}
        shard = [
            {**text.key, **columns, "body": text.text}
            for _ in range(1 if setting.small else 4)
            for text in texts
        ]
        with reproducible(chosen.inference.compute) as device, tempfile.TemporaryDirectory() as name:
            documents, output = Path(name, "documents"), Path(name, "weights")
            for position, row in enumerate(shard):
                row |= {"position": position, "sections": [], "links": [], "disambiguation": False}
            DOCUMENTS.write(documents, shard)
            predictor = WeightPredictor.open(setting.work.regressor(), chosen, TEXT, device)
            predictor.rows(texts[: number // 16])
            with Checkpoints(name, {"job": "weights"}, "weigh", 60) as unfinished:
                began = time.perf_counter()  # the table is written, so nothing is left to wait for
                counts = _write_in_blocks(predictor, documents, unfinished, "weigh", output)
                seconds = time.perf_counter() - began
            hint = profile(lambda: predictor.rows(texts[: number // 8]), device)
        pieces = counts["word_pieces"] + 2 * counts["sequences"]
        return {
            "passages_per_second": len(shard) / seconds,
            "word_pieces_per_second": pieces / seconds,
            "profile": hint,
        }

    def train(case: Row) -> Row:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            encoder = EncoderConfig(path="b", label="b", layers=None, vocabulary_size=None)
            paths = folder / "model", folder / "metrics.jsonl", folder / "checkpoints"
            parts = setting.work.encoder(), setting.work.targets(), options(case), encoder, TEXT, 1
            train_regressor(*parts, *paths)
            lines = [json.loads(line) for line in paths[1].read_text().splitlines()][CHECKED:]
        seconds = sum(line["seconds"] for line in lines)
        sequences = 16 * len(lines) / seconds
        rates = {"word_pieces_per_second": sum(line["tokens"] for line in lines) / seconds}
        return rates | {"passages_per_second": sequences}

    yield from cases(setting, weighing_cases(setting), measure)


def shared(setting: Setting) -> Iterator[Row]:
    """Two processes on one device: what both do together against one alone, and their memory."""
    work = setting.work.training(
        "pre-training", "articles", 4 if setting.small else 32, 2 if setting.small else 20, setting.compute()
    )

    def measure(_: Row) -> Row:
        multiprocessing.set_forkserver_preload(PRELOAD)
        players = [Player(name, Ours, work) for name in ("first", "second")]
        try:
            for player in players:
                player.ready()
                player.ask(0)
            alone = players[0].ask(1)
            with ThreadPoolExecutor(2) as asking:
                players[1].ask(1)
                both = list(asking.map(lambda player: player.ask(2), players))
        finally:
            for player in players:
                player.stop()
        single = alone.amount / alone.wall
        together = sum(turn.amount for turn in both) / max(turn.wall for turn in both)
        losses = [turn.facts["losses"] for turn in both]
        difference = float(np.abs(np.subtract(*losses) / losses[0]).max())
        memory = [turn.facts["peak_bytes"] for turn in both]
        return {
            "one_alone": single,
            "both": together,
            "ratio": together / single,
            "apart": difference,
            "tolerance": LOSSES["bf16"],
            "passed": difference <= LOSSES["bf16"],
            "memory_gib": None if None in memory else [size / GIB for size in memory],
        }

    yield from cases(setting, [{"work": "pre-training", "lengths": "articles", "precision": "bf16"}], measure)


def others(setting: Setting) -> Iterator[Row]:
    """Ours against the Trainer, CrossEncoderTrainer and CrossEncoder.predict, each alone with ours on the device."""
    reranking = import_module("reranking")
    there = {name for name in training.PACKAGES if find_spec(name) is not None}
    groups, steps = (2, 1) if setting.small else (32, 10)
    systems = {kind: [*training.contestants(kind, there)] for kind in ("pre-training", "fine-tuning")}
    systems["re-ranking"] = [*reranking.contestants(there & {"sentence_transformers"})]
    choices: list[Row] = [
        {"work": work, "lengths": "articles", "system": name}
        for work, (_, *names) in systems.items()
        for name in names
    ]
    usual = [case for case in choices if not case["system"].endswith(UNUSUAL)]
    choices = usual + [case for case in choices if case not in usual and not setting.small]
    precision = "fp32" if setting.device == "cpu" else "bf16"

    def measure(case: Row) -> Row:
        compute = setting.compute(precision)
        if case["work"] == "re-ranking":
            makers = reranking.contestants(there & {"sentence_transformers"})
            work: Any = setting.work.reranking(
                case["lengths"], compute, 4 if setting.small else 20, 2048 if setting.small else 65536
            )
        else:
            makers = training.contestants(case["work"], there)
            work = setting.work.training(case["work"], case["lengths"], groups, steps, compute)
        chosen = {name: makers[name] for name in ("ours", case["system"])}
        with playing(chosen, work, PRELOAD) as players:
            turns = play(players, 1 if setting.small else 2)
        ours, theirs = turns["ours"], turns[case["system"]]
        difference = apart(case["work"], turns)
        tolerance = (SCORES if case["work"] == "re-ranking" else LOSSES)[precision]
        return {
            "ours": rate(ours, "wall"),
            "theirs": rate(theirs, "wall"),
            "ratio": ratio(ours, theirs, "wall").median,
            "apart": difference,
            "tolerance": tolerance,
            "passed": difference <= tolerance,
        }

    yield from cases(setting, choices, measure)


def apart(work: str, turns: dict[str, list[Turn]]) -> float:
    """Return how far others' first losses are from ours, relatively; or scores, in standard deviations of ours."""
    fact = "scores" if work == "re-ranking" else "losses"
    ours, theirs = (turns[name][0].facts[fact] for name in turns)
    if fact == "losses":
        return float(np.abs(np.divide(theirs, ours) - 1).max())
    if ours.keys() != theirs.keys():
        return float("inf")
    first = np.array([*ours.values()])
    return float(np.abs(first - [theirs[pair] for pair in ours]).max() / first.std())
