package ocm

import "github.com/meshmatch/meshmatch/core/resource"

// Resource is one of the resources in this package.
type Resource interface {
	// Identity returns the identity, labels and position of the resource.
	Identity() *resource.Meta
	kind() string
}

func (*Policy) kind() string            { return PolicyKind }
func (*PolicySet) kind() string         { return PolicySetKind }
func (*PlacementBinding) kind() string  { return PlacementBindingKind }
func (*PlacementRule) kind() string     { return PlacementRuleKind }
func (*Placement) kind() string         { return PlacementKind }
func (*PlacementDecision) kind() string { return PlacementDecisionKind }
func (*ManagedCluster) kind() string    { return ManagedClusterKind }
func (*Rollout) kind() string           { return RolloutKind }
