package enforce_test

import (
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// stateOf returns the state of some resources.
func stateOf(resources *ocm.Resources) *enforce.Hub {
	e := enforce.Empty().Edit()
	put(e, resources.ManagedClusters)
	put(e, resources.PlacementRules)
	put(e, resources.Placements)
	put(e, resources.PlacementDecisions)
	put(e, resources.PlacementBindings)
	put(e, resources.PolicySets)
	put(e, resources.Policies)
	put(e, resources.Rollouts)
	state, _ := e.Commit()
	return state
}

func put[R ocm.Resource](e *enforce.Editor, list []R) {
	for _, r := range list {
		e.Put(r)
	}
}
