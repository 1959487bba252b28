"""Characters that stand for structure while wikitext becomes plain text.

They are control characters, which no cleaned text holds (`irpretrain.foundation.characters`), so that text can be
searched and replaced with them inside: an anchor keeps its place whatever happens around it. The n-th ANCHOR belongs
to the n-th link; no step may remove one without its link.
"""

ANCHOR, ANCHOR_END = "\x01", "\x02"
# An apostrophe that is not part of bold or italics.
APOSTROPHE = "\x03"
# At the beginning of a line, followed by the level's digit: a heading.
HEADING = "\x04"
# A line break that does not make what follows the beginning of a line of wikitext.
BREAK = "\x05"
# Shown as nothing; keeps apart what stands on its sides, such as apostrophes on both sides of a tag.
NOTHING = "\x06"
# Stands for something left out that a reader may see, such as a template: punctuation around it is tidied.
DROPPED = "\x07"
# Around what is raised: <sup>.
RAISED, RAISED_END = "\x0e", "\x0f"
# Around what is lowered: <sub>.
LOWERED, LOWERED_END = "\x11", "\x12"
# Before a fraction: behind a digit a blank, for 5 1/2 is not 51/2.
FRACTION = "\x10"
# A bar and an equal sign that a template shows within another one's argument, which they do not cut.
BAR, EQUAL = "\x13", "\x14"

# White space that cleaned text may hold, other than line ends and the space.
SPACE_CHARACTERS = "\t\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
# The same and the space, for a regular expression's character class.
SPACES = " " + SPACE_CHARACTERS
