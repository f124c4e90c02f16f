"""What a sentence ends with if not everything could be seen that its answer depends on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubectl_policy.render.words.names import count, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.questions.unseen.things import Unseen


def as_far_as(unseen: Sequence[Unseen]) -> str:
    """`, as far as could be read: 1 file may hold more; how 2 policies attach is not computed`; empty if nothing is."""
    otherwise = {thing.what for thing in unseen if thing.is_there}
    files = {thing.origin.source for thing in unseen if thing.origin and not thing.is_there}
    others = {thing.what for thing in unseen if not (thing.origin or thing.policies or thing.is_there)}
    are = "is" if len(others) == 1 else "are"
    told = [f"{count(len(others), 'object')} {are} not in the input"] if others else []
    told += [f"{count(len(files), 'file')} may hold more"] if files else []
    told += [f"{count(len(otherwise), 'object')} may be different"] if otherwise else []
    unread = f", as far as could be read: {listed(told)}" if told else ""
    number = len({policy for thing in unseen for policy in thing.policies})
    attach = "attaches" if number == 1 else "attach"
    return unread + (f"; how {count(number, 'policy')} {attach} is not computed" if number else "")
