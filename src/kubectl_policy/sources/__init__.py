"""Where snapshots come from: manifests in files, and in revisions of git repositories."""

from kubectl_policy.sources.manifests import load_manifests, load_state, locate
from kubectl_policy.sources.options import InputOptions, Progress

__all__ = ["InputOptions", "Progress", "load_manifests", "load_state", "locate"]
