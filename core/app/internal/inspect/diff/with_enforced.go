package diff

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/resource"
)

// WithEnforced returns a view in which one policy that only informs is enforced too, for
// [New]. The set contains the resources of the view. The error is [find.ErrNotFound] if the
// set does not have the policy, or the cause of the context if it is canceled.
func WithEnforced(ctx context.Context, view *core.View, set *resource.Set, policy *resource.Policy) (*core.View, error) {
	at, found := slices.BinarySearchFunc(set.Policies, policy.ID, func(p *resource.Policy, id resource.ID) int { return p.ID.Compare(id) })
	if !found {
		return nil, find.NotFoundf("there is no %s any longer", policy.ID)
	}
	enforced := *policy
	enforced.Labels = slices.DeleteFunc(slices.Clone(policy.Labels), func(l resource.Tag) bool { return l.Key == resource.EffectLabel })
	with := *set
	with.Policies = slices.Clone(set.Policies)
	with.Policies[at] = &enforced
	return view.Options().NewView(ctx, view.Kinds(), &with)
}
