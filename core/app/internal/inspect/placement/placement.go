package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Placements is the answer of `placement` (SPEC 10): the targets on which
// policies are enforced or inform, and the bindings that cause this.
type Placements struct {
	Policies []PlacedPolicy `json:"policies"` // sorted by kind, namespace and name
}

// PlacedPolicy is an OCM policy, or a policy of a mesh.
type PlacedPolicy struct {
	Kind              string         `json:"kind"`
	Namespace         string         `json:"namespace,omitempty"`
	Name              string         `json:"name"`
	RemediationAction string         `json:"remediationAction"` // the policy's own, in lower case
	Targets           []PlacedTarget `json:"targets"`           // sorted by cluster or dataplane
}

// PlacedTarget is a cluster on which an OCM policy is placed, or a dataplane
// that a mesh policy selects.
type PlacedTarget struct {
	Cluster   string `json:"cluster,omitempty"`
	Dataplane string `json:"dataplane,omitempty"` // KRI
	Action    string `json:"action"`              // "enforce" or "inform"
	// Because names the bindings that enforce the policy. If the policy enforces
	// by itself, or informs, it names the bindings that place it.
	Because []string `json:"because"`
	// Name is the namespace/name of the dataplane, or the name of the cluster.
	Name string `json:"-"`
}

// New returns the answer for every OCM policy, and for the policies of
// a mesh that have a binding or the shadow label. If mesh is empty, the answer
// has no mesh policies.
func New(view *core.View, mesh string) *Placements {
	state := view.Enforcement()
	answer := &Placements{Policies: []PlacedPolicy{}}
	for effect := range state.Effects() {
		answer.Policies = append(answer.Policies, placedPolicy(state, effect))
	}
	answer.Policies = append(answer.Policies, placedMeshPolicies(view, state, mesh)...)
	slices.SortFunc(answer.Policies, func(a, b PlacedPolicy) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return answer
}

// Named returns the part of the answer about the policies with a name. The error
// is [find.ErrNotFound].
func (p *Placements) Named(wanted find.Name) (*Placements, error) {
	name, namespace, err := wanted.Split("policy")
	if err != nil {
		return nil, err
	}
	part, names := &Placements{}, []string{}
	for _, policy := range p.Policies {
		names = append(names, policy.Name)
		if policy.Name == name && (namespace == nil || *namespace == policy.Namespace) {
			part.Policies = append(part.Policies, policy)
		}
	}
	if len(part.Policies) == 0 {
		slices.Sort(names)
		return nil, find.NotFound(fmt.Sprintf("there is no policy %q with a placement", wanted.Name), name, slices.Compact(names))
	}
	return part, nil
}

// Count returns the number of targets with an action.
func (p *PlacedPolicy) Count(action ocm.Action) int {
	n := 0
	for _, t := range p.Targets {
		if t.Action == action.String() {
			n++
		}
	}
	return n
}

func placedPolicy(state *enforce.Hub, effect *enforce.Effect) PlacedPolicy {
	p := newPlacedPolicy(&effect.Policy.Meta, effect.Policy.Action)
	for cluster, target := range state.Targets(effect) {
		p.Targets = append(p.Targets, PlacedTarget{Cluster: cluster, Action: target.Action.String(), Because: target.Because, Name: cluster})
	}
	return p
}

func newPlacedPolicy(meta *resource.Meta, action ocm.Action) PlacedPolicy {
	return PlacedPolicy{
		Kind: meta.Kind, Namespace: meta.Namespace, Name: meta.Name,
		RemediationAction: action.String(), Targets: []PlacedTarget{},
	}
}

// placedMeshPolicies returns the policies of a mesh that the answer contains,
// in no particular order.
func placedMeshPolicies(view *core.View, state *enforce.Hub, mesh string) []PlacedPolicy {
	var list []PlacedPolicy
	for _, p := range view.Policies(mesh) {
		own := ocm.Enforce
		if p.Shadow() {
			own = ocm.Inform
		} else if len(state.Bindings(&p.ID)) == 0 {
			continue
		}
		placed := newPlacedPolicy(&p.Meta, own)
		selected, _ := view.SelectedBy(p.ID) // the view contains the policy
		for _, s := range selected {
			placed.add(view, s.Dataplane, state.MeshTarget(p, s.Dataplane))
		}
		list = append(list, placed)
	}
	for _, p := range list {
		slices.SortFunc(p.Targets, func(a, b PlacedTarget) int { return strings.Compare(a.Dataplane, b.Dataplane) })
	}
	return list
}

func (p *PlacedPolicy) add(view *core.View, d *resource.Dataplane, target enforce.Target) {
	p.Targets = append(p.Targets, PlacedTarget{
		Dataplane: inspect.DataplaneKRI(view, d), Action: target.Action.String(), Because: append([]string{}, target.Because...), Name: d.Qualified(),
	})
}
