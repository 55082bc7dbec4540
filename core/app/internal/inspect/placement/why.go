package placement

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// Why is the answer of `why` about an OCM policy on a cluster (SPEC 13.4).
type Why struct {
	Namespace         string   `json:"namespace,omitempty"`
	Name              string   `json:"name"`
	Cluster           string   `json:"cluster"`
	Answer            string   `json:"answer"`            // "enforce", "inform" or "absent"
	RemediationAction string   `json:"remediationAction"` // the policy's own, in lower case
	Because           []string `json:"because"`           // the bindings that cause the answer
	// Bindings are those of the policy, directly or through sets, sorted by name.
	Bindings []BindingEffect `json:"bindings"`
	Reason   string          `json:"reason,omitempty"`
}

// BindingEffect is a binding of a policy, and whether it reaches the cluster.
type BindingEffect struct {
	Name      string `json:"name"`
	Placement string `json:"placement"` // kind and name
	Reaches   bool   `json:"reaches"`   // the placement contains the cluster
	Enforces  bool   `json:"enforces"`  // the binding overrides the policy's action
	SubFilter bool   `json:"subFilter"` // the binding places nothing by itself
}

// NewWhy answers about the policy with a name. The error is [find.ErrNotFound].
func NewWhy(view *core.View, wanted find.Name, cluster string) (*Why, error) {
	name, namespace, err := wanted.Split("policy")
	if err != nil {
		return nil, err
	}
	state := view.Enforcement()
	var found []*enforce.Effect
	var names []string
	for effect := range state.Effects() {
		names = append(names, effect.Policy.Name)
		if effect.Policy.Name == name && (namespace == nil || *namespace == effect.Policy.Namespace) {
			found = append(found, effect)
		}
	}
	switch {
	case len(found) == 0:
		slices.Sort(names)
		return nil, find.NotFound(fmt.Sprintf("there is no Policy %q", wanted.Name), name, slices.Compact(names))
	case len(found) > 1:
		return nil, find.Usagef("there are %d Policies %q; give NAMESPACE/NAME", len(found), name)
	case !state.HasCluster(cluster):
		return nil, find.NotFound(fmt.Sprintf("no resource names the cluster %q", cluster), cluster, nil)
	}
	return newWhy(state, found[0], cluster), nil
}

func newWhy(state *enforce.Hub, effect *enforce.Effect, cluster string) *Why {
	p := effect.Policy
	w := &Why{Namespace: p.Namespace, Name: p.Name, Cluster: cluster, Answer: "absent", RemediationAction: p.Action.String(), Because: []string{}, Bindings: []BindingEffect{}}
	for at, target := range state.Targets(effect) {
		if at == cluster {
			w.Answer, w.Because = target.Action.String(), target.Because
		}
	}
	placed := false // by a binding without a subFilter
	for _, b := range state.Bound(effect, cluster) {
		placed = placed || b.Reaches && !b.Binding.SubFilter
		w.Bindings = append(w.Bindings, BindingEffect{
			Name: b.Binding.Name, Placement: b.Binding.Placement.Kind + " " + b.Binding.Placement.Name,
			Reaches: b.Reaches, Enforces: b.Binding.Enforce, SubFilter: b.Binding.SubFilter,
		})
	}
	reaches := slices.ContainsFunc(w.Bindings, func(b BindingEffect) bool { return b.Reaches })
	switch {
	case p.Disabled:
		w.Reason = "the policy is disabled"
	case len(w.Bindings) == 0:
		w.Reason = "no binding binds the policy to a placement that exists"
	case !reaches:
		w.Reason = "no placement of its bindings contains the cluster"
	case !placed:
		w.Reason = "only bindings with a subFilter reach the cluster, and these place nothing"
	case w.Answer == ocm.Inform.String():
		w.Reason = "the policy informs by itself, and no binding that reaches the cluster overrides it"
	}
	return w
}
