"""`get`: policies, policy kinds and the objects that policies affect, a line each."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from kubectl_policy.cli.options import (
    AllNamespaces,
    AllowIncomplete,
    Call,
    Selector,
    ShowAll,
    command,
    mention_namespaces,
    selection,
    split_words,
)
from kubectl_policy.cli.options import exit_code as ending
from kubectl_policy.errors import UsageError
from kubectl_policy.render.effective import EFFECTIVE
from kubectl_policy.render.listing import LISTING

if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.effective.matrix import Asked, Matrix
    from kubectl_policy.questions.shared.selection import Listing, Selection

_EXAMPLE = "for example: get policies, get policykinds, get gateways, get routes, get services"


@command(LISTING)
def get(
    call: Call,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE [NAME...] | TYPE/NAME...", help="What to list.")
    ] = None,
    *,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    sort_by: Annotated[
        str, typer.Option(metavar="COLUMN | .FIELD", help="Sort by a column, or by a field such as .metadata.name.")
    ] = "",
    all_kinds: Annotated[
        bool, typer.Option("--all-kinds", help="Of policies, also those that are about neither Gateways nor routes.")
    ] = False,
    of: Annotated[
        Literal["routes", "gateways", "services"], typer.Option(help="Of effective: of which objects there are rows.")
    ] = "routes",
    kind: Annotated[
        str, typer.Option(metavar="KIND[,KIND]", help="Of effective: only these policy kinds, a column each.")
    ] = "",
    field: Annotated[
        str, typer.Option(metavar="FIELD[,FIELD]", help="Of effective: a column for each of these settings.")
    ] = "",
    missing: Annotated[
        bool, typer.Option("--missing", help="Of effective: only where nothing of what is asked for is in force.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="With --missing: exit with 1 if there is such a row.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
    no_headers: Annotated[bool, typer.Option("--no-headers", help="Leave the headers of a table out.")] = False,
    show_all: ShowAll = False,
) -> int:
    """List policies, policy kinds, or objects with the number of policies that affect them.

    TYPE is policies, policykinds, gatewayclasses, gateways, listenersets, listeners, routes, services or namespaces,
    any single kind of these (httproutes, retrypolicies), or any other kind that a policy targets; short names will do.
    Or it is effective: what is in force, a row for each rule of a route and a column for each policy kind or setting.

    \b
    Examples:
      kubectl policy get policies -A --offline manifests/
      kubectl policy get effective -A --kind securitypolicy --field jwt,basicAuth --missing --offline manifests/
      kubectl policy get routes -n baker -o wide --sort-by policies --offline manifests/
      kubectl policy get policykinds --offline manifests/
    """
    if not words:
        raise UsageError("the type of objects to list is missing", _EXAMPLE)
    type_name, names = split_words("get", words, _EXAMPLE)
    only_effective = {"--kind": kind, "--field": field, "--missing": missing, "--exit-code": exit_code}
    if type_name != "effective" and any(only_effective.values()):
        option = next(name for name, value in only_effective.items() if value)
        raise UsageError(f"{option} is for get effective", "for example: get effective --field jwt --missing")
    chosen = selection("" if all_namespaces else call.namespace, names, selector)
    analysis = call.read()
    namespaces = all_namespaces or any("/" in name for name in names)
    show = partial(call.show, headers=not no_headers, namespaces=namespaces, everything=show_all)
    if type_name == "effective":
        if sort_by or all_kinds:
            option = "--sort-by" if sort_by else "--all-kinds"
            raise UsageError(f"{option} is not for get effective", f"leave out {option}")
        from kubectl_policy.questions.effective.matrix import Asked

        asked = Asked(of=of, kinds=_listed(kind), fields=_listed(field), missing=missing)
        answer = _effective(analysis, asked, chosen, at_lines=call.output != "table")
        show(EFFECTIVE, answer, analysis, unseen=answer.unseen)
        incomplete = missing and bool(answer.unseen) and not allow_incomplete
        return ending(differs=exit_code and bool(answer.rows), incomplete=incomplete)
    from kubectl_policy.questions.listing.lists import list_names, list_type

    listing: Listing[object]
    refs: list[ObjectRef] = []
    if call.output == "name" and not sort_by:
        # What takes effect where is not worth computing for names.
        listing = list_names(analysis, type_name, chosen, all_kinds=all_kinds)
    else:
        from kubectl_policy.render.listing.columns import ordered

        of_type = list_type(analysis, type_name, chosen, all_kinds=all_kinds)
        refs = [row.ref for row in of_type.rows]
        listing = ordered(of_type, sort_by)
    show(LISTING, listing, analysis, unseen=listing.unseen)
    mention_namespaces(analysis, refs)
    return 0


def _effective(analysis: "Analysis", asked: "Asked", selection: "Selection", *, at_lines: bool) -> "Matrix":
    """What is in force, with the lines of settings if they are shown."""
    from kubectl_policy.questions.effective import matrix
    from kubectl_policy.sources import Lines

    found = matrix.matrix(analysis, asked, selection)
    return matrix.at_lines(found, Lines().locate) if at_lines else found


def _listed(words: str) -> tuple[str, ...]:
    """The words in `a,b`."""
    return tuple(word.strip() for word in words.split(",") if word.strip())
