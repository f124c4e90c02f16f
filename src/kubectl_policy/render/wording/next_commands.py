"""What to ask next, for all commands: commands that lead on, and where there is more."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from kubectl_policy.render.output.escape import visible
from kubectl_policy.render.output.text import Line, Span
from kubectl_policy.render.wording.names import count
from kubectl_policy.render.wording.sections import section

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.render.output.text import View

Command: TypeAlias = tuple[str, ...]


def next_section(commands: Iterable[Command], view: View) -> tuple[Line, ...]:
    """At most two commands that lead on, with the options of the present one, ready to paste; at a terminal only."""
    if not view.terminal:
        return ()
    import shlex  # noqa: PLC0415 (only a terminal needs it)

    texts = (shlex.join(visible(word) for word in (*command, *view.options)) for command in islice(commands, 2))
    return section("Next", (Line((Span(f"{view.program} {text}", "command"),), 2) for text in texts))


def describing(ref: ObjectRef, *options: str) -> Command:
    """The command that describes an object."""
    namespace = ("-n", ref.namespace) if ref.namespace else ()
    return ("describe", f"{ref.kind.lower()}/{ref.name}", *namespace, *options)


def nothing_found(namespace: str, elsewhere: Sequence[str], noun: str) -> list[str]:
    """What kubectl says of an empty list, and where there is something."""
    return [f"No resources found{f' in {namespace} namespace.' if namespace else ''}", *elsewhere_hint(elsewhere, noun)]


def elsewhere_hint(elsewhere: Sequence[str], noun: str) -> list[str]:
    """Where there is something, if nothing was found here: `elsewhere` has a namespace for each such object."""
    if not elsewhere:
        return []
    namespaces = sorted(set(elsewhere))
    one = len(namespaces) == 1
    where = f"namespace {namespaces[0]}: add -n {namespaces[0]}" if one else f"{len(namespaces)} namespaces: add -A"
    verb = "is" if len(elsewhere) == 1 else "are"
    return [f"hint: there {verb} {count(len(elsewhere), noun)} in {where}"]
