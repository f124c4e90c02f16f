"""Read what affects Gateway API objects from the outside: topology, attachments and effective policies as values.

The public API: `load_manifests` and `load_state` read a snapshot, `analyze` makes an `Analysis` of it, of which
questions are asked as on the command line: `describe`, `in_force`, `matrix`, `why_not`, `blast_radius`, `diff` and
`status`. Names are imported when they are first used, so that importing a part costs that part alone.
"""

# Not from `typing`: whoever wants the name alone, or the command line, waits for no import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis, analyze
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.comparison import StateComparison, compare, what_if
    from kubectl_policy.errors import NotFoundError, PolicyError, UsageError
    from kubectl_policy.model import Diagnostic, Gap, GroupKind, NodeRef, ObjectRef, Origin, Resource, Snapshot
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel, load_profiles
    from kubectl_policy.questions.blast_radius import BlastRadius, blast_radius
    from kubectl_policy.questions.describe.objects import ObjectDescription, describe
    from kubectl_policy.questions.describe.policies import PolicyDescription, describe_policy
    from kubectl_policy.questions.diff import StateDiff, diff
    from kubectl_policy.questions.matrix import Matrix, MatrixOptions, matrix
    from kubectl_policy.questions.shared.effects import WayInForce, in_force
    from kubectl_policy.questions.shared.in_force import InForce, Setting
    from kubectl_policy.questions.shared.selection import Selection
    from kubectl_policy.questions.status.report import StatusReport, status
    from kubectl_policy.questions.why_not.answer import WhyNot, why_not
    from kubectl_policy.resolution import EffectivePolicy, Fate, Leaf, Source, leaves, plain
    from kubectl_policy.resolution.enforcement import Enforcement
    from kubectl_policy.sources import InputOptions, load_manifests, load_state
    from kubectl_policy.topology import Implementation, Path, Topology

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Attachment",
    "BlastRadius",
    "Diagnostic",
    "EffectivePolicy",
    "Enforcement",
    "Fate",
    "Gap",
    "GroupKind",
    "Implementation",
    "InForce",
    "InputOptions",
    "Leaf",
    "Matrix",
    "MatrixOptions",
    "MergeStrategy",
    "NodeRef",
    "NotFoundError",
    "ObjectDescription",
    "ObjectRef",
    "Origin",
    "Path",
    "PolicyDescription",
    "PolicyError",
    "PolicyKindProfile",
    "Resource",
    "Selection",
    "Setting",
    "Snapshot",
    "Source",
    "StateComparison",
    "StateDiff",
    "StatusReport",
    "TargetLevel",
    "Topology",
    "UsageError",
    "WayInForce",
    "WhyNot",
    "analyze",
    "blast_radius",
    "compare",
    "describe",
    "describe_policy",
    "diff",
    "in_force",
    "leaves",
    "load_manifests",
    "load_profiles",
    "load_state",
    "matrix",
    "plain",
    "status",
    "what_if",
    "why_not",
]

_HOMES = {
    "analysis": ("Analysis", "analyze"),
    "attachment": ("Attachment",),
    "comparison": ("StateComparison", "compare", "what_if"),
    "errors": ("NotFoundError", "PolicyError", "UsageError"),
    "model": ("Diagnostic", "Gap", "GroupKind", "NodeRef", "ObjectRef", "Origin", "Resource", "Snapshot"),
    "profiles": ("MergeStrategy", "PolicyKindProfile", "TargetLevel", "load_profiles"),
    "questions.blast_radius": ("BlastRadius", "blast_radius"),
    "questions.diff": ("StateDiff", "diff"),
    "questions.describe.objects": ("ObjectDescription", "describe"),
    "questions.describe.policies": ("PolicyDescription", "describe_policy"),
    "questions.matrix": ("Matrix", "MatrixOptions", "matrix"),
    "questions.shared.effects": ("WayInForce", "in_force"),
    "questions.shared.in_force": ("InForce", "Setting"),
    "questions.shared.selection": ("Selection",),
    "questions.status.report": ("StatusReport", "status"),
    "questions.why_not.answer": ("WhyNot", "why_not"),
    "resolution": ("EffectivePolicy", "Fate", "Leaf", "Source", "leaves", "plain"),
    "resolution.enforcement": ("Enforcement",),
    "sources": ("InputOptions", "load_manifests", "load_state"),
    "topology": ("Path", "Implementation", "Topology"),
}


def __getattr__(name: str) -> object:
    """Import a public name from its home (PEP 562)."""
    from importlib import import_module  # noqa: PLC0415 (see above)

    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"kubectl_policy.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, also those that were not used yet."""
    return [*__all__, "__version__"]
