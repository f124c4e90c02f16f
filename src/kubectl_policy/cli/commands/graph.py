"""`graph`: pictures of Gateways, routes and backends with their policies."""

from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import (
    AllowIncomplete,
    AppliedFiles,
    ChangeOption,
    DeletedObjects,
    OutputOption,
    Retargetings,
    SelectionOption,
    ShowAll,
    exit_code,
)
from kubectl_policy.cli.remarks import mention_namespaces
from kubectl_policy.cli.states import compare_changes, compare_with_state
from kubectl_policy.cli.syntax import split_objects
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.questions.graph.picture import GraphOptions, Picture
    from kubectl_policy.render.graph import dot, mermaid, page, tree, wording
else:
    modules = ("dot", "mermaid", "page", "tree", "wording")
    dot, mermaid, page, tree, wording = (LazyFunctions(f"kubectl_policy.render.graph.{name}") for name in modules)

GRAPH: Final["Renderers[Picture]"] = Renderers(
    kind="Graph",
    redirected="dot",
    headline=wording.graph_headline,
    tree=tree.graph_tree,
    dot=dot.graph_dot,
    mermaid=mermaid.graph_mermaid,
    html=lambda picture, _: page.graph_page(picture),
)


@shared_options(GRAPH)
def graph(
    call: CommandCall,
    objects: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TYPE/NAME... | TYPE NAME...]", help="Draw only these objects and the objects around them."
        ),
    ] = None,
    *,
    up: Annotated[bool, SelectionOption("--up", help="Draw only what is above the named objects.")] = False,
    down: Annotated[bool, SelectionOption("--down", help="Draw only what is below the named objects.")] = False,
    depth: Annotated[
        int,
        SelectionOption(
            metavar="NUMBER", min=0, help="Follow at most this many objects up and down; 0 means no limit."
        ),
    ] = 0,
    kind: Annotated[str, SelectionOption(metavar="TYPE[,TYPE]", help="Draw only objects of these kinds.")] = "",
    policy_kind: Annotated[str, SelectionOption(metavar="KIND[,KIND]", help="Draw only policies of these kinds.")] = "",
    only_affected: Annotated[
        bool, SelectionOption("--only-affected", help="Draw only objects that a policy affects.")
    ] = False,
    no_sections: Annotated[bool, OutputOption("--no-sections", help="Do not draw listeners, rules and ports.")] = False,
    effective: Annotated[
        bool,
        OutputOption(
            "--effective", help="Show the settings in force at each rule, and which policy wins on which path."
        ),
    ] = False,
    group_by: Annotated[
        Literal["namespace", "none"], OutputOption(help="Draw a box around each namespace.")
    ] = "namespace",
    diff: Annotated[
        str,
        ChangeOption(metavar="STATE", help="Mark the differences from a file, directory, REV:PATH in git, or live."),
    ] = "",
    filename: AppliedFiles = None,
    delete: DeletedObjects = None,
    retarget: Retargetings = None,
    show_all: ShowAll = False,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Draw Gateways, routes and backends with their policies.

    Draws the hierarchy from GatewayClasses to the ports of Services: a tree in a terminal, DOT when redirected, or
    images, a Mermaid diagram, or one HTML page without dependencies. Each policy shows whether it is enforced. Refused
    attachments are dashed and give the reason; objects that were not read are dotted.

    \b
    Examples:
      kubectl policy graph --offline manifests/
      kubectl policy graph httproute/baker -n baker --effective --offline manifests/
      kubectl policy graph gateway/edge -n infra --down --depth 1 -o mermaid --offline manifests/
      kubectl policy graph -o svg --offline manifests/ > graph.svg
      kubectl policy graph -o html --offline manifests/ > graph.html
      kubectl policy graph --diff main:manifests -o svg --offline manifests > change.svg
    """
    if not objects and (up or down or depth):
        option = "--up" if up else "--down" if down else "--depth"
        raise UsageError(f"{option} is about what is around objects", "name one: graph httproute/NAME")
    changes = [*(filename or ()), *(delete or ()), *(retarget or ())]
    if diff and changes:
        problem = "--diff compares with another state; -f, --delete and --retarget compare with changes"
        raise UsageError(problem, "leave out one of the two")
    from msgspec.structs import replace

    from kubectl_policy.questions.describe.description import focus_on
    from kubectl_policy.questions.graph.picture import GraphOptions
    from kubectl_policy.questions.shared.selection import find, kinds_meant

    pairs = split_objects("graph", objects) if objects else []
    wants_outcomes = effective or call.output == "tree"
    asked = GraphOptions(
        up=up or not down,
        down=down or not up,
        depth=depth or None,
        namespace="" if pairs else call.namespace,
        sections=not no_sections,
        only_affected=only_affected,
        effective=wants_outcomes,
        grouped=group_by == "namespace",
    )

    def about(analysis: "Analysis") -> "GraphOptions":
        subjects = (find(analysis, type_name, name, call.in_namespace) for type_name, name in pairs)
        return replace(
            asked,
            subjects=tuple(dict.fromkeys(subjects)),
            kinds=frozenset(named for name in kind.split(",") if name for named in kinds_meant(analysis, name.strip())),
            policy_kinds=frozenset(focus_on(analysis, [policy_kind], ()).kinds),
        )

    if diff or changes:
        from kubectl_policy.questions.graph.comparison import graph_of_two

        comparison = compare_with_state(call, diff) if diff else compare_changes(call, filename, delete, retarget)
        picture = graph_of_two(comparison, about)
        states = (comparison.before, comparison.after) if diff else (comparison.after,)
    else:
        from kubectl_policy.questions.graph.drawing import graph as draw

        # Around an object, not all routes are needed.
        analysis = call.read(routes=not pairs)
        picture = draw(analysis, about(analysis))
        states = (analysis,)
        mention_namespaces(analysis, picture.asked.subjects)
    if call.output == "html":
        from kubectl_policy.questions.graph.details import details

        picture = replace(picture, details=details(states[-1], picture, call.lines.locate))
    call.show(GRAPH, picture, *states, unseen=picture.unseen, everything=show_all)
    return exit_code(incomplete=picture.unknown and not allow_incomplete)
