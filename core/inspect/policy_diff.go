package inspect

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// NewPolicyDiff compares the effective configuration of the dataplanes of a mesh with
// the one that they would have if one policy that only informs, and no other, were
// enforced in addition. The view is that of the set. Its errors are those of
// [NewDiff].
func NewPolicyDiff(view *core.View, set *resource.Set, policy *resource.Policy, options Options) (*Diff, error) {
	enforced := *policy
	enforced.Labels = slices.DeleteFunc(slices.Clone(policy.Labels), func(l resource.Tag) bool { return l.Key == resource.EffectLabel })
	with := *set
	with.Policies = slices.Clone(set.Policies)
	with.Policies[slices.Index(set.Policies, policy)] = &enforced
	after, err := core.NewView(view.Kinds(), &with)
	if err != nil {
		return nil, err
	}
	options.Shadow = false
	return NewDiff(view, after, policy.Mesh, options)
}
