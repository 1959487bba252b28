"""Each random stream of the library is named by the seed, a stage, and what it is drawn for.

Different names have different draws (test_randomness.py). A stream that the code opens needs a line in `STREAMS`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import irpretrain

ROOT = Path(irpretrain.__file__).parent
OPENERS = ("generator", "integer_seed", "stream_key", "stream_keys")

# Stage → what each stream of it is drawn for, as the code writes it.
STREAMS = {
    "rank-sample": [""],
    "diagnosis": ["batch.document_ids"],
    "diagnosis-documents": ["batch.document_ids"],
    "predictor-negatives": ["names"],
    "negative-queries": ["query_names.to_pylist()"],
    "pseudo-queries": ["document_ids.to_pylist()"],
    "predictor-split": [""],
    "predictor-orientation": [""],
    "predictor-trees": ["f'{options.model}/{fold}'"],
    "predictor-bootstrap": [""],
    "of downstream questions": ["rows[position][ID_COLUMN]"],
    "folds": ["query"],
    "sample-queries": ["query"],
    "few-shot": ["query"],
    "random-order": ["query"],
    "randomisation-test": ["name"],
    "bootstrap": ["name"],
    "bootstrap seeds": ["name"],
    "initialise": ["'word vectors'", "name", "name"],
    "ares": ["batch.document_ids"],
    "rop": ["rows.column('document_id').to_pylist()"],
    "of an objective": ["identifier"],
    "word-vectors": ["", "", "name"],
    "data order": ["f'judged/{epoch}'", "f'term weights/{epoch}'", "f'{self._stream}/{epoch}'"],
    "negatives": ["f'{query.identifier}/{epoch}'"],
    "training-order": [""],
    "masking": ["f'{self._stream}/{step}'"],
    "probe": ["task"],
    "dropout": ["f'{step}/{task_index}/{batch_number}'", "str(step)"],
}
STAGES_OF_VARIABLES = {"stage": "of downstream questions", "objective": "of an objective"}


def opened() -> Iterator[tuple[str, str, str]]:
    """Yield seed, stage and what is drawn for, of every place of the library that opens a stream."""
    for path in sorted(ROOT.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if path.name == "randomness.py" or not any(name in source for name in OPENERS):
            continue
        tree = ast.parse(source)
        constants = dict(module_constants(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in OPENERS:
                seed, stage, drawn_for = [*map(ast.unparse, node.args), ""][:3]
                name = STAGES_OF_VARIABLES.get(stage) or constants.get(stage) or ast.literal_eval(stage)
                yield seed, name, drawn_for


def module_constants(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield name and value of the constants of a module that are texts."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            [target] = node.targets
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for name, value in pairs:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield ast.unparse(name), value.value


def test_every_stream_of_the_library_is_listed_with_what_its_name_is_made_of() -> None:
    drawn_for = dict[str, list[str]]()
    for _, stage, identifier in opened():
        drawn_for.setdefault(stage, []).append(identifier)
    assert {stage: sorted(identifiers) for stage, identifiers in drawn_for.items()} == STREAMS


def test_every_stream_begins_with_the_seed() -> None:
    random_order = "1"  # what a random order of the candidates is worth does not depend on the models' seed
    assert {seed for seed, *_ in opened()} == {"seed", "self.seed", "self._seed", "shard.seed", random_order}


def test_streams_of_two_places_never_share_a_name() -> None:
    """Draws of one name would be the same draws: seeds of a bootstrap, say, would go with its queries."""
    names = [(stage, identifier) for _, stage, identifier in opened()]
    # An encoder and a ranker over words have no parameters of one name. Word vectors begin with and are trained with
    # draws of one name; another name would alter every result.
    assert {name for name in names if names.count(name) > 1} == {("initialise", "name"), ("word-vectors", "")}
