"""Workloads: the Pods of a snapshot, or what makes them, found by their labels, and the Services in front of them."""

from kubectl_policy.topology.workloads.pod_sets import NO_PODS, PodSet
from kubectl_policy.topology.workloads.population import Workloads
from kubectl_policy.topology.workloads.workload import ContainerPort, Workload

__all__ = ["NO_PODS", "ContainerPort", "PodSet", "Workload", "Workloads"]
