"""`describe`: what affects an object, or what a policy affects."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.options import (
    Color,
    Complete,
    ControllerSettings,
    Namespace,
    Offline,
    Profiles,
    mention_the_rest,
    read,
    repeated,
    split_object,
)
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import Diagnostic, Origin
    from kubectl_policy.render.describe.formats import Answer
    from kubectl_policy.render.output.text import Document

Output = Literal["tree", "table", "wide", "yaml", "json", "name"]


def describe(  # noqa: PLR0913 (every option of the command is a parameter)
    context: typer.Context,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE/NAME | TYPE NAME", help="The object to describe.")
    ] = None,
    *,
    offline: Offline = None,
    namespace: Namespace = "default",
    section: Annotated[
        str, typer.Option(metavar="NAME", help="Ask about one listener, rule or port of the object.")
    ] = "",
    output: Annotated[Output, typer.Option("--output", "-o", help="Output format.")] = "tree",
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    complete: Complete = False,
    color: Color = "auto",
) -> None:
    """Show what affects an object, or what a policy affects.

    For an object: every policy setting in force on it, with its value, the policy that sets it, what that policy beat,
    and what does not apply although one might expect it. For a policy: whether it is enforced, and on what.

    \b
    Examples:
      kubectl policy describe httproute/baker -n baker --offline manifests/
      kubectl policy describe gateway edge -n infra --section https --offline manifests/
      kubectl policy describe retrypolicy/resilience -n baker -o yaml --offline - < all.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    type_name, name = split_object("describe", objects or [])
    analysis = read(offline, profiles, setting, namespace, complete=complete)
    answer = _with_lines(_answer(analysis, (type_name, name, namespace), section))
    options = repeated(offline=offline, profiles=profiles, setting=setting) + ["--complete"] * complete
    _show(answer, output, color, (context.find_root().info_name or "", *options))
    whole = output in {"tree", "yaml", "json"}
    mention_the_rest(analysis, answer.diagnostics if whole else (), answer.unseen if whole else ())


def _answer(analysis: "Analysis", wanted: tuple[str, str, str], section: str) -> "Answer":
    from kubectl_policy.model import NodeRef  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.describe.objects import describe as describe_object  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.describe.policies import describe_policy  # noqa: PLC0415 (see options.read)
    from kubectl_policy.questions.shared.selection import find  # noqa: PLC0415 (see options.read)

    found = find(analysis.index, *wanted)
    if analysis.registry.profile_of(found.group_kind) is None:
        return describe_object(analysis, NodeRef(found, section))
    if section:
        raise UsageError(f"{found} is a policy, and policies have no sections", "leave out --section")
    return describe_policy(analysis, found)


def _with_lines(answer: "Answer") -> "Answer":
    """The answer with the line of the field, not of the object, in each problem that has one."""
    from dataclasses import replace  # noqa: PLC0415 (see options.read)

    found = [
        replace(problem, origin=_at_field(problem)) if position < _MOST_LOCATED else problem
        for position, problem in enumerate(answer.diagnostics)
    ]
    return replace(answer, diagnostics=tuple(found)) if found else answer


# Each one reads its file again.
_MOST_LOCATED = 20


def _at_field(problem: "Diagnostic") -> "Origin | None":
    from kubectl_policy.model import Origin  # noqa: PLC0415 (see options.read)
    from kubectl_policy.sources import locate  # noqa: PLC0415 (see options.read)

    line = locate(problem.origin, problem.field) if problem.origin and problem.field else None
    return Origin(problem.origin.source, line) if problem.origin and line else problem.origin


def _show(answer: "Answer", output: Output, color: Color, called: tuple[str, ...]) -> None:
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.describe.formats import render  # noqa: PLC0415 (see options.read)
    from kubectl_policy.render.words.headlines import headline  # noqa: PLC0415 (see options.read)

    view = terminal.view(*called)
    shown: Document = render(answer, output, view)
    terminal.show(shown, view.width, coloured=output == "tree" and terminal.wants_colour(color))
    if output in {"table", "wide", "name"} and (answer.unseen or not shown):
        terminal.complain(headline(answer))
