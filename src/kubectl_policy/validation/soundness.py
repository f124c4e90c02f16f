"""Whether a value is JSON that can be worked with: whoever calls from Python can hand over anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

# Everything here recurses on values; real definitions are 50 levels deep.
_DEEPEST: Final = 100
# etcd takes 1.5 MiB, and a value that is repeated by an alias counts each time.
_LARGEST: Final = 300_000


def is_sound(value: object) -> bool:
    """Whether a value is made of the types of JSON, with text as keys, and is neither endless nor enormous."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while waiting:
        found, depth = waiting.pop()
        seen += 1
        if seen > _LARGEST or depth > _DEEPEST:
            return False
        if isinstance(found, Mapping):
            fields = cast("Mapping[object, object]", found)
            if not all(isinstance(key, str) for key in fields):
                return False
            waiting += [(inner, depth + 1) for inner in fields.values()]
        elif isinstance(found, list | tuple):
            waiting += [(inner, depth + 1) for inner in cast("Sequence[object]", found)]
        elif found is not None and not isinstance(found, bool | int | float | str):
            return False
    return True
