"""Candidates that are offered to a shell, and how the shell treats them.

The protocol is that of cobra's hidden command `__complete`. kubectl (`plugin_completion.go`) expects it of the program
`kubectl_complete-NAME` for its plugin NAME: a line for each candidate, with `<TAB>` and a description if it has one,
and last a line `:DIRECTIVE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

# A text with its description, which may be empty.
Candidate: TypeAlias = tuple[str, str]
# Candidates of the first tier that has any with the prefix are offered.
Tiers: TypeAlias = "Sequence[Iterable[Candidate]]"
# The characters of candidates. Shells evaluate what they are given, some of them even when they only list it.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=[]")
_NO_SPACE, _NO_FILES, _EXTENSIONS, _DIRECTORIES = 2, 4, 8, 16
# After these characters the user types more of the same argument.
_UNFINISHED: Final = ("/", "=")


class Offer(NamedTuple):
    """Candidates for the text under the cursor, with their descriptions, and cobra's directive for the shell."""

    candidates: Mapping[str, str]
    directive: int

    def text(self) -> str:
        """Return the lines of the protocol."""
        lines = [
            f"{candidate}\t{_printable(description)}" if description else candidate
            for candidate, description in self.candidates.items()
        ]
        return "".join(f"{line}\n" for line in (*lines, f":{self.directive}"))


NOTHING: Final = Offer({}, _NO_FILES)
FILES: Final = Offer({}, 0)
DIRECTORIES: Final = Offer({}, _DIRECTORIES)
MANIFESTS: Final = Offer(dict.fromkeys(("yaml", "yml", "json"), ""), _EXTENSIONS)


def offer(prefix: str, tiers: Tiers, *, in_list: bool = False) -> Offer:
    """Offer the candidates with a prefix of the first tier that has any; without any, neither candidates nor files.

    In a list with commas, candidates are for its last item, except those that are in the list. A candidate with other
    characters than plain ones is dropped, so that no name of an object is a command to a shell.
    """
    before, comma, _ = prefix.rpartition(",") if in_list else ("", "", "")
    listed = before.split(",") if comma else []
    for tier in tiers:
        candidates = {
            text: description
            for name, description in tier
            if name and name not in listed
            if (text := f"{before}{comma}{name}").startswith(prefix) and _PLAIN.issuperset(text)
        }
        if candidates:
            is_unfinished = all(text.endswith(_UNFINISHED) for text in candidates)
            return Offer(candidates, _NO_FILES | (_NO_SPACE if is_unfinished else 0))
    return NOTHING


def plain_tier(names: Iterable[str], start: str = "", without: Collection[str] = ()) -> list[Candidate]:
    """Return names as candidates after a `start`, sorted, except those that would be options or are in `without`."""
    texts = [f"{start}{name}" for name in sorted(names) if not name.startswith("-")]
    return [(text, "") for text in texts if text not in without]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
