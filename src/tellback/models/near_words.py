"""Which known word a new one may be a slip of: "sqaure", "yelow", "redish".

Two words are near if one becomes the other by one slip: a letter added, left out, exchanged for
another, or changed places with its neighbour; words of seven letters and more, by two. Both must
have four letters and begin alike, because short words differ by little ("red", "read"), and few
slips are of the first letter. A word with "ish" at its end is near to the one without.
"""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST, LONG = 4, 7
"""Letters of words that may differ by one slip, and by two."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The first of the nearest known words; None if none is near.

    Examples
    --------
    >>> known = ["circle", "square", "red"]
    >>> [nearest(word, known) for word in ("sqaure", "read", "redish")]
    ['square', None, 'red']
    """
    if not word.isalpha():
        return None
    found, fewest = None, 3
    for other in known:
        slips = _slips(word, other)
        if slips < fewest:
            found, fewest = other, slips
    return found


def _slips(word: str, other: str) -> int:
    """The number of slips between two words; 3 if they are not near."""
    if word.endswith("ish") and word[:-3] in (other, other + other[-1:]) and len(other) > 2:
        return 1
    shortest = min(len(word), len(other))
    most = 0 if shortest < SHORTEST else 1 if shortest < LONG else 2
    if word[0] != other[0] or abs(len(word) - len(other)) > most or not other.isalpha():
        return 3
    slips = _distance(word, other)
    return slips if slips <= most else 3


def _distance(a: str, b: str) -> int:
    """Damerau and Levenshtein's distance of two words (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        now = [i]
        for j, other in enumerate(b, 1):
            fewest = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                fewest = min(fewest, before[j - 2] + 1)
            now.append(fewest)
        before, last = last, now
    return last[-1]
