package ocm

import "github.com/meshmatch/meshmatch/core/resource"

// Resource is one of the resources in this package.
type Resource interface {
	// Identity returns the identity, labels and position of the resource.
	Identity() *resource.Meta
}

// Identity returns the identity, labels and position of the policy.
func (r *Policy) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the set.
func (r *PolicySet) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the binding.
func (r *PlacementBinding) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the rule.
func (r *PlacementRule) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the placement.
func (r *Placement) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the decision.
func (r *PlacementDecision) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the cluster.
func (r *ManagedCluster) Identity() *resource.Meta { return &r.Meta }

// Identity returns the identity, labels and position of the rollout.
func (r *Rollout) Identity() *resource.Meta { return &r.Meta }
