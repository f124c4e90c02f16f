"""`explain`: what a policy kind is, and where that is known from."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.options import Color, ControllerSettings, Offline, Profiles, mention_the_rest, repeated
from kubectl_policy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.explain.kinds import Explanation

ExplainOutput = Literal["tree", "yaml", "json"]
_EXAMPLE = "for example: explain xbackendtrafficpolicy"


def explain(  # noqa: PLR0913 (every option of the command is a parameter)
    context: typer.Context,
    kind: Annotated[list[str] | None, typer.Argument(metavar="KIND", help="The policy kind to explain.")] = None,
    *,
    offline: Offline = None,
    profiles: Profiles = None,
    setting: ControllerSettings = None,
    draft_profile: Annotated[
        bool, typer.Option("--draft-profile", help="Write a profile of the kind, to correct and use with --profiles.")
    ] = False,
    output: Annotated[ExplainOutput, typer.Option("--output", "-o", help="Output format.")] = "tree",
    color: Color = "auto",
) -> None:
    """Say what a policy kind is: what its policies target and change, how two of them combine, and who says so.

    KIND is a kind, its plural or a short name, alone or with its group. It need not have any policies: its definition
    in the input, a profile of yours or a built-in one will do, so for a built-in one nothing needs to be read.

    \b
    Examples:
      kubectl policy explain securitypolicy.gateway.envoyproxy.io
      kubectl policy explain retrypolicies.example.io --offline manifests/
      kubectl policy explain retrypolicy --offline manifests/ --draft-profile > retrypolicy.yaml
    """  # noqa: D301 (\b is typer's mark for a paragraph that keeps its line breaks)
    if len(kind or []) != 1 or "/" in (kind or [""])[0]:
        raise UsageError("explain takes one policy kind", _EXAMPLE)
    if draft_profile and output != "tree":
        raise UsageError("--draft-profile has a format of its own", "leave out --output")
    analysis, answer = _answer((kind or [""])[0], offline, profiles, setting)
    options = repeated(offline=offline, profiles=profiles, setting=setting)
    called = (context.find_root().info_name or "", *options)
    if draft_profile:
        _write_draft(answer)
    else:
        _show(answer, output, color, called)
    mention_the_rest(analysis, unseen=() if draft_profile else answer.unseen)


def _answer(
    kind: str,
    offline: "Sequence[str] | None",
    profiles: "Sequence[str] | None",
    settings: "Sequence[str] | None",
) -> "tuple[Analysis, Explanation]":
    # What `--help` can do without is imported by those who need it.
    from kubectl_policy import Snapshot, analyze, load_manifests  # noqa: PLC0415
    from kubectl_policy.cli.config import known  # noqa: PLC0415
    from kubectl_policy.questions.explain.kinds import explain  # noqa: PLC0415

    told = known(profiles, settings)
    snapshot = load_manifests(offline) if offline else Snapshot()
    analysis = analyze(snapshot, profiles=told.profiles, implementation=told.implementation)
    return analysis, explain(analysis, kind)


def _show(answer: "Explanation", output: ExplainOutput, color: Color, called: tuple[str, ...]) -> None:
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see _answer)
    from kubectl_policy.render.explain.documents import explanation_document  # noqa: PLC0415 (see _answer)
    from kubectl_policy.render.explain.tree import explanation_tree  # noqa: PLC0415 (see _answer)
    from kubectl_policy.render.output.encode import as_json, as_yaml  # noqa: PLC0415 (see _answer)

    view = terminal.view(*called)
    match output:
        case "json":
            terminal.write(as_json(explanation_document(answer)) + "\n")
        case "yaml":
            terminal.write(as_yaml(explanation_document(answer), unicode=view.unicode) + "\n")
        case _:
            terminal.show(explanation_tree(answer, view), view.width, coloured=terminal.wants_colour(color))


def _write_draft(answer: "Explanation") -> None:
    from kubectl_policy.cli import terminal  # noqa: PLC0415 (see _answer)
    from kubectl_policy.render.explain.draft import draft  # noqa: PLC0415 (see _answer)

    terminal.write(draft(answer, unicode=terminal.takes_unicode()))
