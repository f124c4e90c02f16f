"""`lint`: problems in policies, and in the routes, Gateways and references that they depend on."""

from typing import Annotated

import typer
from msgspec.structs import replace

from kubectl_policy.cli.call import CommandCall, shared_options
from kubectl_policy.cli.options import (
    AllowIncomplete,
    ExitCodeOption,
    InputOption,
    OutputOption,
    RuleOption,
    SelectionOption,
    ShowAll,
    exit_code,
)
from kubectl_policy.cli.remarks import mention_unapplied
from kubectl_policy.errors import NotFoundError, UsageError
from kubectl_policy.lint.settings import Threshold
from kubectl_policy.model import Severity
from kubectl_policy.render.lint import LINT


@shared_options(LINT, manifests=("paths", "filename"))
def lint(
    call: CommandCall,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH... | live]",
            help="Files, directories, globs or - (standard input); live, or without any path, the cluster.",
        ),
    ] = None,
    *,
    select: Annotated[
        list[str] | None,
        RuleOption(metavar="RULE[,RULE]", help="Check only these rules, by ID, prefix of IDs, or name. Repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, RuleOption(metavar="RULE[,RULE]", help="Do not check these rules. Repeatable.")
    ] = None,
    severity: Annotated[
        list[str] | None,
        RuleOption(
            metavar="RULE=SEVERITY", help="Set the severity of a rule: error, warning, info or off. Repeatable."
        ),
    ] = None,
    require_reason: Annotated[
        bool, RuleOption("--require-reason", help="Report suppressions without a reason.")
    ] = False,
    config: Annotated[
        str, RuleOption(metavar="FILE", help="Read this config file instead of .kubectl-policy.yaml.")
    ] = "",
    baseline: Annotated[
        str, SelectionOption(metavar="FILE", help="Report only findings that are not in this file.")
    ] = "",
    diff_base: Annotated[
        str,
        SelectionOption(metavar="REV|PATH", help="Report only findings that are new since this revision or directory."),
    ] = "",
    min_severity: Annotated[
        Severity | None, SelectionOption(help="Report only findings of at least this severity.")
    ] = None,
    filename: Annotated[
        list[str] | None, InputOption("--filename", "-f", metavar="PATH", help="The same as PATH. Repeatable.")
    ] = None,
    context_from: Annotated[
        list[str] | None,
        InputOption(
            metavar="STATE",
            help="Add context that is not linted: a file, directory, snapshot, REV:PATH in git, or live. Repeatable.",
        ),
    ] = None,
    path_map: Annotated[
        list[str] | None,
        OutputOption(
            metavar="PREFIX=PREFIX",
            help="Map a path prefix in findings to its source, e.g. rendered/=charts/. Repeatable.",
        ),
    ] = None,
    format_: Annotated[
        list[str] | None,
        OutputOption(
            "--format", metavar="FORMAT[=FILE]", help="Also write the findings to a file in this format. Repeatable."
        ),
    ] = None,
    write_baseline: Annotated[
        str, OutputOption(metavar="FILE", help="Write all findings to a file for --baseline.")
    ] = "",
    show_all: ShowAll = False,
    fail_on: Annotated[
        Threshold | None, ExitCodeOption(help="Exit with 1 for findings of at least this severity.")
    ] = None,
    allow_incomplete: AllowIncomplete = False,
) -> int:
    """Find problems in policies, routes and Gateways.

    Reports policies and routes that silently do not attach, and security settings that silently have no effect: in
    manifests, in a repository for Flux, Argo CD, Kustomize or Helm, or in the cluster. Exits with 1 if there are
    errors, and with 4 if relevant input could not be read. docs/rules.md describes each rule.

    \b
    Examples:
      kubectl policy lint manifests/
      kubectl policy lint . --diff-base origin/main
      helm template charts/shop | kubectl policy lint -
      kubectl policy lint . --format sarif=lint.sarif --format junit=lint.xml
      kubectl policy lint --context prod --select GWP3
    """
    del paths, filename  # The call has them.
    from datetime import UTC, datetime

    from kubectl_policy.cli.linting.project import find_project
    from kubectl_policy.cli.linting.reading import Reader
    from kubectl_policy.cli.linting.reporting import LintRun, parse_outputs, summarise, write_file, write_files

    output, files = parse_outputs(format_ or (), call.output, is_single=call.collected is None)
    if call.collected is not None and (format_ or baseline or write_baseline):
        raise UsageError(
            "--format and baselines are for one cluster", "name one --context; --output is for several as well"
        )
    project = find_project(config)
    settings = project.settings_with(
        select=select,
        ignore=ignore,
        severity=severity,
        fail_on=fail_on,
        min_severity=min_severity,
        require_reason=require_reason,
        now=datetime.now(UTC),
    )
    call = replace(
        call,
        output=output,
        exclude=[*project.exclude, *(call.exclude or ())],
        complete=call.complete or project.complete,
        # Keep what was read of a cluster.
        reached=None if call.paths else call.live,
    )
    mapped = [*project.path_map.items(), *map(_pair, path_map or ())]
    read = Reader(call, settings, project.root, context_from or project.context_from, mapped).read(diff_base)
    linting = LintRun(read, settings, project)
    # A baseline that is being written does not count yet.
    report = linting.report("" if write_baseline else baseline or project.baseline)
    if call.namespace and not (report.scope.objects or report.findings):
        raise NotFoundError(f"there is nothing to lint in namespace {call.namespace}", "leave out -n to lint all of it")
    if write_baseline:
        write_file(write_baseline, linting.baseline())
    write_files(report, files)
    if call.output == "github":
        summarise(report)
    call.show(LINT, report, everything=show_all)
    mention_unapplied(*(world.analysis for world in read.worlds))
    return exit_code(differs=report.fails and not write_baseline, incomplete=report.is_blind and not allow_incomplete)


def _pair(text: str) -> tuple[str, str]:
    """Split `PREFIX=PREFIX`. Raise `UsageError` for another form."""
    rendered, equals, source = text.partition("=")
    if not (rendered and equals):
        raise UsageError(f'"{text}" maps no path', "write --path-map rendered/=charts/shop/")
    return rendered, source
