"""Values that everything else is made of, without I/O: names, objects, snapshots, worlds and their index."""

from kubectl_policy.model.fields import FieldPath, Json
from kubectl_policy.model.refs import GroupKind, NodeRef, ObjectRef
from kubectl_policy.model.snapshot import Diagnostic, Gap, Origin, Permission, Problem, Resource, Severity, Snapshot

__all__ = [
    "Diagnostic",
    "FieldPath",
    "Gap",
    "GroupKind",
    "Json",
    "NodeRef",
    "ObjectRef",
    "Origin",
    "Permission",
    "Problem",
    "Resource",
    "Severity",
    "Snapshot",
]
