"""A Wikipedia of 36 articles, in the words of the tiny project: sections, See Also lists, redirects, links both ways.

Article i is about topic i % 12. It links i + 1 and i + 12 in its lead, i + 2 further down, and i - 12 in its lead where
it is the first article of its topic, else further down. So the articles of a topic link each other, and the lead of the
first links one that links back early and one that does so late: PHP has groups at every stage. See Also: i + 3.
"""

ARTICLES = 36
SECTIONS = ("History", "Description")


def title(number: int, words: list[str]) -> str:
    """Title of an article: the first two words of its topic, and which of the topic's articles it is."""
    return f"{words[0].title()} {words[1]} {'abc'[number // 12]}"


def dump(topic_words: list[list[str]]) -> str:
    """A pages-articles dump; `topic_words` are the words of the topics."""
    count = len(topic_words)
    titles = [title(number, topic_words[number % count]) for number in range(ARTICLES)]
    pages = [_page(n, titles[n], _wikitext(n, titles, topic_words[n % count])) for n in range(ARTICLES)]
    redirects = [
        f'<page><title>To {titles[n]}</title><ns>0</ns><id>{1000 + n}</id><redirect title="{titles[n]}" />'
        f"<revision><id>1</id><text>#REDIRECT [[{titles[n]}]]</text></revision></page>\n"
        for n in range(0, ARTICLES, 5)
    ]
    head = (
        "<mediawiki><siteinfo><dbname>enwiki</dbname><base>https://en.wikipedia.org/wiki/Main_Page</base>"
        '<case>first-letter</case><namespaces><namespace key="0" case="first-letter" /></namespaces></siteinfo>\n'
    )
    return head + "".join([*pages, *redirects]) + "</mediawiki>\n"


def _page(number: int, name: str, text: str) -> str:
    return (
        f"<page><title>{name}</title><ns>0</ns><id>{number + 1}</id><revision><id>1</id>"
        f"<text>{text}</text></revision></page>\n"
    )


def _wikitext(number: int, titles: list[str], words: list[str]) -> str:
    def link(step: int) -> str:
        target = (number + step) % ARTICLES
        return f"[[{'To ' if target % 5 == 0 else ''}{titles[target]}|{titles[target].lower()}]]"

    def prose(length: int, start: int) -> str:
        return " ".join(words[(start + i * (number + 1)) % 4] for i in range(length))

    back = link(-12)
    first = number < 12
    lead = f"{prose(4, 0)} {link(1)} {link(12)} {back if first else ''} {prose(9, 1)}."
    parts = [lead]
    for position, heading in enumerate(SECTIONS):
        links = f"{link(2)} {'' if first else back}" if position else ""
        parts.append(f"== {heading} ==\n{prose(12, position)} {links} {prose(8, position + 2)}.")
        parts += [f"=== {heading} {words[k]} ===\n{prose(10 + k, k)}." for k in (2, 3)]
    parts.append(f"== See also ==\n* {link(3)}")
    parts.append("== References ==\n* none")
    return "\n\n".join(parts)
