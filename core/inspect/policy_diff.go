package inspect

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// NewPolicyDiff compares the effective configuration of the dataplanes of a mesh with
// their configuration if one policy that only informs were enforced in addition. The set
// contains the resources of the view. The error is [ErrNotFound] if the set does not have
// the policy, the cause of the context if it is canceled, or an error of [NewDiff].
func NewPolicyDiff(ctx context.Context, view *core.View, set *resource.Set, policy *resource.Policy, options Options) (*Diff, error) {
	at, found := slices.BinarySearchFunc(set.Policies, policy.ID, func(p *resource.Policy, id resource.ID) int { return p.ID.Compare(id) })
	if !found {
		return nil, notFoundf("there is no %s any longer", policy.ID)
	}
	enforced := *policy
	enforced.Labels = slices.DeleteFunc(slices.Clone(policy.Labels), func(l resource.Tag) bool { return l.Key == resource.EffectLabel })
	with := *set
	with.Policies = slices.Clone(set.Policies)
	with.Policies[at] = &enforced
	after, err := view.Options().NewView(ctx, view.Kinds(), &with)
	if err != nil {
		return nil, err
	}
	options.Shadow = false
	return NewDiff(view, after, policy.Mesh, options)
}
