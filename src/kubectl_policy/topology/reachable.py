"""What can be reached step by step."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kubectl_policy.model import ObjectRef


def reachable(starts: Iterable[ObjectRef], steps: Callable[[ObjectRef], Iterable[ObjectRef]]) -> Iterator[ObjectRef]:
    """Some objects and whatever steps lead to from them, the nearest first, each once."""
    seen = dict.fromkeys(starts)
    waiting = deque(seen)
    while waiting:
        current = waiting.popleft()
        yield current
        found = dict.fromkeys(one for one in steps(current) if one not in seen)
        seen |= found
        waiting.extend(found)
