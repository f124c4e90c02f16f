"""Shell completion: candidates for the word under the cursor, in the protocol of kubectl and cobra."""

from typing import Final

# The file with the completion script of each shell, and for kubectl.
SCRIPTS: Final = {
    "bash": "kubectl-policy.bash",
    "fish": "kubectl-policy.fish",
    "kubectl": "kubectl_complete-policy",
    "zsh": "kubectl-policy.zsh",
}
