"""Where snapshots come from: manifests in files."""

from kubectl_policy.sources.locate import locate
from kubectl_policy.sources.manifests import load_manifests

__all__ = ["load_manifests", "locate"]
