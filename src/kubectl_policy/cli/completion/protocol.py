"""What is offered to a shell: candidates with a description each, and how the shell is to take them.

The protocol is that of cobra's hidden command `__complete`, which kubectl (`plugin_completion.go`) expects of the
program `kubectl_complete-NAME` for its plugin NAME: a line for each candidate, `<TAB>` and a description if there is
one, and last a line `:DIRECTIVE`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# What candidates are made of. Shells evaluate what they are given, some of them even when they only list it.
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,=[]")
_SPACE, _NO_FILES, _EXTENSIONS, _FOLDERS = 2, 4, 8, 16
# After these, more of the same word is to be typed.
_OPEN: Final = ("/", "=")


class Offer(NamedTuple):
    """Candidates for the word under the cursor, by what is said of each, and what the shell makes of them."""

    candidates: Mapping[str, str]
    directive: int

    def text(self) -> str:
        """The lines of the protocol."""
        lines = (f"{word}\t{_line(said)}" if said else word for word, said in self.candidates.items())
        return "".join(f"{line}\n" for line in (*lines, f":{self.directive}"))


def offered(*tiers: Iterable[tuple[str, str]], to: str) -> Offer:
    """Those that begin as the word `to`, of the first tier that has any; without any, nothing is offered, nor a file.

    What is no plain word is left out, so that no name of an object can be anything else to a shell.
    """
    for tier in tiers:
        found = {word: said for word, said in tier if word.startswith(to) and word and _PLAIN.issuperset(word)}
        if found:
            is_open = all(word.endswith(_OPEN) for word in found)
            return Offer(found, _NO_FILES | (_SPACE if is_open else 0))
    return NOTHING


def _line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


NOTHING: Final = Offer({}, _NO_FILES)
FILES: Final = Offer({}, 0)
FOLDERS: Final = Offer({}, _FOLDERS)


def files(*extensions: str) -> Offer:
    """Files with one of some extensions, and folders on the way to them."""
    return Offer(dict.fromkeys(extensions, ""), _EXTENSIONS)
