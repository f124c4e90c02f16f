"""The table of commands, with their modules and summaries, and the headings of options in help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


# The headings under which help lists options, in this order.
ARGUMENTS: Final = "Arguments"
SELECTION: Final = "Selection"
MATRIX: Final = "With effective"
RULES: Final = "Rules"
CHANGES: Final = "Changes"
INPUT: Final = "Input"
OUTPUT: Final = "Output"
EXIT_CODE: Final = "Exit code"
CLUSTER: Final = "Cluster"
OTHER_OPTIONS: Final = "Other options"
HEADINGS: Final = (ARGUMENTS, SELECTION, MATRIX, RULES, CHANGES, INPUT, OUTPUT, EXIT_CODE, CLUSTER, OTHER_OPTIONS)


class CommandEntry(NamedTuple):
    """Where a command is, and how the list of commands shows it."""

    module: str  # in `commands`; the function has the name of the command, with `_` for `-`
    summary: str  # the first line of its docstring
    panel: str  # the heading of its group


_QUESTIONS: Final = "Ask about policies and the objects that they affect"
_CHECKS: Final = "Check manifests, clusters and changes"
_HELPERS: Final = "Other commands"

# In the order in which help lists them. Completion reads this table without importing any command.
COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "describe": CommandEntry("describe", "Show what affects an object, or what a policy affects.", _QUESTIONS),
    "get": CommandEntry("get", "List policies, policy kinds, or objects that policies affect.", _QUESTIONS),
    "explain": CommandEntry("explain", "Explain a policy kind and how its policies combine.", _QUESTIONS),
    "why-not": CommandEntry("why_not", "Explain why a policy has no effect on an object.", _QUESTIONS),
    "graph": CommandEntry("graph", "Draw Gateways, routes and backends with their policies.", _QUESTIONS),
    "lint": CommandEntry("lint", "Find problems in policies, routes and Gateways.", _CHECKS),
    "diff": CommandEntry("changes", "Compare the effects of policies in two states.", _CHECKS),
    "blast-radius": CommandEntry("changes", "Show what deleting an object would change.", _CHECKS),
    "status": CommandEntry("status", "Compare reported conditions with computed ones.", _CHECKS),
    "history": CommandEntry("history", "Show how settings of an object changed in git.", _CHECKS),
    "snapshot": CommandEntry("snapshot", "Save the cluster state to a file for offline use.", _HELPERS),
    "completion": CommandEntry("version", "Generate a shell completion script.", _HELPERS),
    "version": CommandEntry("version", "Print the version.", _HELPERS),
}
