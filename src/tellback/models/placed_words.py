"""Words with their places: "the red ball next to the blue box" is not "the blue ball ... red box".

A sentence is read clause by clause. A joining word, such as "and" or "then", or a mark begins a
new clause. Clauses are numbered in the order in which things happen: "A after B" is B, then A.
Within a clause, a linking word, such as "to" or "past", begins a new part.

A sentence without such words has one clause and one part, whatever its language.
"""

from __future__ import annotations

from collections.abc import Sequence

JOINING = frozenset({"after", "afterwards", "and", "before", "then"} | set(",.;:!?"))

LINKING = frozenset(
    {"above", "across", "against", "along", "around", "at", "behind", "below", "beside", "besides"}
    | {"between", "beyond", "by", "from", "in", "inside", "into", "near", "next", "of", "off", "on"}
    | {"onto", "out", "outside", "over", "past", "through", "to", "toward", "towards", "under"}
    | {"underneath", "via", "with", "within", "without"}
)


def placed(sentence: Sequence[str]) -> list[str]:
    """The words of a sentence, each with the number of its clause and the link before it.

    Examples
    --------
    >>> placed(["put", "the", "ball", "next", "to", "the", "box"])
    ['put_0', 'the_0', 'ball_0', 'next_0', 'to_0next', 'the_0next', 'box_0next']
    """
    clauses, links = _parsed(sentence)
    return [
        f"{word}_{clause}{link}"
        for word, clause, link in zip(sentence, clauses, links, strict=True)
    ]


def places(sentence: Sequence[str]) -> list[tuple[str, str, str]]:
    """The places of each word: its clause, the link before it, and both.

    Examples
    --------
    >>> places(["wave", "after", "you", "turn", "to", "me"])[0::5]
    [('1', '-', '1-'), ('0', 'to', '0to')]
    """
    return [
        (str(clause), link or "-", f"{clause}{link or '-'}")
        for clause, link in zip(*_parsed(sentence), strict=True)
    ]


def _parsed(sentence: Sequence[str]) -> tuple[list[int], list[str]]:
    """The number of each word's clause, and the link before the word in its clause.

    Of linking words in a row, such as "next to", the first counts.
    """
    clauses: list[int] = []
    links: list[str] = []
    clause, link = 0, ""
    empty, linked = True, False  # has the clause no words; was the last word a linking one
    turn = 0  # the first clause that happens before those in front of it
    for word in sentence:
        clauses.append(clause)
        links.append(link)
        if word in JOINING:
            clause, link, empty = clause + (not empty), "", True
            if word == "after" and not turn:
                turn = clause
        elif word in LINKING:
            link = link if linked else word
        else:
            empty = False
        linked = word in LINKING
    if turn:
        later = max(clauses) + 1 - turn
        clauses = [one + later if one < turn else one - turn for one in clauses]
    return clauses, links
