package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Access is the answer of `access`: whether an inbound allows a request
// (SPEC 10).
type Access struct {
	Decision
	Shadow       *Decision         `json:"shadow,omitempty"`
	Warnings     []diag.Diagnostic `json:"warnings"`
	*Explanation                   // with Options.Explain
}

// Explanation is why a request is allowed or denied.
type Explanation struct {
	Reason string `json:"reason"`
	// Nearest is, for a request that is denied by default, the entry or item
	// that allows requests and of which the fewest conditions fail.
	Nearest *Nearest `json:"nearest,omitempty"`
}

// Nearest is an entry or item that nearly allows a request.
type Nearest struct {
	Decider
	Failed []Failure `json:"failed"` // the conditions that the request does not meet
}

// Failure is a condition that a request does not meet.
type Failure struct {
	Field string `json:"field"` // such as spiffeId or path
	Want  string `json:"want"`
	Got   string `json:"got"` // "": the request has none
}

// String describes the condition and what the request has.
func (f Failure) String() string { return request.Failure(f).String() }

// Decision is ALLOW or DENY, and what decides.
type Decision struct {
	Decision string  `json:"decision"`
	By       Decider `json:"by"`
}

// Decider is what decides about a request: an entry of a rule, an item of
// `from`, or the default, which denies.
type Decider struct {
	Default bool   `json:"default,omitempty"`
	KRI     string `json:"kri,omitempty"`
	Source  string `json:"source,omitempty"` // file:line of the rule or item; with Options.Source
	Rule    *int   `json:"rule,omitempty"`   // index in the policy's rules
	List    string `json:"list,omitempty"`   // of the rule
	Index   *int   `json:"index,omitempty"`  // in the list or in `from`
	// Item is the policy's name and the entry's field, such as
	// "shop/web rules[0].deny[1]".
	Item string `json:"-"`
}

// Allowed reports whether the request is allowed.
func (d *Decision) Allowed() bool { return d.Decision == permission.Decision{Allow: true}.String() }

// Permissions returns which requests an inbound, given by its index, allows.
// Policies that only inform are not part of it.
func Permissions(view *core.View, d *resource.Dataplane, inbound int) *permission.Permissions {
	return permission.ForInbound(view.Config(d, permission.KindName, core.Enforced), d, inbound)
}

// NewAccess returns the answer for a request to an inbound, given by its index.
func NewAccess(view *core.View, d *resource.Dataplane, inbound int, r *request.Request, options Options) *Access {
	p := Permissions(view, d, inbound)
	explanation := p.Explain(r)
	answer := explanation.Answer
	f := finder{config: view.Config(d, permission.KindName, core.Enforced), source: options.Source}
	a := &Access{Decision: f.decision(answer.Decision), Warnings: append([]diag.Diagnostic{}, p.Warnings...)}
	if answer.HasShadow {
		shadow := f.decision(answer.Shadow)
		a.Shadow = &shadow
	}
	if options.Explain {
		a.Explanation = f.explanation(&explanation)
	}
	return a
}

// finder finds the policies that decide.
type finder struct {
	config *rules.Config
	source bool
}

func (f *finder) decision(d permission.Decision) Decision {
	if d.By == nil {
		return Decision{d.String(), Decider{Default: true}}
	}
	return Decision{d.String(), f.decider(d.By)}
}

func (f *finder) decider(at *permission.Place) Decider {
	by := Decider{KRI: at.KRI, Index: &at.Index}
	if at.List != permission.From {
		by.Rule, by.List = &at.Rule, at.List.String()
	}
	for _, m := range f.config.Matched.All() {
		if m.Policy.KRI() == at.KRI {
			f.describe(&by, m.Policy)
		}
	}
	return by
}

func (f *finder) describe(by *Decider, p *resource.Policy) {
	origin, section := rules.Origin{Policy: p, Index: *by.Index}, p.Type.From
	if by.Rule != nil {
		origin.Index, section = *by.Rule, p.Type.Rules
	}
	o := newOrigin(origin, section, f.source)
	by.Item, by.Source = o.Item, o.Source
	if by.Rule != nil {
		by.Item += fmt.Sprintf(".%s[%d]", by.List, *by.Index)
	}
}

func (f *finder) explanation(e *permission.Explanation) *Explanation {
	explanation := &Explanation{Reason: e.Reason.String()}
	if e.Nearest != nil {
		explanation.Nearest = &Nearest{Decider: f.decider(&e.Nearest.Place)}
		for _, failure := range e.Nearest.Failed {
			explanation.Nearest.Failed = append(explanation.Nearest.Failed, Failure(failure))
		}
	}
	return explanation
}
