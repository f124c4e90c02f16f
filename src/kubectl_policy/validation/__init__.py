"""What an API server would refuse: the schemas and the rules of CustomResourceDefinitions."""

from kubectl_policy.validation.admission import Validation

__all__ = ["Validation"]
