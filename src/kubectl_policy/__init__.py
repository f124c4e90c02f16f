"""Read what affects Gateway API objects from the outside: topology, attachments and effective policies as values.

The public API: `load_manifests` and `load_state` read a snapshot, `analyze` makes an `Analysis` of it; everything that
the command line shows can be asked there. Names are imported when they are first used, so that importing a part costs
that part alone.
"""

# Not from `typing`: whoever wants the name alone, or the command line, waits for no import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from kubectl_policy.analysis import Analysis, analyze
    from kubectl_policy.attachment import Attachment
    from kubectl_policy.comparison import StateComparison, compare, what_if
    from kubectl_policy.errors import PolicyError
    from kubectl_policy.model import Diagnostic, Gap, GroupKind, NodeRef, ObjectRef, Origin, Resource, Snapshot
    from kubectl_policy.profiles import MergeStrategy, PolicyKindProfile, TargetLevel, load_profiles
    from kubectl_policy.resolution import EffectivePolicy, Enforcement, Fate, Leaf, Source, leaves, plain
    from kubectl_policy.sources import InputOptions, load_manifests, load_state
    from kubectl_policy.topology import Implementation, Path, Topology

__version__ = "0.1.0"

__all__ = [
    "Analysis",
    "Attachment",
    "Diagnostic",
    "EffectivePolicy",
    "Enforcement",
    "Fate",
    "Gap",
    "GroupKind",
    "Implementation",
    "InputOptions",
    "Leaf",
    "MergeStrategy",
    "NodeRef",
    "ObjectRef",
    "Origin",
    "Path",
    "PolicyError",
    "PolicyKindProfile",
    "Resource",
    "Snapshot",
    "Source",
    "StateComparison",
    "TargetLevel",
    "Topology",
    "analyze",
    "compare",
    "leaves",
    "load_manifests",
    "load_profiles",
    "load_state",
    "plain",
    "what_if",
]

_HOMES = {
    "analysis": ("Analysis", "analyze"),
    "attachment": ("Attachment",),
    "comparison": ("StateComparison", "compare", "what_if"),
    "errors": ("PolicyError",),
    "model": ("Diagnostic", "Gap", "GroupKind", "NodeRef", "ObjectRef", "Origin", "Resource", "Snapshot"),
    "profiles": ("MergeStrategy", "PolicyKindProfile", "TargetLevel", "load_profiles"),
    "resolution": ("EffectivePolicy", "Enforcement", "Fate", "Leaf", "Source", "leaves", "plain"),
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
