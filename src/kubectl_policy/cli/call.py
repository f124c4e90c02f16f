"""A call of a command: its shared options, what is read for it, and how its answer is shown."""

import inspect
from contextlib import nullcontext
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import typer
from msgspec.structs import replace

from kubectl_policy.cli import terminal
from kubectl_policy.cli.options import CLUSTER_OPTIONS, DEFAULT_NAMESPACE, ClusterFlags, SharedOptions
from kubectl_policy.cli.output_option import output_annotation
from kubectl_policy.cli.remarks import (
    mention_assumed,
    mention_remaining_problems,
    mention_rendered,
    mention_unapplied,
    mention_waiting,
)
from kubectl_policy.cli.syntax import CLUSTER
from kubectl_policy.errors import UsageError
from kubectl_policy.render.output.formats import Renderers, format_of, remarks_on, render
from kubectl_policy.render.output.text import View

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from kubectl_policy import InputOptions
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.clusters import AskedCluster
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.questions.blind_spots.unknowns import BlindSpot
    from kubectl_policy.questions.shared.selection import Selection
    from kubectl_policy.render.output.cluster_answers import ClusterAnswer
    from kubectl_policy.sources import Lines, Progress

# The parameters of the shared options, in the order of help.
_PARAMETERS: Final = {**SharedOptions.__annotations__, **ClusterFlags.__annotations__}


class CommandCall(SharedOptions, frozen=True, kw_only=True, dict=True):
    """The values of the shared options, and the name of the program.

    `collected` is set where several clusters are asked: answers by context, to which this call adds its own. `reached`
    is the cluster, if a connection to it exists already. A call that `asks_cluster` reads no manifests, whatever the
    configuration names.
    """

    program: str = ""
    collected: "dict[str, ClusterAnswer] | None" = None
    reached: "AskedCluster | None" = None
    asks_cluster: bool = False

    def read(self, *, optional: bool = False, routes: bool = False, whole: bool = False) -> "Analysis":
        """Read the manifests or the cluster, and analyse them; if the input is `optional`, there need not be any.

        Of a cluster, all `routes` are read at once, or the `whole`: all objects that any question reads. Raise
        `PolicyError` for input that cannot be read.
        """
        # This import comes first: the module computes a lot while it is imported, and at the end of a long chain of
        # imports, where the stack grows into another block, CPython may allocate and free memory at every call.
        from kubectl_policy.sources import load_input

        # isort: split
        from kubectl_policy import analyze
        from kubectl_policy.cli.config import read_config

        config = read_config(self.profiles, self.setting)
        if self.paths:
            if "-" in self.paths:
                mention_waiting()
            with self.progress() as progress:
                snapshot = load_input(self.paths, options=self.input_options(), progress=progress, lines=self.lines)
            mention_rendered(snapshot)
        elif whole:
            snapshot = self.live.everything(config.profiles)
        else:
            snapshot = self.live.snapshot(config.profiles, optional=optional, routes=routes)
        return analyze(snapshot, profiles=config.profiles, implementation=config.implementation)

    @cached_property
    def paths(self) -> "list[str]":
        """The files and directories to read; none if a cluster is asked.

        Raises `UsageError` for options that name both a cluster and manifests.
        """
        from kubectl_policy.cli.config import offline_paths

        cluster_options = {
            "--context": self.contexts,
            "--all-contexts": self.all_contexts,
            "--kubeconfig": self.kubeconfig,
            "--server": self.server,
            "live": self.asks_cluster,
        }
        flag = next((flag for flag, value in cluster_options.items() if value), "")
        if flag and self.offline:
            raise UsageError(f"--offline reads manifests, and {flag} asks a cluster", "leave out one of the two")
        return list(self.offline or ([] if flag else offline_paths()))

    @cached_property
    def live(self) -> "AskedCluster":
        """The cluster that is asked if no manifests are read."""
        from kubectl_policy.cli.clusters import AskedCluster

        return self.reached or AskedCluster(self.cluster_options(self.cluster), self.namespace, self.assumed)

    @property
    def in_namespace(self) -> str:
        """The namespace of the objects: by `-n`, else that of the context of the cluster, or `default` for manifests.

        Raises `ClusterError` if there is no context.
        """
        return self.namespace or ("default" if self.paths else self.live.namespace)

    @cached_property
    def lines(self) -> "Lines":
        """The lines of fields in the input."""
        from kubectl_policy.sources import Lines

        return Lines()

    def progress(self) -> "AbstractContextManager[Progress | None]":
        """Show progress while manifests are rendered."""
        return nullcontext() if self.render is False else terminal.progress("rendering")

    def input_options(self) -> "InputOptions":
        """Return the options for reading manifests. Raise `UsageError` for `--set` without a valid name."""
        from kubectl_policy import InputOptions

        values: dict[str, str] = {}
        for assignment in self.variables or ():
            name, equals, value = assignment.partition("=")
            if not (equals and name.isascii() and name.isidentifier()):
                raise UsageError(f'"{assignment}" gives no variable a value', "write --set VARIABLE=VALUE")
            values[name] = value
        return InputOptions(
            namespace=self.default_namespace,
            complete=self.complete,
            assumed=self.assumed,
            exclude=tuple(self.exclude or ()),
            cluster=self.cluster,
            values=values,
            render="auto" if self.render is None else self.render,
            network=self.allow_network,
        )

    @property
    def assumed(self) -> "tuple[AssumedObjects, ...]":
        """The objects of `--assume-exists`. Raises `UsageError` for a malformed one."""
        from kubectl_policy.model.snapshot import AssumedObjects

        assumed: list[AssumedObjects] = []
        for text in self.assume_exists or ():
            try:
                assumed.append(AssumedObjects.parse(text))
            except ValueError:
                hint = "write KIND, KIND/NAME or KIND/NAMESPACE/NAME, for example: --assume-exists secret/htpasswd"
                raise UsageError(f'--assume-exists takes no "{text}"', hint) from None
        return tuple(assumed)

    def selection(
        self, names: tuple[str, ...], selector: str, fields: str, *, everywhere: bool, lenient: bool = False
    ) -> "Selection":
        """Return a selection of objects in the namespace of the call, or in all namespaces (`everywhere`).

        If it is `lenient`, a name that no object has is no error. Raise `UsageError` for names together with a selector
        or all namespaces.
        """
        from kubectl_policy.model.selectors import parse_field_query, parse_label_query
        from kubectl_policy.questions.shared.selection import Selection

        options = {"--selector": selector, "--field-selector": fields, "--all-namespaces": everywhere}
        option = next((option for option, value in options.items() if value), "")
        if names and option:
            raise UsageError(f"objects are named or picked by {option}, not both", f"leave out {option}, or the names")
        labels, requirements = parse_label_query(selector), parse_field_query(fields)
        return Selection("" if everywhere else self.in_namespace, names, labels, requirements, lenient)

    def show(
        self,
        renderers: "Renderers[Any]",
        answer: object,
        *states: "Analysis",
        problems: "Collection[Diagnostic]" = (),
        unseen: "Collection[BlindSpot]" = (),
        layout: "View" = View(),  # noqa: B008 (a value)
        everything: bool = False,
    ) -> None:
        """Show an answer about some states, and write to standard error what its format has no place for.

        `problems` and `unseen` are those in the answer. `layout` has what the user asks of tables, `everything` whether
        nothing is shortened.
        """
        if not self.paths:
            self.live.require_all_read()
        context = self.contexts[0] if self.contexts and self.collected is not None else ""
        view = replace(
            layout,
            width=terminal.width(),
            terminal=terminal.is_terminal(),
            unicode=terminal.takes_unicode(),
            program=self.program,
            options=tuple(self._repeated()),
            everything=everything,
            coloured=format_of(self.output).styled and terminal.wants_colour(self.color),
            context=context,
        )
        shown = render(renderers, answer, self.output, view)
        if self.collected is None:
            terminal.show(shown, view.width, coloured=view.coloured)
        else:
            from kubectl_policy.render.output.cluster_answers import ClusterAnswer

            self.collected[context] = ClusterAnswer(
                context=context, renderers=renderers, answer=answer, view=view, shown=shown
            )
        terminal.write_remarks(*remarks_on(renderers, answer, self.output, shown, complete=not unseen))
        is_whole = format_of(self.output).tells == "everything"
        for state in states:
            mention_remaining_problems(state, problems if is_whole else (), unseen if is_whole else ())
            mention_unapplied(state)
            mention_assumed(state)

    def _repeated(self) -> list[str]:
        """Return the options with which a suggested command reads the same input."""
        options = {
            "--offline": self.offline,
            "--exclude": self.exclude,
            "--cluster": [self.cluster] if self.cluster else None,
            "--set": self.variables,
            "--profiles": self.profiles,
            "--setting": self.setting,
            "--assume-exists": self.assume_exists,
            "--kubeconfig": [self.kubeconfig] if self.kubeconfig else None,
            "--context": self.contexts,
        }
        repeated = [text for name, values in options.items() for value in values or () for text in (name, value)]
        if self.default_namespace != DEFAULT_NAMESPACE:
            repeated += ["--default-namespace", self.default_namespace]
        flags = {
            "--render": self.render,
            "--no-render": self.render is False,
            "--allow-network": self.allow_network,
            "--complete": self.complete,
        }
        return [*repeated, *(name for name, is_given in flags.items() if is_given)]


def answer(call: CommandCall, ask: "Callable[[CommandCall], int]") -> int:
    """Ask what a command asks, of manifests, one cluster, or several, and return the exit code."""
    if call.watch and (call.paths or call.asks_several):
        raise UsageError("--watch is for one cluster", "leave out --watch, or name one --context and no manifests")
    if call.paths:
        return ask(call)
    if call.asks_several:
        return _answer_of_each_cluster(call, ask)
    if call.watch:
        from kubectl_policy.cli.watch import watch

        return watch(call.live, lambda live: ask(replace(call, reached=live)), call.output)
    from kubectl_policy.cli.clusters import run_command

    return run_command(call.live, lambda: ask(call))


def _answer_of_each_cluster(call: CommandCall, ask: "Callable[[CommandCall], int]") -> int:
    from kubectl_policy.cli.clusters import ask_clusters

    collected: dict[str, ClusterAnswer] = {}
    contexts = call.contexts_of(call.cluster)
    calls = [replace(call, contexts=[context], all_contexts=False, collected=collected) for context in contexts]
    questions = {context: (single.live, partial(ask, single)) for context, single in zip(contexts, calls, strict=True)}
    return ask_clusters(questions, collected, call.output)


def shared_options(
    renderers: "Renderers[Any] | None" = None,
    *,
    without: "Collection[str]" = (),
    watches: bool = False,
    manifests: "Collection[str]" = (),
) -> "Callable[[Callable[..., int]], Callable[..., int]]":
    """Add the shared options, except those in `without`, to a command, which receives their values as a `CommandCall`.

    `renderers` name the formats of `--output`; a command without renderers declares `--output` itself. `--watch` is
    added if the command `watches`. Parameters of the command that are `manifests` name files to read, as `--offline`
    does, or `live`, the cluster.
    """
    excluded = {*without, *(() if renderers else ("output", "color")), *(() if watches else ("watch",))}
    shared = [_parameter(name, renderers) for name in _PARAMETERS if name not in excluded]

    def decorate(function: "Callable[..., int]") -> "Callable[..., int]":
        def command(context: typer.Context, **values: Any) -> int:  # noqa: ANN401 (of any option)
            # An empty option, as in `-n "$UNSET"`, counts as left out: so does kubectl.
            options: dict[str, Any] = {parameter.name: values.pop(parameter.name) for parameter in shared}
            options = {name: value for name, value in options.items() if value or isinstance(value, bool)}
            if renderers and "output" not in options:
                redirected = "" if terminal.is_terminal() else renderers.redirected
                options["output"] = redirected or renderers.formats[0]
            # Always a list: the garbage collector follows no Struct of texts alone, and a call keeps its cluster.
            options["offline"] = [*options.get("offline", ())]
            named = [path for name in manifests for path in values.pop(name) or ()]
            is_live = _names_cluster(named)
            options["offline"] += [] if is_live else named
            call = CommandCall(program=context.find_root().info_name or "", asks_cluster=is_live, **options)
            return answer(call, lambda call: function(call, **values))

        # Typer reads the signature. All parameters are passed by name; arguments come first in help in any case.
        context, *parameters = inspect.signature(function).parameters.values()
        parameters = [context.replace(name="context", annotation=typer.Context), *parameters, *shared]
        parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # an attribute of any function
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _names_cluster(named: "Sequence[str]") -> bool:
    """Whether `live` stands where a command takes manifests. Raise `UsageError` if manifests stand next to it."""
    if "live" not in named:
        return False
    from kubectl_policy.sources import is_live

    if is_live("live") and len(named) > 1:
        raise UsageError("live is a cluster, and the other paths are manifests", "--context-from live adds a cluster")
    return is_live("live")


def _parameter(name: str, renderers: "Renderers[Any] | None") -> inspect.Parameter:
    """Return the parameter for a shared option: for `--output`, with the formats that the renderers name."""
    annotation: Any = _PARAMETERS[name]
    default: object = dict(zip(CommandCall.__struct_fields__, CommandCall.__struct_defaults__, strict=True))[name]
    if name == "output" and renderers:
        annotation, default = output_annotation(renderers), "" if renderers.redirected else renderers.formats[0]
    if name in CLUSTER_OPTIONS:
        annotation.__metadata__[0].rich_help_panel = CLUSTER
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
