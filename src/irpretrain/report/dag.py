"""The workflow's rule graph as an SVG picture, drawn here: no user machine is asked for graphviz.

A layered drawing after Sugiyama, Tagawa and Toda ("Methods for visual understanding of hierarchical system
structures", IEEE Transactions on Systems, Man, and Cybernetics, 1981): rules are put in layers, long edges get
way points, layers are ordered by barycentres, and places are the least-squares fit to the neighbours' places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path

from irpretrain.atomic import write_text
from irpretrain.errors import InputError

NODE = re.compile(r'^\s*(?:id)?(\d+)\s*\[(?:label\s*=\s*)?"?([^",\]]+?)"?\s*[,\]]', re.MULTILINE)
EDGE = re.compile(r"^\s*(?:id)?(\d+)\s*--?>\s*(?:id)?(\d+)", re.MULTILINE)

FONT = 13.0
LETTER_WIDTH = 0.58 * FONT
PADDING, NODE_HEIGHT = 14.0, 30.0
GAP, LAYER_GAP, MARGIN = 18.0, 34.0, 8.0
WAY_POINT_WIDTH = 6.0
SWEEPS = 24

STYLE = (
    ".dag-node rect{fill:#eef3fa;stroke:#34608f;stroke-width:1.2}"
    f".dag-node text{{font:{FONT:g}px system-ui,sans-serif;fill:#16263a;text-anchor:middle;dominant-baseline:central}}"
    ".dag-edge{fill:none;stroke:#7d8fa5;stroke-width:1.3}.dag-head{fill:#7d8fa5}"
)


@dataclass
class Graph:
    """Rules and their direct dependencies: `edges` lead from the rule that makes a file to the one that reads it."""

    labels: dict[int, str]
    edges: set[tuple[int, int]] = field(default_factory=set)

    def after(self, node: int) -> list[int]:
        """Nodes that `node` leads to, sorted."""
        return sorted(b for a, b in self.edges if a == node)

    def before(self, node: int) -> list[int]:
        """Nodes that lead to `node`, sorted."""
        return sorted(a for a, b in self.edges if b == node)


def write_dag(
    rulegraph: str | Path, output: str | Path, leave_out: Iterable[str] = ("all",)
) -> dict[str, int]:
    """Draw what `snakemake --rulegraph` printed (dot or mermaid) and write it as SVG.

    Args:
        rulegraph: file with that text.
        output: the SVG.
        leave_out: rules that only collect files.

    Returns:
        Numbers of rules and of dependencies drawn.
    """
    text = Path(rulegraph).read_text(encoding="utf-8")
    graph = parse(text)
    if not graph.labels:
        raise InputError(rulegraph, "no rule graph in it", remedy="Write it with: snakemake --rulegraph")
    graph = reduced(without(graph, set(leave_out)))
    write_text(output, draw(graph))
    return {"rules": len(graph.labels), "dependencies": len(graph.edges)}


def parse(text: str) -> Graph:
    """Read a graph in dot or mermaid notation; lines of other kinds are passed over."""
    labels = {int(number): " ".join(label.replace("_", " ").split()) for number, label in NODE.findall(text)}
    edges = {(int(a), int(b)) for a, b in EDGE.findall(text)}
    return Graph(labels, {(a, b) for a, b in edges if a in labels and b in labels and a != b})


def without(graph: Graph, names: set[str]) -> Graph:
    """Return the graph without the rules called `names`."""
    kept = {node: label for node, label in graph.labels.items() if label.replace(" ", "_") not in names}
    return Graph(kept, {(a, b) for a, b in graph.edges if a in kept and b in kept})


def reduced(graph: Graph) -> Graph:
    """Return the transitive reduction: an edge that a longer path implies is not drawn."""
    reach: dict[int, set[int]] = {}
    for node in reversed(_topological(graph)):
        reach[node] = {node}.union(*(reach[b] for b in graph.after(node)))
    implied = {(a, b) for a, b in graph.edges if any(b in reach[c] for c in graph.after(a) if c != b)}
    return Graph(graph.labels, graph.edges - implied)


def _topological(graph: Graph) -> list[int]:
    waiting = {node: len(graph.before(node)) for node in sorted(graph.labels)}
    order: list[int] = []
    ready = [node for node, count in waiting.items() if count == 0]
    while ready:
        node = ready.pop(0)
        order.append(node)
        for other in graph.after(node):
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    if len(order) < len(graph.labels):
        raise ValueError("the rule graph has a cycle")
    return order


def layers_of(graph: Graph) -> dict[int, int]:
    """Return each node's layer: below all that it reads, and sources just above their first reader."""
    layer: dict[int, int] = {}
    for node in _topological(graph):
        layer[node] = max((layer[a] + 1 for a in graph.before(node)), default=0)
    for node in graph.labels:
        if not graph.before(node) and graph.after(node):
            layer[node] = min(layer[b] for b in graph.after(node)) - 1
    return layer


class _Layout:
    """Layers of nodes and way points (negative numbers), their order, and their places."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        layer = layers_of(graph)
        self.layers: list[list[int]] = [[] for _ in range(max(layer.values(), default=0) + 1)]
        for node in sorted(graph.labels):
            self.layers[layer[node]].append(node)
        self.paths: dict[tuple[int, int], list[int]] = {}
        self.up: dict[int, list[int]] = {node: [] for node in graph.labels}
        self.down: dict[int, list[int]] = {node: [] for node in graph.labels}
        for a, b in sorted(graph.edges):
            self._add_path(a, b, layer)
        self._order()
        self.x = self._places()

    def _add_path(self, a: int, b: int, layer: dict[int, int]) -> None:
        path = [a]
        for depth in range(layer[a] + 1, layer[b]):
            point = -1 - sum(1 for nodes in self.layers for n in nodes if n < 0)
            self.layers[depth].append(point)
            self.up[point], self.down[point] = [], []
            path.append(point)
        self.paths[a, b] = [*path, b]
        for above, below in zip(path, [*path[1:], b], strict=True):
            self.down[above].append(below)
            self.up[below].append(above)

    def _order(self) -> None:
        best, fewest = [list(nodes) for nodes in self.layers], self._crossings()
        for sweep in range(SWEEPS):
            downwards = sweep % 2 == 0
            for depth in range(len(self.layers)) if downwards else reversed(range(len(self.layers))):
                self._sort_layer(depth, self.up if downwards else self.down)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(nodes) for nodes in self.layers], crossings
        self.layers = best

    def _sort_layer(self, depth: int, neighbours: dict[int, list[int]]) -> None:
        place = {node: i / max(1, len(nodes)) for nodes in self.layers for i, node in enumerate(nodes)}
        centre = {
            node: sum(place[n] for n in neighbours[node]) / len(neighbours[node])
            if neighbours[node]
            else place[node]
            for node in self.layers[depth]
        }
        self.layers[depth].sort(key=lambda node: centre[node])

    def _crossings(self) -> int:
        count = 0
        for upper, lower in pairwise(self.layers):
            place = {node: i for i, node in enumerate(lower)}
            ends = [place[b] for a in upper for b in sorted(self.down[a], key=place.__getitem__)]
            count += sum(1 for i, end in enumerate(ends) for other in ends[:i] if other > end)
        return count

    def width(self, node: int) -> float:
        return WAY_POINT_WIDTH if node < 0 else len(self.graph.labels[node]) * LETTER_WIDTH + 2 * PADDING

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
                wanted = [self._wanted(node, x) for node in nodes]
                apart = [(self.width(a) + self.width(b)) / 2 + GAP for a, b in pairwise(nodes)]
                x.update(zip(nodes, spread(wanted, apart), strict=True))
        return x

    def _wanted(self, node: int, x: dict[int, float]) -> float:
        """The place that a node would like: the weighted mean of its neighbours' places."""
        around = self.up[node] + self.down[node]
        total = sum(_pull(node, other) for other in around)
        return sum(_pull(node, other) * x[other] for other in around) / total if around else x[node]


def _pull(a: int, b: int) -> float:
    """How strongly two neighbours want the same place: way points most, so that long edges run straight down."""
    return (1.0, 2.0, 8.0)[(a < 0) + (b < 0)]


def spread(wanted: list[float], apart: list[float]) -> list[float]:
    """Return the places nearest to `wanted` (least squares) that keep their order and the distances `apart`.

    Pool-adjacent-violators after the distances are taken off.
    """
    offsets = [0.0]
    for distance in apart:
        offsets.append(offsets[-1] + distance)
    blocks: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        mean, size = value - offset, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    flat = [mean for mean, size in blocks for _ in range(size)]
    return [value + offset for value, offset in zip(flat, offsets, strict=True)]


def draw(graph: Graph) -> str:
    """Return the SVG of a graph."""
    layout = _Layout(graph)
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
    parts += [_edge([(layout.x[n] - left, y[n], n >= 0) for n in path]) for path in layout.paths.values()]
    for node, label in sorted(graph.labels.items()):
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
