"""Small look-alikes of what configs/legal-paper.yaml reads: LeCaRD, CAIL-LCR, Chinese Wikipedia and a Chinese BERT.

All is made by rule. The facts of a case are a walk over a ring of 37 characters. The step grows by one after every 37
characters, so all pairs of neighbours differ while it is below 37. Cases share pairs where they have steps in common.
"""

import bz2
import json
from pathlib import Path
from typing import Any

import yaml

CHARACTERS = "被告人张某盗窃现金手机于年月日在店内将其物品价值鉴定为元案发后自首赔偿谅解"
ROUND = len(CHARACTERS)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SEPARATOR = "。"


def facts(step: int, length: int) -> str:
    """The facts of a case, of so many characters."""
    position, text = 0, ""
    for number in range(length):
        text += CHARACTERS[position % ROUND]
        position += step + number // ROUND
    return text


QUERIES = {
    "206": "张某在店内盗窃手机。",
    "5156": facts(5, 255),
    "-991": facts(11, 300),
    "1325": facts(1, 1200),
}
"""One short, one as long as a query may be, one longer, one of more different pairs than Lucene takes by itself."""
CASES = {
    "7": ("王某盗窃案", "盗窃手机。"),
    "38633": ("张某盗窃案", facts(5, 700)),
    "501": ("张某赔偿案", facts(11, 30)),
    "12": ("张某自首案", facts(1, 30)),
    "40": ("张某物品案", facts(5, 30)),
    "41": ("张某手机案", facts(11, 600)),
    "42": ("张某现金案", facts(20, 30)),
}
CANDIDATES = {
    "206": ["7", "501", "42", "38633"],
    "5156": ["38633", "40", "12"],
    "-991": ["41", "501", "42", "38633"],
    "1325": ["12", "40", "41", "42"],
}
LABELS = {
    "206": {"7": 3, "501": 0, "42": 1},
    "5156": {"38633": 2, "12": 0},
    "-991": {"41": 3, "501": 1, "42": 0},
    "1325": {"12": 2, "42": 0},
}
"""As in LeCaRD, some candidates have no label."""
FILES = sum(map(len, CANDIDATES.values()))


def text_of(case: str) -> str:
    """A case as configs/legal-paper.yaml has it read: its name and the judgement."""
    return SEPARATOR.join(CASES[case])


def write_cases(folder: Path) -> None:
    """Write queries, candidates and labels as LeCaRD's authors give them; CAIL-LCR has the same form."""
    folder.mkdir(parents=True)
    with open(folder / "query.json", "w", encoding="utf-8") as file:
        for query, text in QUERIES.items():
            line = {"path": f"ms/{query}.json", "ridx": int(query), "q": text, "crime": ["盗窃罪"]}
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    for query, cases in CANDIDATES.items():
        (folder / "candidates" / query).mkdir(parents=True)
        for case in cases:
            name, judgement = CASES[case]
            content = {
                "ajId": f"id-{case}",
                "ajName": name,
                "ajjbqk": judgement[:20],
                "pjjg": "判决。",
                "qw": judgement,
            }
            path = folder / "candidates" / query / f"{case}.json"
            path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    (folder / "label_top30_dict.json").write_text(json.dumps(LABELS), encoding="utf-8")


CRIMES = ["盗窃", "抢劫", "诈骗", "伤害", "杀人", "放火", "贩毒", "行贿"]
TRADITIONAL = {"抢": "搶", "诈骗": "詐騙", "伤": "傷", "杀": "殺", "贩": "販", "贿": "賄", "窃": "竊"}
HEAD = (
    "<mediawiki><siteinfo><dbname>zhwiki</dbname><base>https://zh.wikipedia.org/wiki/Wikipedia</base>"
    '<case>first-letter</case><namespaces><namespace key="0" case="first-letter" /></namespaces></siteinfo>\n'
)


def traditional(text: str) -> str:
    """The same text in traditional characters."""
    for simplified, other in TRADITIONAL.items():
        text = text.replace(simplified, other)
    return text


def write_dump(path: Path) -> None:
    """Write a dump of eight articles. See Also names the next article but one, in every second article by the
    traditional title, which redirects."""
    pages = []
    for number, crime in enumerate(CRIMES):
        pages.append(_page(number + 1, f"{crime}罪", wikitext(number)))
        if traditional(crime) != crime:
            redirect = f"#重定向 [[{crime}罪]]"
            pages.append(
                _page(number + 101, f"{traditional(crime)}罪", redirect, f'<redirect title="{crime}罪" />')
            )
    path.write_bytes(bz2.compress((HEAD + "".join(pages) + "</mediawiki>\n").encode()))


def wikitext(number: int) -> str:
    """An article: two sections, the first with two of its own, See Also in one of the two scripts, references."""
    crime, related = CRIMES[number], f"{CRIMES[(number + 2) % len(CRIMES)]}罪"
    heading = "参见"
    if number % 2:
        heading, related = "參見", traditional(related)
    return (
        f"'''{crime}罪'''是-{{zh-hans:计算机;zh-hant:電腦}}-列出的-{{罪名}}-。\n"
        f"== 构成 ==\n{crime}有要件。\n"
        f"=== 主体 ===\n{crime}的人。\n"
        f"=== -{{zh-hant:客體;zh-hans:客体}}- ===\n{crime}的物。\n"
        f"== 处罚 ==\n{crime}处以罚金。\n"
        f"== {heading} ==\n* [[{related}]]\n"
        "== 参考文献 ==\n* 刑法"
    )


def _page(number: int, title: str, text: str, extra: str = "") -> str:
    return (
        f"<page><title>{title}</title><ns>0</ns><id>{number}</id>{extra}<revision><id>1</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def vocabulary() -> list[str]:
    """A piece for each character, as Chinese BERT has it."""
    texts = [*QUERIES.values(), *map(text_of, CASES), *map(wikitext, range(len(CRIMES)))]
    return SPECIAL + sorted(set("".join(texts)) - set(" \n"))


def write_encoder(folder: Path) -> None:
    """Write a random BERT of 2 layers x 32 and 512 positions, whose scores differ visibly."""
    import torch
    from transformers import BertConfig, BertModel

    pieces = vocabulary()
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(pieces), initializer_range=0.2, **shape)).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")


def write_data(folder: Path) -> None:
    """Write all data where the catalogue has them."""
    write_cases(folder / "lecard")
    write_cases(folder / "cail-lcr")
    write_dump(folder / "zhwiki-pages-articles.xml.bz2")
    write_encoder(folder / "chinese-bert-wwm")


def count_look_alike(entry: Path) -> None:
    """Write into a copy of a catalogue's entry how many queries and candidates the look-alike has."""
    content = yaml.safe_load(entry.read_text(encoding="utf-8"))
    name = entry.stem
    content["corpora"][name]["expected"] = content["first_stages"]["given"]["runs"][name]["expected"] = FILES
    content["datasets"][name]["queries"]["expected"] = len(QUERIES)
    entry.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")


def overlay() -> dict[str, Any]:
    """What lies over configs/legal-paper.yaml: few steps, few folds, a CPU.

    The experiment on CAIL-LCR belongs to a paper that the report does not show: its jobs run only as targets.
    """
    small = {"compute": {"precision": "fp32", "gpus": 0, "threads": 1}}
    return {
        "corpora": {"wikipedia-zh": {"shards": 1}},
        "graph": {"threads": 1, "memory_mb": 500},
        "encoder": {"vocabulary_size": None},
        "pretraining": small,
        "models": {
            "wikiformer": {
                "training": {"steps": 4, "batch_groups": 2, "accumulation": 1, "optimiser": {"later_from": 2}}
            }
        },
        "datasets": {"lecard": {"folds": 3}, "cail-lcr": {"folds": 3}},
        "retrieval": {"threads": 1, "memory_mb": 256},
        "reranking": small,
        "finetuning": {**small, "keep_models": True},
        "experiments": {"lecard": {"models": ["control", "wikiformer"]}, "cail-lcr": {"papers": ["prop"]}},
    }
