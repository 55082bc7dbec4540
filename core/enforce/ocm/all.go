package ocm

import "iter"

// All yields the resources, kind by kind.
func (r *Resources) All() iter.Seq[Resource] {
	return func(yield func(Resource) bool) {
		_ = each(r.ManagedClusters, yield) &&
			each(r.PlacementRules, yield) &&
			each(r.Placements, yield) &&
			each(r.PlacementDecisions, yield) &&
			each(r.PlacementBindings, yield) &&
			each(r.PolicySets, yield) &&
			each(r.Policies, yield) &&
			each(r.Rollouts, yield)
	}
}

func each[R Resource](list []R, yield func(Resource) bool) bool {
	for _, r := range list {
		if !yield(r) {
			return false
		}
	}
	return true
}
