"""What commands have in common: options, reading what these name, showing the answer, and how to end."""

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from kubectl_policy.cli.clusters.flags import ClusterFlags
from kubectl_policy.cli.parameters import Command, Option, Parameter, declared
from kubectl_policy.cli.remarks import (
    mention_the_rest,
    mention_waiting,
    mention_what_was_assumed,
    mention_what_was_not_applied,
)
from kubectl_policy.cli.words import assumption
from kubectl_policy.errors import FOUND, INCOMPLETE, UsageError
from kubectl_policy.model.values import cached_property, fields_of, replace, value
from kubectl_policy.render.output.formats import TEMPLATES, Forms, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager

    from kubectl_policy import InputOptions
    from kubectl_policy.analysis import Analysis
    from kubectl_policy.cli.clusters.live import Live
    from kubectl_policy.cli.clusters.several import Among
    from kubectl_policy.model import Diagnostic
    from kubectl_policy.model.snapshot import AssumedObjects
    from kubectl_policy.questions.unseen.things import Unseen
    from kubectl_policy.sources import Lines, Progress

# Options that some commands share.
AllowIncomplete: TypeAlias = Annotated[
    bool,
    Option("--allow-incomplete", help="Answer from what could be read, even if something that matters is missing."),
]
AllNamespaces: TypeAlias = Annotated[bool, Option("--all-namespaces", "-A", help="List objects in all namespaces.")]
ShowAll: TypeAlias = Annotated[bool, Option("--show-all", help="Show long lists and values in full.")]
Selector: TypeAlias = Annotated[
    str, Option("--selector", "-l", metavar="QUERY", help="List objects with these labels, as in kubectl.")
]


@value(kw_only=True)
class Call(ClusterFlags):
    """How a command was called: its name, and the options that all commands take, each of which is a field.

    One is `among` several where the same is asked of several clusters. The cluster may have been `reached` before.
    """

    program: str = ""
    among: "Among | None" = None
    offline: Annotated[
        list[str] | None,
        Option(
            metavar="PATH",
            help="Read manifests from a file, folder, glob, archive, or - for stdin. Repeatable.",
        ),
    ] = None
    namespace: Annotated[str, Option("--namespace", "-n", metavar="NAME", help="Namespace to look in.")] = ""
    default_namespace: Annotated[str, Option(metavar="NAME", help="Namespace of manifests that name none.")] = "default"
    exclude: Annotated[
        list[str] | None,
        Option(metavar="PATTERN", help="Leave out files and folders, as a .gitignore does. Repeatable."),
    ] = None
    cluster: Annotated[
        str,
        Option(
            metavar="NAME",
            help="Of a tree for several clusters, read what is for this one; else the kubeconfig's cluster to ask.",
        ),
    ] = ""
    variables: Annotated[
        list[str] | None,
        Option("--set", metavar="VARIABLE=VALUE", help="Fill in ${VARIABLE} in the input. Repeatable."),
    ] = None
    render: Annotated[
        bool, Option("--render", help="Apply Kustomize, Flux, Argo CD and Helm first, by their own programs.")
    ] = False
    output: Annotated[str, Option("--output", "-o", help="Output format.")] = "tree"
    profiles: Annotated[
        list[str] | None,
        Option(
            metavar="PATH", help="Say what is known of policy kinds: a file or a folder. Repeatable; later ones win."
        ),
    ] = None
    setting: Annotated[
        list[str] | None,
        Option(metavar="NAME=VALUE", help="Say how a controller is set up, by a name in its profile. Repeatable."),
    ] = None
    complete: Annotated[bool, Option("--complete", help="Assume that what is not in the input does not exist.")] = False
    assume_exists: Annotated[
        list[str] | None,
        Option(
            metavar="KIND[/NAME]",
            help="Assume that objects exist which are not in the input: all of a kind, or one. Repeatable.",
        ),
    ] = None
    color: Annotated[Literal["auto", "always", "never"], Option(help="Colour trees and tables.")] = "auto"
    watch: Annotated[
        bool, Option("--watch", "-w", help="Show the answer again whenever it changes in the cluster.")
    ] = False
    reached: "Live | None" = None

    def read(self, *, optional: bool = False, routes: bool = False, whole: bool = False) -> "Analysis":
        """The analysis of what the options name, manifests or a cluster; it may be of nothing where that is `optional`.

        If the question is about all `routes`, they are asked for at once, and if it is about the `whole`, all that
        any question may ask for. Raises `PolicyError` if that cannot be read.
        """
        # First, as much is done where that is imported: at the end of a long chain of imports, where the stack grows
        # into another block, CPython may take and give back memory at every call.
        from kubectl_policy.sources import load_manifests

        # isort: split
        from kubectl_policy import analyze
        from kubectl_policy.cli.config import known

        told = known(self.profiles, self.setting)
        if self.paths:
            if "-" in self.paths:
                mention_waiting()
            with self.progress() as progress:
                snapshot = load_manifests(self.paths, options=self.input_options(), progress=progress, lines=self.lines)
        elif whole:
            snapshot = self.live.everything(told.profiles)
        else:
            snapshot = self.live.snapshot(told.profiles, optional=optional, routes=routes)
        return analyze(snapshot, profiles=told.profiles, implementation=told.implementation)

    @cached_property
    def paths(self) -> "list[str]":
        """The files and folders that are to be read; none where a cluster is asked.

        Raises `UsageError` for a cluster that is named together with manifests.
        """
        from kubectl_policy.cli.config import offline_paths

        named = {
            "--context": self.contexts,
            "--all-contexts": self.all_contexts,
            "--kubeconfig": self.kubeconfig,
            "--server": self.server,
        }
        flag = next((flag for flag, given in named.items() if given), "")
        if flag and self.offline:
            raise UsageError(f"--offline reads manifests, and {flag} asks a cluster", "leave out one of the two")
        return list(self.offline or ([] if flag else offline_paths()))

    @cached_property
    def live(self) -> "Live":
        """The cluster that is asked where no manifests are read."""
        from kubectl_policy.cli.clusters.live import Live

        return self.reached or Live(lambda: self.cluster_options(self.cluster), self.namespace, self.assumed)

    @property
    def in_namespace(self) -> str:
        """The namespace to look in: as given, else that of the context of a cluster, or `default` in manifests.

        Raises `ClusterError` where there is no context.
        """
        return self.namespace or ("default" if self.paths else self.live.namespace)

    @cached_property
    def lines(self) -> "Lines":
        """The lines of fields in what the command reads."""
        from kubectl_policy.sources import Lines

        return Lines()

    def progress(self) -> "AbstractContextManager[Progress | None]":
        """What shows how far the reading is, where that may take a while."""
        from kubectl_policy.cli import terminal

        return terminal.progress("rendering") if self.render else nullcontext()

    def input_options(self) -> "InputOptions":
        """How the input is to be read. Raises `UsageError` for a value without a name that a variable may have."""
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
            render=self.render,
        )

    @property
    def assumed(self) -> "tuple[AssumedObjects, ...]":
        """What is to be taken to exist. Raises `UsageError` for what names no objects."""
        return tuple(map(assumption, self.assume_exists or ()))

    def show(
        self,
        forms: Forms,
        answer: object,
        *states: "Analysis",
        problems: "Collection[Diagnostic]" = (),
        unseen: "Collection[Unseen]" = (),
        headers: bool = True,
        namespaces: bool = False,
        everything: bool = False,
    ) -> None:
        """Show an answer about some states, and on standard error what its format cannot say.

        `problems` and `unseen` are those that the answer holds; for the others see `View`.
        """
        if not self.paths:
            self.live.settle()
        from kubectl_policy.cli import terminal
        from kubectl_policy.render.output.formats import remarks_on, render

        view = replace(
            terminal.view(self.program, *self._repeated()),
            headers=headers,
            namespaces=namespaces,
            everything=everything,
            coloured=format_of(self.output).styled and terminal.wants_colour(self.color),
        )
        if self.among:
            forms = self.among.forms(forms)
        shown = render(forms, answer, self.output, view)
        if self.among:
            self.among.take(forms, answer, view, shown)
        else:
            terminal.show(shown, view.width, coloured=view.coloured)
        terminal.complain(*remarks_on(forms, answer, self.output, shown, complete=not unseen))
        whole = format_of(self.output).tells == "everything"
        for state in states:
            mention_the_rest(state, problems if whole else (), unseen if whole else ())
            mention_what_was_not_applied(state, rendered=self.render)
            mention_what_was_assumed(state)

    def of_each_context(self) -> "Iterator[tuple[Among, Call]]":
        """The same call for the cluster of each context that is asked, and what that one answers."""
        from kubectl_policy.cli.clusters.several import Among

        for context in self.contexts_of(self.cluster):
            among = Among(context)
            yield among, replace(self, contexts=[context], all_contexts=False, among=among)

    def _repeated(self) -> list[str]:
        """The options that a command that is suggested next needs to see the same."""
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
        given = [word for name, values in options.items() for value in values or () for word in (name, value)]
        if self.default_namespace != _OPTIONS["default_namespace"].default:
            given += ["--default-namespace", self.default_namespace]
        return [*given, *(["--render"] if self.render else []), *(["--complete"] if self.complete else [])]


# What `Call` says of each option.
_OPTIONS: Final = fields_of(Call)
# These come before the options that a command has of its own, the others after them.
INPUT: Final = ("default_namespace", "exclude", "cluster", "variables", "render")
_FIRST: Final = ("offline", "namespace", *INPUT)
_OF_ANSWERS: Final = ("output", "color")
CLUSTER: Final = tuple(fields_of(ClusterFlags))
_LAST: Final = ("output", "watch", "profiles", "setting", "complete", "assume_exists", "color", *CLUSTER)


def command(
    forms: Forms | None = None,
    *,
    without: "Collection[str]" = (),
    watches: bool = False,
    paths: "Collection[str]" = (),
) -> "Callable[[Callable[..., int]], Command]":
    """Give a function the options of `Call`, but for some, in front of those of its own; it gets them as its `call`.

    Which formats `--output` takes, its forms say; the first is the one that is shown unless another is asked for.
    Without forms the command shows no answer, and `--output` is its own to give. If it `watches`, it takes `--watch`.
    Those of its own parameters that are `paths` name manifests, as `--offline` does.
    """

    def with_options(function: "Callable[..., int]") -> Command:
        def run(program: str, given: dict[str, Any]) -> int:
            from kubectl_policy.cli.terminal import is_terminal

            # What is given empty, as by `-n "$UNSET"`, is as if it was left out: so does kubectl.
            is_asked_for = bool(given.get("output"))
            told: dict[str, Any] = {name: given.pop(name) or _OPTIONS[name].default for name in shared}
            if forms and forms.redirected and not is_asked_for and not is_terminal():
                told["output"] = forms.redirected
            own_paths = [path for name in paths for path in given.pop(name) or ()]
            if own_paths:
                told["offline"] = [*(told["offline"] or ()), *own_paths]
            call = Call(program=program, **told)
            if call.watch and (call.paths or call.asks_several):
                raise UsageError(
                    "--watch is for one cluster", "leave out --watch, or name one --context and no manifests"
                )
            if call.paths:
                return function(call, **given)
            if call.watch:
                from kubectl_policy.cli.clusters.watching import watched

                return watched(call.live, lambda live: function(replace(call, reached=live), **given), call.output)
            if call.asks_several:
                from kubectl_policy.cli.clusters.several import Asked, answered_by_each

                asked = [
                    Asked(among=among, live=one.live, ask=partial(function, one, **given))
                    for among, one in call.of_each_context()
                ]
                return answered_by_each(asked, call.output)
            from kubectl_policy.cli.clusters.live import answered

            return answered(call.live, lambda: function(call, **given))

        left_out = {*without, *(() if forms else _OF_ANSWERS), *(() if watches else ("watch",))}
        shared = [name for name in (*_FIRST, *_LAST) if name not in left_out]
        own = declared(function.__annotations__, function.__kwdefaults__ or {})
        words = [parameter for parameter in own if not parameter.names]
        options = [parameter for parameter in own if parameter.names]
        first, last = ([_option(name, forms) for name in names if name in shared] for names in (_FIRST, _LAST))
        return Command(function.__doc__ or "", (*words, *first, *options, *last), run)

    return with_options


def _option(name: str, forms: Forms | None) -> Parameter:
    if name == "output" and forms:
        # Its formats are known when the command is built.
        option = Option("--output", "-o", metavar=f"[{'|'.join(forms.formats)}]", help=_OUTPUT, parser=_output(forms))
        return Parameter(name, str, option, "" if forms.redirected else forms.formats[0])
    annotations = {**ClusterFlags.__annotations__, **Call.__annotations__}
    (shared,) = declared({name: annotations[name]}, {name: _OPTIONS[name].default})
    return shared


_OUTPUT: Final = "Output format; also jsonpath=TEMPLATE and custom-columns=HEADER:PATH,..."


def _output(forms: Forms) -> "Callable[[str], str]":
    """What takes the value of `--output`. It raises `UsageError` for a format in which an answer is not offered."""

    def parsed(name: str) -> str:
        kind, is_template, _ = name.partition("=")
        if not name and forms.redirected:
            # Where standard output goes decides.
            return name
        if is_template and kind in TEMPLATES:
            format_of(name)
        elif name not in forms.formats:
            known = ", ".join(f"'{each}'" for each in (*forms.formats, *(f"{each}=..." for each in TEMPLATES)))
            problem = f"invalid value for '--output' / '-o': '{name}' is not one of {known}"
            raise UsageError(problem, "for example: -o json")
        return name

    return parsed


def exit_code(*, differs: bool, incomplete: bool) -> int:
    """How to end: 4 where that cannot be told for what was not seen, else 1 if anything differs, else 0."""
    if incomplete:
        return INCOMPLETE
    return FOUND if differs else 0
