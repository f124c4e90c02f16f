"""The conditions that the controllers of policy kinds would report; what decides them is known from their profiles.

`policies` has what is said of a policy and of what it affects, and is where a new condition of a controller goes: an
event in `profiles.status`, and here when it happens. `ancestors` has where it is said, `specificity` what overrides or
is merged with a policy. What the controllers of Gateways and routes report of these is in
`topology.gateway.conditions` and `topology.judged.conditions`.
"""
