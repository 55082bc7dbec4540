package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Policy is the answer of `inspect policy`: the dataplanes that a policy
// selects, and its action on each of them.
type Policy struct {
	Policy     PolicyRef      `json:"policy"`
	Dataplanes []PolicyTarget `json:"dataplanes"` // sorted by identity
}

// PolicyRef identifies a policy.
type PolicyRef struct {
	Kind      string `json:"kind"`
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	KRI       string `json:"kri"`
	Source    string `json:"source,omitempty"` // file:line; on demand
	Level     string `json:"level"`
}

// PolicyTarget is a dataplane that a policy selects.
type PolicyTarget struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	KRI       string   `json:"kri"`
	Source    string   `json:"source,omitempty"` // file:line; on demand
	Inbounds  []string `json:"inbounds,omitempty"`
	Listeners []string `json:"listeners,omitempty"` // of a builtin gateway or a zone proxy
	Action    string   `json:"action"`              // "enforce" or "inform"
	// Because names the bindings that enforce the policy or place it; none if
	// its label kuma.io/effect alone decides (SPEC 8.4).
	Because []string `json:"because"`
}

// NewPolicy returns the answer for a policy of the view. If source is set, the answer
// has file:line for each KRI. It returns the same errors as [core.View.SelectedBy].
func NewPolicy(view *core.View, p *resource.Policy, source bool) (*Policy, error) {
	selected, err := view.SelectedBy(p.ID)
	if err != nil {
		return nil, err
	}
	answer := &Policy{
		Policy:     PolicyRef{Kind: p.Kind, Mesh: p.Mesh, Namespace: p.Namespace, Name: p.Name, KRI: view.Semantics().KRI(p.KRI(), &p.Meta), Level: p.TargetRef.Kind.String()},
		Dataplanes: []PolicyTarget{},
	}
	if source {
		answer.Policy.Source = words.Source(p.Pos)
	}
	for _, s := range selected {
		ref, target := newDataplaneRef(view, s.Dataplane, source), view.Enforcement().MeshTarget(p, s.Dataplane)
		answer.Dataplanes = append(answer.Dataplanes, PolicyTarget{
			Name: ref.Name, Namespace: ref.Namespace, KRI: ref.KRI, Source: ref.Source,
			Inbounds: inboundNames(&s.Inbounds, s.Dataplane), Listeners: listenerNames(view, &s.Inbounds, s.Dataplane),
			Action: target.Action.String(), Because: append([]string{}, target.Because...),
		})
	}
	return answer, nil
}
