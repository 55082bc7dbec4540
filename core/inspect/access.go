package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Access is the answer of `access`: whether an inbound lets a request in.
type Access struct {
	Decision string               `json:"decision"` // ALLOW or DENY
	By       any                  `json:"by"`       // a [*permission.Place] or "default"
	Shadow   *permission.Decision `json:"shadow,omitempty"`
	Warnings []Warning            `json:"warnings"`
	// Answer is what the fields above tell.
	Answer permission.Answer `json:"-"`
}

// Permissions returns what an inbound, by its index, lets in. Policies that
// only inform take no part.
func Permissions(view *core.View, d *resource.Dataplane, inbound int) *permission.Permissions {
	for _, config := range view.Configs(d, core.Scope{Kind: permission.KindName}) {
		return permission.Of(config, d, inbound)
	}
	return permission.Of(nil, d, inbound)
}

// NewAccess returns the answer for a request.
func NewAccess(p *permission.Permissions, r *permission.Request) *Access {
	answer := p.Decide(r)
	a := &Access{Decision: answer.Decision.String(), By: "default", Warnings: newWarnings(p.Warnings), Answer: answer}
	if by := answer.Decision.By; by != nil {
		a.By = by
	}
	if answer.HasShadow {
		a.Shadow = &answer.Shadow
	}
	return a
}
