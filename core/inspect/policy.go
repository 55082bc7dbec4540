package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Policy is the answer of `inspect policy`: what a policy selects, and what
// it does there.
type Policy struct {
	Policy     PolicyRef      `json:"policy"`
	Dataplanes []PolicyTarget `json:"dataplanes"` // sorted by identity
}

// PolicyRef names a policy.
type PolicyRef struct {
	Kind      string `json:"kind"`
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	KRI       string `json:"kri"`
	Level     string `json:"level"`
}

// PolicyTarget is a dataplane that a policy selects.
type PolicyTarget struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	KRI       string   `json:"kri"`
	Inbounds  []string `json:"inbounds,omitempty"`
	// Action is "enforce" or "inform"; Because says why (SPEC 8.4).
	Action  string `json:"action"`
	Because string `json:"because"`
}

// NewPolicy returns the answer for a policy of the view.
func NewPolicy(view *core.View, p *resource.Policy) *Policy {
	answer := &Policy{
		Policy:     PolicyRef{p.Kind, p.Mesh, p.Namespace, p.Name, p.KRI(), p.TargetRef.Kind.String()},
		Dataplanes: []PolicyTarget{},
	}
	const shadow = "label " + resource.EffectLabel + "=shadow"
	action, because := "enforce", "no "+shadow
	if p.Shadow() {
		action, because = "inform", shadow
	}
	var buffer match.Buffer
	for _, d := range view.Dataplanes(p.Mesh) {
		for _, s := range view.Select(d, core.Scope{Kind: p.Kind, Shadow: true}, &buffer) {
			if s.Policy == p {
				answer.Dataplanes = append(answer.Dataplanes, PolicyTarget{
					Name: d.Name, Namespace: d.Namespace, KRI: d.KRI(""),
					Inbounds: inboundNames(&s.Inbounds, d), Action: action, Because: because,
				})
			}
		}
	}
	return answer
}
