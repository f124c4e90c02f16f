"""The answers about several objects at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.questions.describe.objects import ObjectDescription
    from kubectl_policy.questions.describe.policies import PolicyDescription
    from kubectl_policy.questions.unseen.things import Unseen


class Descriptions(Struct, frozen=True):
    """The answers, in the order in which they were asked for."""

    items: tuple[ObjectDescription | PolicyDescription, ...]

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems of all of them, each once."""
        return tuple(dict.fromkeys(problem for item in self.items for problem in item.diagnostics))

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be seen for any of them, each once."""
        return tuple(dict.fromkeys(thing for item in self.items for thing in item.unseen))
