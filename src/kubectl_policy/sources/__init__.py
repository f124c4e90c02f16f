"""Read snapshots: from manifests, archives, revisions in git, snapshot files and clusters."""

from kubectl_policy.sources.lines import Lines, locate
from kubectl_policy.sources.manifests import is_live, load_input, load_manifests, load_state
from kubectl_policy.sources.options import InputOptions, Progress

__all__ = ["InputOptions", "Lines", "Progress", "is_live", "load_input", "load_manifests", "load_state", "locate"]
