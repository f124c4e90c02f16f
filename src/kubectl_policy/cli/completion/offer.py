"""Candidates that are offered to a shell, and how the shell treats them.

The protocol is that of cobra's hidden command `__complete`. kubectl (`plugin_completion.go`) expects it of the program
`kubectl_complete-NAME` for its plugin NAME: a line for each candidate, with `<TAB>` and a description if it has one,
and last a line `:DIRECTIVE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# A word with its description, which may be empty.
Candidate: TypeAlias = tuple[str, str]
# Candidates of the first tier that has any with the prefix are offered.
Tiers: TypeAlias = "Sequence[Iterable[Candidate]]"
# The characters of candidates. Shells evaluate what they are given, some of them even when they only list it.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=[]")
_NO_SPACE, _NO_FILES, _EXTENSIONS, _DIRECTORIES = 2, 4, 8, 16
# After these characters the user types more of the same word.
_UNFINISHED: Final = ("/", "=")


class Offer(NamedTuple):
    """Candidates for the word under the cursor, with their descriptions, and cobra's directive for the shell."""

    candidates: Mapping[str, str]
    directive: int

    def text(self) -> str:
        """Return the lines of the protocol."""
        lines = [
            f"{word}\t{_printable(description)}" if description else word
            for word, description in self.candidates.items()
        ]
        return "".join(f"{line}\n" for line in (*lines, f":{self.directive}"))


NOTHING: Final = Offer({}, _NO_FILES)
FILES: Final = Offer({}, 0)
DIRECTORIES: Final = Offer({}, _DIRECTORIES)
MANIFESTS: Final = Offer(dict.fromkeys(("yaml", "yml", "json"), ""), _EXTENSIONS)


def offer(prefix: str, *tiers: Iterable[Candidate]) -> Offer:
    """Offer the candidates with a prefix of the first tier that has any; without any, neither words nor files.

    A candidate with other characters than plain ones is dropped, so that no name of an object is a command to a shell.
    """
    for tier in tiers:
        candidates = {
            word: description
            for word, description in tier
            if word and word.startswith(prefix) and _PLAIN.issuperset(word)
        }
        if candidates:
            is_unfinished = all(word.endswith(_UNFINISHED) for word in candidates)
            return Offer(candidates, _NO_FILES | (_NO_SPACE if is_unfinished else 0))
    return NOTHING


def offer_in_list(text: str, *tiers: Iterable[Candidate]) -> Offer:
    """Offer candidates for the last word of a list with commas, except those that are in the list."""
    before, comma, _ = text.rpartition(",")
    listed = before.split(",")
    lists = (
        [(f"{before}{comma}{word}", description) for word, description in tier if word not in listed] for tier in tiers
    )
    return offer(text, *lists)


def plain_tier(names: Iterable[str]) -> list[Candidate]:
    """Return names as candidates, sorted, except those that would be options."""
    return [(name, "") for name in sorted(names) if not name.startswith("-")]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
