"""`get`: tables of policies, policy kinds and the objects that policies affect."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import (
    AllNamespaces,
    AllowIncomplete,
    ExitCodeOption,
    FieldSelector,
    MatrixOption,
    NamedFiles,
    OutputOption,
    SelectionOption,
    Selector,
    ShowAll,
)
from kubectl_policy.cli.options import exit_code as ending
from kubectl_policy.cli.remarks import mention_namespaces
from kubectl_policy.cli.syntax import split_types
from kubectl_policy.errors import UsageError
from kubectl_policy.lazy import LazyFunctions
from kubectl_policy.render.output.formats import Renderers
from kubectl_policy.render.output.text import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kubectl_policy.model import ObjectRef
    from kubectl_policy.questions.lists import Lists
    from kubectl_policy.questions.matrix import Matrix
    from kubectl_policy.questions.shared.selection import Listing
    from kubectl_policy.render import lists as list_renderer
    from kubectl_policy.render import matrix as matrix_renderer
    from kubectl_policy.resolution.enforcement import EnforcementState
else:
    list_renderer, matrix_renderer = map(LazyFunctions, ("kubectl_policy.render.lists", "kubectl_policy.render.matrix"))

_EFFECTIVE = "effective"
_EXAMPLE = "for example: get policies, get policykinds, get gateways, get routes, get services, get pods"

LISTS: Final["Renderers[Lists]"] = Renderers(
    kind="Lists",
    headline=list_renderer.lists_headline,
    table=list_renderer.list_tables,
    # Of a policy kind it is its definition, of a listener what it belongs to.
    names=lambda answer: dict.fromkeys(row.ref for listing in answer.lists for row in listing.rows),
    special_document=list_renderer.lists_document,
    special_remarks=lambda answer, empty: list_renderer.list_remarks(answer, empty=empty),
)
EFFECTIVE: Final["Renderers[Matrix]"] = Renderers(
    kind="EffectiveList",
    headline=matrix_renderer.matrix_headline,
    table=lambda matrix, view: [matrix_renderer.matrix_table(matrix, view)],
    names=lambda matrix: dict.fromkeys(row.subject.object for row in matrix.items),
    special_remarks=lambda matrix, empty: matrix_renderer.matrix_remarks(matrix, empty=empty),
)


@shared_options(LISTS, watches=True)
def get(
    call: CommandCall,
    objects: Annotated[
        list[str] | None, typer.Argument(metavar="TYPE[,TYPE] [NAME...] | TYPE/NAME...", help="The objects to list.")
    ] = None,
    *,
    filename: NamedFiles = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    field_selector: FieldSelector = "",
    ignore_not_found: Annotated[
        bool, SelectionOption("--ignore-not-found", help="Do not fail for a name that no object has.")
    ] = False,
    enforcement: Annotated[
        str,
        SelectionOption(metavar="STATE[,STATE]", help="List only policies in these states: Overridden, NoEffect, ..."),
    ] = "",
    hostname: Annotated[
        str, SelectionOption(metavar="HOST", help="List only routes or listeners that accept this hostname.")
    ] = "",
    all_kinds: Annotated[
        bool, SelectionOption("--all-kinds", help="Include policies that target neither Gateways nor routes.")
    ] = False,
    of: Annotated[Literal["routes", "gateways", "services"], MatrixOption(help="Objects in the rows.")] = "routes",
    kind: Annotated[str, MatrixOption(metavar="KIND[,KIND]", help="Add a column for each of these policy kinds.")] = "",
    field: Annotated[str, MatrixOption(metavar="FIELD[,FIELD]", help="Add a column for each of these settings.")] = "",
    missing: Annotated[
        bool, MatrixOption("--missing", help="List only rows in which no column is set or protects.")
    ] = False,
    exit_code: Annotated[
        bool, ExitCodeOption("--exit-code", help="With --missing: exit with 1 if there are such rows.")
    ] = False,
    allow_incomplete: AllowIncomplete = False,
    sort_by: Annotated[
        str, OutputOption(metavar="COLUMN | .FIELD", help="Sort by a column, or by a field such as .metadata.name.")
    ] = "",
    no_headers: Annotated[bool, OutputOption("--no-headers", help="Do not print the headers of tables.")] = False,
    show_kind: Annotated[
        bool, OutputOption("--show-kind", help="Show the kinds of objects before their names in tables.")
    ] = False,
    show_labels: Annotated[
        bool, OutputOption("--show-labels", help="Add a column with the labels of objects to tables.")
    ] = False,
    label_columns: Annotated[
        list[str] | None,
        OutputOption(
            "--label-columns", "-L", metavar="LABEL[,LABEL]", help="Add a column for each of these labels. Repeatable."
        ),
    ] = None,
    show_all: ShowAll = False,
) -> int:
    """List policies, policy kinds, or objects that policies affect.

    TYPE is policies, policykinds, gatewayclasses, gateways, listenersets, listeners, routes, services, namespaces, pods
    or workloads, a kind of these (httproutes, retrypolicies, deployments), or another kind that a policy targets. Short
    names work as well. With `effective`, each rule of a route is a row, and each policy kind or setting is a column
    with the value in force.

    \b
    Examples:
      kubectl policy get policies -A --offline manifests/
      kubectl policy get effective -A --kind securitypolicy --field jwt,basicAuth --missing --offline manifests/
      kubectl policy get routes -n baker -o wide --sort-by policies --offline manifests/
      kubectl policy get routes -A --hostname shop.example.com --offline manifests/
      kubectl policy get policies -A --enforcement Overridden,Conflicted,NoEffect --offline manifests/
      kubectl policy get httproute/baker gateway/infra/edge -n baker --offline manifests/
      kubectl policy get policykinds --offline manifests/
      kubectl policy get pods -n baker -o wide --offline manifests/
    """
    if filename and (objects or all_namespaces or selector or field_selector):
        raise UsageError("objects are picked by --filename or in another way, not both", "leave out one of the two")
    if not (objects or filename):
        raise UsageError("the type of objects to list is missing", _EXAMPLE)
    types = split_types("get", objects, _EXAMPLE) if objects else []
    is_effective = bool(types) and types[0][0] == _EFFECTIVE
    _check(
        types,
        {"--kind": kind, "--field": field, "--missing": missing, "--exit-code": exit_code},
        {
            "--sort-by": sort_by,
            "--all-kinds": all_kinds,
            "--enforcement": enforcement,
            "--hostname": hostname,
            "--show-kind": show_kind,
            "--show-labels": show_labels,
            "--label-columns": label_columns,
        },
    )
    states = _states(enforcement)
    selection = partial(
        call.selection,
        selector=selector,
        fields=field_selector,
        everywhere=all_namespaces,
        lenient=ignore_not_found,
    )
    selections = [(type_, selection(names)) for type_, names in types]
    analysis = call.read()
    if filename:
        from kubectl_policy.cli.states import objects_in

        types = types_of(objects_in(call, analysis, filename))
        selections = [(type_, selection(names)) for type_, names in types]
    namespaces = all_namespaces or any("/" in name for _, names in types for name in names)
    layout = View(
        headers=not no_headers,
        namespaces=namespaces,
        kinds=show_kind,
        labels=show_labels,
        label_columns=_label_names(label_columns),
    )
    show = partial(call.show, layout=layout, everything=show_all)
    if is_effective:
        from kubectl_policy.questions.matrix import MatrixOptions, matrix, with_lines

        asked = MatrixOptions(of=of, kinds=_split(kind), fields=_split(field), missing=missing)
        answer = matrix(analysis, asked, selections[0][1])
        if call.output != "table":
            answer = with_lines(answer, call.lines.locate)
        show(EFFECTIVE, answer, analysis, unseen=answer.unseen)
        is_uncertain = answer.unknown or (missing and bool(answer.unseen))
        return ending(differs=exit_code and bool(answer.items), incomplete=is_uncertain and not allow_incomplete)
    from kubectl_policy.questions.lists import Lists, Only, list_names, list_type
    from kubectl_policy.render.lists import ordered

    only = Only(all_kinds=all_kinds, states=states, hostname=hostname)
    # For names alone, effects are not computed.
    names_alone = call.output == "name" and not (sort_by or only.states)
    lists: list[Listing[Any]] = [
        list_names(analysis, type_, wanted, only)
        if names_alone
        else ordered(list_type(analysis, type_, wanted, only), sort_by)
        for type_, wanted in selections
    ]
    listings = Lists(tuple(lists))
    show(LISTS, listings, analysis, unseen=listings.unseen)
    if not names_alone:
        mention_namespaces(analysis, (row.ref for listing in lists for row in listing.rows))
    return ending(incomplete=listings.unknown and not allow_incomplete)


def types_of(refs: "Iterable[ObjectRef]") -> list[tuple[str, tuple[str, ...]]]:
    """Group objects by their types, as `split_types` returns these."""
    names: dict[str, list[str]] = {}
    for ref in refs:
        names.setdefault(str(ref.group_kind).lower(), []).append(ref.qualified_name)
    return [(type_, tuple(of_type)) for type_, of_type in names.items()]


def _check(
    types: "Sequence[tuple[str, object]]", of_effective: "Mapping[str, object]", of_lists: "Mapping[str, object]"
) -> None:
    """Raise `UsageError` for an option that does not apply to the types."""
    is_effective = bool(types) and types[0][0] == _EFFECTIVE
    if is_effective:
        if len(types) > 1:
            raise UsageError("effective cannot be listed with other types", "for example: get effective --of routes")
        for option in (name for name, value in of_lists.items() if value):
            raise UsageError(f"{option} is not for get effective", f"leave out {option}")
    for option in (name for name, value in of_effective.items() if value and not is_effective):
        raise UsageError(f"{option} is for get effective", "for example: get effective --field jwt --missing")


def _states(text: str) -> "frozenset[EnforcementState]":
    """Parse `Overridden,Conflicted`, in any case. Raise `UsageError` for an unknown state."""
    if not text:
        return frozenset()
    from kubectl_policy.resolution.enforcement import ENFORCEMENT

    known: dict[str, EnforcementState] = {state.lower(): state for state in ENFORCEMENT}
    names = _split(text)
    for name in names:
        if name.lower() not in known:
            raise UsageError(f'there is no enforcement "{name}"', f"it is one of {', '.join(ENFORCEMENT)}")
    return frozenset(known[name.lower()] for name in names)


def _label_names(texts: "Sequence[str] | None") -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for text in texts or () for name in _split(text)))


def _split(text: str) -> tuple[str, ...]:
    """Split `a,b`."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
