"""What mkdocs.yml cannot say: pages outside docs/, links to files that are no pages, anchors as hosts make, formulas.

Every page reads well on a host of repositories, where links lead to any file. On the site, a link to a file that is no
page stays as text.
"""

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "results/README.md")
"""Pages that lie outside docs/, at the same place on the site."""
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!#|[a-z]+:)([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)


def anchor(heading: str, separator: str = "-") -> str:
    """The anchor that hosts of repositories give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def on_config(config: Any) -> Any:
    """Set the version, the anchors and the formulas; a function cannot be given in YAML."""
    version = re.search(
        r'^__version__ = "(.+)"', (ROOT / "src/irpretrain/foundation/__init__.py").read_text(), re.MULTILINE
    )
    config.site_name = f"{config.site_name} {version[1]}"
    config.mdx_configs["toc"]["slugify"] = anchor
    fence = {"name": "math", "class": "formula", "format": as_mathml}
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [fence]}
    return config


def as_mathml(latex: str, *_: Any, **__: Any) -> str:
    """A formula as browsers typeset it, without a script."""
    return f'<div class="formula">{convert(latex, display="block")}</div>'


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside docs/, and notebooks."""
    for place in OUTSIDE:
        files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    for notebook in (ROOT / "docs").rglob("*.ipynb"):
        place = notebook.relative_to(ROOT / "docs").as_posix()
        files.append(File.generated(config, place.replace(".ipynb", ".md"), content=as_page(notebook)))
    return files


def as_page(notebook: Path) -> str:
    """A notebook as Markdown, with its outputs and where to get it."""
    texts = [f"[Download this notebook]({notebook.name})"]
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        texts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", []):
            if "text" in output:
                texts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            else:
                texts.append(f"![what the cell draws](data:image/png;base64,{output['data']['image/png']})")
    return "\n\n".join([texts[1], texts[0], *texts[2:]])


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point the links of a page to where the pages lie on the site."""
    place = page.file.src_uri
    folder = posixpath.dirname(place if place in OUTSIDE else f"docs/{place}")

    def rewritten(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        on_site = target if target in OUTSIDE else target.removeprefix("docs/")
        if page.file.src_uri != on_site.replace(".ipynb", ".md"):
            on_site = on_site.replace(".ipynb", ".md")
        if files.get_file_from_path(on_site) is None:
            return link[1] if (ROOT / target).exists() else link[0]  # mkdocs tells what is broken
        return f"[{link[1]}]({posixpath.relpath(on_site, posixpath.dirname(place) or '.')}{link[3] or ''})"

    pictures = markdown.replace("](docs/images/", "](images/")
    parts = FENCE.split(pictures)
    return "".join(part if part.lstrip().startswith("```") else LINK.sub(rewritten, part) for part in parts)
