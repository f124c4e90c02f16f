"""Rules: what each is called, how bad is what it finds, and what it needs to know for that."""

from __future__ import annotations

from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubectl_policy.lint.finding import Finding
    from kubectl_policy.lint.linted import Linted
    from kubectl_policy.model import Severity

# What must be known, beyond the objects in question, for a finding to be certain: that nothing else exists, what was
# reported by controllers, what a profile says of the kind, what the config file asks for, or what was before a change.
Need: TypeAlias = Literal["closed world", "status", "profile", "configuration", "base"]


class Rule(Struct, frozen=True):
    """A rule; the docstring of the function that checks it is its documentation."""

    id: Annotated[str, Meta(description="It is never given to another rule.")]
    severity: Annotated[Severity, Meta(description="Where a finding has another one, the finding says it.")]
    check: Callable[[Linted], Iterable[Finding]]
    needs: Annotated[tuple[Need, ...], Meta(description="What it needs to know.")] = ()
    guards: bool = False
    """Whether it is about security, such as settings that get lost."""
    blinds: bool = False
    """Whether it is about something that should have been linted and was not, so that other rules found nothing."""

    @property
    def name(self) -> Annotated[str, Meta()]:
        """The name of the rule: `target-not-found`."""
        return getattr(self.check, "__name__", "").replace("_", "-")

    @property
    def summary(self) -> Annotated[str, Meta()]:
        """What the rule finds, in a sentence."""
        return cleandoc(self.check.__doc__ or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def explanation(self) -> str:
        """What that means, in paragraphs, and what says so; without the sentence before."""
        return cleandoc(self.check.__doc__ or "").partition("\n\n")[2]
