"""The workflow's rule graph as an SVG picture: networkx thins it out and puts rules in layers; no user machine is asked
for graphviz.

Long edges get way points, layers are ordered by barycentres, and places are the least-squares fit to the neighbours'
places (Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", IEEE
Transactions on Systems, Man, and Cybernetics, 1981).
"""

import re
from collections.abc import Collection
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path

import networkx as nx

from irpretrain.atomic import write_text
from irpretrain.errors import InputError

NODE = re.compile(r'^\s*(\d+)\s*\[label\s*=\s*"([^"]+)"', re.MULTILINE)
EDGE = re.compile(r"^\s*(\d+)\s*->\s*(\d+)", re.MULTILINE)

FONT = 13.0
LETTER_WIDTH = 0.58 * FONT
PADDING, NODE_HEIGHT = 14.0, 30.0
GAP, LAYER_GAP, MARGIN = 18.0, 34.0, 8.0
WAY_POINT_WIDTH = 6.0
SWEEPS = 24
COLLECTING = ("all",)
"""Rules that only collect files, which the picture leaves out."""

STYLE = (
    ".dag-node rect{fill:#eef3fa;stroke:#34608f;stroke-width:1.2}"
    f".dag-node text{{font:{FONT:g}px system-ui,sans-serif;fill:#16263a;text-anchor:middle;dominant-baseline:central}}"
    ".dag-edge{fill:none;stroke:#7d8fa5;stroke-width:1.3}.dag-head{fill:#7d8fa5}"
)


def write_dag(rulegraph: str | Path, output: str | Path) -> dict[str, int]:
    """Draw what `snakemake --rulegraph` printed into the file `rulegraph`, and write it as SVG."""
    graph, labels = parse(Path(rulegraph).read_text(encoding="utf-8"), COLLECTING)
    if not labels:
        raise InputError(rulegraph, "no rule graph in it", remedy="Write it with: snakemake --rulegraph")
    reduced = nx.transitive_reduction(graph)
    write_text(output, draw(reduced, labels))
    return {"rules": len(labels), "dependencies": reduced.number_of_edges()}


def parse(text: str, leave_out: Collection[str] = ()) -> tuple[nx.DiGraph, dict[int, str]]:
    """Return a graph in dot's notation and its nodes' labels, without the rules called `leave_out`.

    Edges lead from the rule that makes a file to the one that reads it. Lines of other kinds are passed over.
    """
    rules = {int(number): label for number, label in NODE.findall(text) if label not in leave_out}
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(rules))
    edges = {(int(a), int(b)) for a, b in EDGE.findall(text)}
    graph.add_edges_from((a, b) for a, b in edges if a in rules and b in rules and a != b)
    return graph, {number: " ".join(label.replace("_", " ").split()) for number, label in rules.items()}


def layers_of(graph: nx.DiGraph) -> dict[int, int]:
    """Return each node's layer: below all that it reads, and sources just above their first reader."""
    layer = {node: depth for depth, nodes in enumerate(nx.topological_generations(graph)) for node in nodes}
    sources = [node for node in graph if graph.out_degree(node) and not graph.in_degree(node)]
    return layer | {node: min(layer[reader] for reader in graph.successors(node)) - 1 for node in sources}


class _Layout:
    """Layers of nodes and way points (negative numbers), their order, and their places."""

    def __init__(self, graph: nx.DiGraph, labels: dict[int, str]) -> None:
        self.labels, layer = labels, layers_of(graph)
        self.layers: list[list[int]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
        for node in sorted(graph):
            self.layers[layer[node]].append(node)
        self.lines = nx.DiGraph()
        self.lines.add_nodes_from(sorted(graph))
        self.paths: list[list[int]] = []
        points = 0
        for a, b in sorted(graph.edges):
            between = [-1 - points - number for number in range(layer[b] - layer[a] - 1)]
            points += len(between)
            for depth, point in enumerate(between, layer[a] + 1):
                self.layers[depth].append(point)
            self.paths.append([a, *between, b])
            nx.add_path(self.lines, self.paths[-1])
        self._order()
        self.x = self._places()

    def _order(self) -> None:
        best, fewest = [list(nodes) for nodes in self.layers], self._crossings()
        for sweep in range(SWEEPS):
            downwards = sweep % 2 == 0
            neighbours = self.lines.predecessors if downwards else self.lines.successors
            for nodes in self.layers if downwards else self.layers[::-1]:
                place = {node: i / max(1, len(row)) for row in self.layers for i, node in enumerate(row)}
                centre = {node: _mean([place[n] for n in neighbours(node)], place[node]) for node in nodes}
                nodes.sort(key=centre.__getitem__)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(nodes) for nodes in self.layers], crossings
        self.layers = best

    def _crossings(self) -> int:
        count = 0
        for upper, lower in pairwise(self.layers):
            place = {node: i for i, node in enumerate(lower)}
            ends = [end for a in upper for end in sorted(place[b] for b in self.lines.successors(a))]
            count += sum(1 for i, end in enumerate(ends) for other in ends[:i] if other > end)
        return count

    def width(self, node: int) -> float:
        return WAY_POINT_WIDTH if node < 0 else len(self.labels[node]) * LETTER_WIDTH + 2 * PADDING

    def _places(self) -> dict[int, float]:
        x: dict[int, float] = {}
        for nodes in self.layers:
            total = sum(self.width(n) for n in nodes) + GAP * (len(nodes) - 1)
            cursor = -total / 2
            for node in nodes:
                x[node] = cursor + self.width(node) / 2
                cursor += self.width(node) + GAP
        for sweep in range(SWEEPS):
            for nodes in self.layers if sweep % 2 == 0 else self.layers[::-1]:
                targets = [self._wanted(node, x) for node in nodes]
                apart = [(self.width(a) + self.width(b)) / 2 + GAP for a, b in pairwise(nodes)]
                x.update(zip(nodes, spread(targets, apart), strict=True))
        return x

    def _wanted(self, node: int, x: dict[int, float]) -> float:
        """The place that a node would like: the mean of its neighbours' places. Way points pull each other most: long
        edges run straight down."""
        around = [*self.lines.predecessors(node), *self.lines.successors(node)]
        pulls = [(1.0, 2.0, 8.0)[(node < 0) + (other < 0)] for other in around]
        total = sum(pulls)
        return sum(p * x[other] for p, other in zip(pulls, around, strict=True)) / total if total else x[node]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def spread(targets: list[float], apart: list[float]) -> list[float]:
    """Return the places nearest to `targets` (least squares) that keep their order and the distances `apart`."""
    from scipy.optimize import isotonic_regression

    offsets = [0.0, *accumulate(apart)]
    flat = isotonic_regression([value - offset for value, offset in zip(targets, offsets, strict=True)]).x
    return [float(value) + offset for value, offset in zip(flat, offsets, strict=True)]


def draw(graph: nx.DiGraph, labels: dict[int, str]) -> str:
    """Return the SVG of a graph."""
    layout = _Layout(graph, labels)
    left = min(layout.x[n] - layout.width(n) / 2 for n in layout.x) - MARGIN
    right = max(layout.x[n] + layout.width(n) / 2 for n in layout.x) + MARGIN
    y = {n: MARGIN + d * (NODE_HEIGHT + LAYER_GAP) for d, nodes in enumerate(layout.layers) for n in nodes}
    height = 2 * MARGIN + len(layout.layers) * (NODE_HEIGHT + LAYER_GAP) - LAYER_GAP
    width = right - left
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="Rules of the workflow and what each is made from">',
        f"<style>{STYLE}</style>",
    ]
    parts += [_edge([(layout.x[n] - left, y[n], n >= 0) for n in path]) for path in layout.paths]
    for node, label in sorted(labels.items()):
        centre, wide = layout.x[node] - left, layout.width(node)
        parts.append(
            f'<g class="dag-node"><rect x="{centre - wide / 2:.1f}" y="{y[node]:.1f}" width="{wide:.1f}" '
            f'height="{NODE_HEIGHT:.0f}" rx="7"/><text x="{centre:.1f}" y="{y[node] + NODE_HEIGHT / 2:.1f}">'
            f"{escape(label)}</text></g>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _edge(points: list[tuple[float, float, bool]]) -> str:
    """A smooth line from the bottom of the first box through the way points to the top of the last, with a head."""
    x, y = points[0][0], points[0][1] + NODE_HEIGHT
    path = f"M{x:.1f} {y:.1f}"
    for place, (to_x, to_y, _) in enumerate(points[1:], 1):
        last = place == len(points) - 1
        end = to_y - (5 if last else 0)
        bend = (end - y) / 2
        path += f"C{x:.1f} {y + bend:.1f} {to_x:.1f} {end - bend:.1f} {to_x:.1f} {end:.1f}"
        x, y = to_x, end
        if not last:
            y = to_y + NODE_HEIGHT
            path += f"L{x:.1f} {y:.1f}"
    head = f"M{x - 4:.1f} {y:.1f}L{x + 4:.1f} {y:.1f}L{x:.1f} {y + 5:.1f}Z"
    return f'<path class="dag-edge" d="{path}"/><path class="dag-head" d="{head}"/>'
