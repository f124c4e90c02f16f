"""`lint`: what is wrong with policies, and with the routes, Gateways and references that they depend on."""

from typing import Annotated

from kubectl_policy.cli.options import AllowIncomplete, Call, ShowAll, command, exit_code
from kubectl_policy.cli.parameters import Argument, Option
from kubectl_policy.cli.remarks import mention_what_was_not_applied
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.model.values import replace
from kubectl_policy.render.lint import LINT


@command(LINT, paths=("paths", "filename"))
def lint(
    call: Call,
    paths: Annotated[
        list[str] | None,
        Argument(metavar="[PATH...]", help="Lint a file, a folder, a glob, or - for standard input; else the cluster."),
    ] = None,
    *,
    filename: Annotated[
        list[str] | None, Option("--filename", "-f", metavar="PATH", help="The same as PATH. Repeatable.")
    ] = None,
    select: Annotated[
        list[str] | None,
        Option(metavar="RULE[,RULE]", help="Check only these rules, by id, name, or the beginning of ids. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, Option(metavar="RULE[,RULE]", help="Leave out these rules. Repeatable.")
    ] = None,
    severity: Annotated[
        list[str] | None,
        Option(metavar="RULE=SEVERITY", help="Make a rule an error, a warning, info, or off. Repeatable."),
    ] = None,
    fail_on: Annotated[
        str, Option(metavar="[error|warning|info|never]", help="Exit with 1 for findings as bad as this.")
    ] = "",
    min_severity: Annotated[
        str, Option(metavar="[error|warning|info]", help="Leave out findings that are less than this.")
    ] = "",
    format_: Annotated[
        list[str] | None,
        Option(
            "--format",
            metavar="FORMAT[=FILE]",
            help="Write a format, as --output names them, into a file as well. Repeatable.",
        ),
    ] = None,
    baseline: Annotated[str, Option(metavar="FILE", help="Let only findings count that are not in this file.")] = "",
    write_baseline: Annotated[str, Option(metavar="FILE", help="Write the findings into a file, for --baseline.")] = "",
    diff_base: Annotated[
        str,
        Option(metavar="REV|PATH", help="Let only count what a change from this revision or folder makes worse."),
    ] = "",
    context_from: Annotated[
        list[str] | None,
        Option(
            metavar="STATE",
            help="Read what is around: a file, a folder, a snapshot, REV:PATH of git, or live. Repeatable.",
        ),
    ] = None,
    path_map: Annotated[
        list[str] | None,
        Option(metavar="PREFIX=PREFIX", help="Say of what a path begins with where its source is. Repeatable."),
    ] = None,
    require_reason: Annotated[
        bool, Option("--require-reason", help="Find what is suppressed without a reason.")
    ] = False,
    config: Annotated[str, Option(metavar="FILE", help="Read this config file, and not .kubectl-policy.yaml.")] = "",
    allow_incomplete: AllowIncomplete = False,
    show_all: ShowAll = False,
) -> int:
    """Find what is wrong with policies, routes and Gateways.

    Policies that silently do not apply, routes that silently do not attach, security settings that silently disappear:
    in manifests, in a repository for Flux, Argo CD, Kustomize or Helm, or in the cluster. Exits with 1 if anything is
    found that is an error, and with 4 if part of it could not be read. docs/rules.md describes each rule.

    \b
    Examples:
      kubectl policy lint manifests/
      kubectl policy lint . --diff-base origin/main
      helm template charts/shop | kubectl policy lint -
      kubectl policy lint . --format sarif=lint.sarif --format junit=lint.xml
      kubectl policy lint --context prod --select GWP3
    """
    del paths, filename  # They are among those of the call.
    from datetime import UTC, datetime

    from kubectl_policy.cli.linting.outputs import outputs, summarise, write_file, write_files
    from kubectl_policy.cli.linting.project import find_project
    from kubectl_policy.cli.linting.reading import Reader
    from kubectl_policy.cli.linting.reporting import Linting

    told = outputs(format_ or (), call.output, of_one=not call.among)
    if call.among and (format_ or baseline or write_baseline):
        raise UsageError(
            "--format and baselines are for one cluster", "name one --context; --output is for several as well"
        )
    project = find_project(config)
    settings = project.settings_with(
        select=select,
        ignore=ignore,
        severity=severity,
        fail_on=fail_on,
        least=min_severity,
        require_reason=require_reason,
        now=datetime.now(UTC),
    )
    call = replace(
        call,
        output=told.shown,
        exclude=[*project.exclude, *(call.exclude or ())],
        complete=call.complete or project.complete,
        # What was read of a cluster so far is kept.
        reached=None if call.paths else call.live,
    )
    mapped = [*project.path_map.items(), *map(_pair, path_map or ())]
    read = Reader(call, project.root, context_from or project.context_from, mapped).read(diff_base)
    linting = Linting(read, settings, project)
    # What is written down is not known yet.
    report = linting.report("" if write_baseline else baseline or project.baseline)
    if call.namespace and not (report.objects or report.findings):
        raise NotFoundError(f"there is nothing to lint in namespace {call.namespace}", "leave out -n to lint all of it")
    if write_baseline:
        write_file(write_baseline, linting.baseline())
    write_files(report, told.files)
    if call.output == "github":
        summarise(report)
    call.show(LINT, report, everything=show_all)
    states = [world.analysis for world in read.worlds]
    was_tried = any(said.rule == "not-rendered" for state in states for said in state.snapshot.diagnostics)
    mention_what_was_not_applied(*states, rendered=call.render or was_tried)
    return exit_code(differs=report.fails and not write_baseline, incomplete=report.is_blind and not allow_incomplete)


def _pair(words: str) -> tuple[str, str]:
    """What `PREFIX=PREFIX` means. Raises `UsageError` for anything else."""
    prefix, equals, other = words.partition("=")
    if not (prefix and equals):
        raise UsageError(f'"{words}" maps no path', "write --path-map rendered/=charts/shop/")
    return prefix, other
