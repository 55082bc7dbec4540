package inspect

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Access is the answer of `access`: whether an inbound allows a request
// (SPEC 10).
type Access struct {
	Semantics semantics.Semantics `json:"semantics"` // the semantics of the decision (SPEC 17.1)
	Decision
	Shadow       *Decision         `json:"shadow,omitempty"`
	Warnings     []diag.Diagnostic `json:"warnings"`
	*Explanation                   // with Options.Explain
	// Why compares the request with every entry that the inbound can match, with
	// Options.Why.
	Why []Why `json:"why,omitempty"`
}

// Why is the comparison of an entry or item with a request.
type Why struct {
	Decider
	Condition *UnmetCondition `json:"condition,omitempty"` // the first condition that fails; nil: the entry or item matches
}

// UnmetCondition is a condition of an entry that a request does not meet.
type UnmetCondition struct {
	Field string  `json:"field"`
	Want  string  `json:"want"`
	Have  *string `json:"have"` // null: the request has none
}

// Explanation is the reason why a request is allowed or denied.
type Explanation struct {
	Reason string `json:"reason"`
	// Nearest is the allowing entry or item with the fewest failed conditions,
	// for a request that is denied by default.
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

// String describes the condition and the value in the request.
func (f Failure) String() string { return request.Failure(f).String() }

// Decision is ALLOW or DENY, with the entry or item that decides.
type Decision struct {
	Decision string  `json:"decision"`
	By       Decider `json:"by"`
}

// Decider decides a request. It is an entry of a rule, an item of `from`, or
// the default, which denies unless no permission is applied.
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

// Permissions returns the permissions of an inbound, given by its index,
// without policies that only inform.
func Permissions(view *core.View, d *resource.Dataplane, inbound int) *permission.Permissions {
	return requests.PermissionsOf(requests.ConfigOf(view, d), d, inbound, view.PermissionsApply(d))
}

// FilterPermissions is Permissions without the entries that no client can match, as the filter
// of the inbound has them. It reports whether clients may have certificates.
func FilterPermissions(view *core.View, d *resource.Dataplane, inbound int) (_ *permission.Permissions, certificates bool) {
	p, space := Permissions(view, d, inbound), requests.SpaceOf(view, d)
	return space.Visible(p), !space.Plain
}

// NewAccess returns the answer for a request to an inbound, given by its index.
func NewAccess(view *core.View, d *resource.Dataplane, inbound int, r *request.Request, options Options) *Access {
	options.Semantics = view.Semantics()
	p := Permissions(view, d, inbound)
	space := requests.SpaceOf(view, d)
	shown, hidden := space.Shown(r)
	if !space.Plain { // otherwise the nearest entry may ask for what the client cannot show
		p = space.Visible(p)
	}
	explanation := p.Explain(shown)
	answer := explanation.Answer
	a := &Access{Semantics: view.Semantics(), Decision: NewDecision(answer.Decision, options), Warnings: append([]diag.Diagnostic{}, p.Warnings...)}
	switch {
	case len(hidden) > 0 && !space.Plain && p.Clients != nil:
		a.Warnings = append(a.Warnings, diag.Diagnostic{
			Code: diag.UnseenEntry, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound),
			What: "certificates of the MeshIdentity have no tags: the inbound does not see those of the client",
			Hint: "write rules for its SPIFFE ID",
		})
	case len(hidden) > 0 && space.Plain:
		a.Warnings = append(a.Warnings, diag.Diagnostic{
			Code: diag.NotSeenInPlainText, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound),
			What: "the inbound has no TLS, because no MeshIdentity selects the dataplane: it does not see the " + strings.Join(hidden, ", the ") + " of the client",
			Hint: "select the dataplane with a MeshIdentity",
		})
	}
	if !space.Trusts(shown.SpiffeID) {
		a.Warnings = append(a.Warnings, diag.Diagnostic{
			Code: diag.UnseenEntry, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", inbound),
			What: "the dataplane has no CA for the trust domain of the client: no entry that allows its SPIFFE ID matches",
			Hint: "add a MeshTrust of the trust domain",
		})
	}
	if answer.HasShadow {
		shadow := NewDecision(answer.Shadow, options)
		a.Shadow = &shadow
	}
	if options.Explain {
		a.Explanation = newExplanation(&explanation, options)
	}
	if options.Why {
		a.Why = newWhys(p.Results(shown), options)
	}
	return a
}

// AccessPoint returns the dataplane and the index of the inbound for [NewAccess] that an
// inbound or a listener has by its name for [find.Point]. A listener of an egress is an
// inbound of HTTP, because it leads to external services of every protocol (SPEC 17.4).
// Without a name it is the only one of the dataplane. The error is [find.ErrNotFound] or
// [find.ErrUsage].
func AccessPoint(view *core.View, d *resource.Dataplane, name string) (*resource.Dataplane, int, error) {
	point, err := find.Point(view, d, name)
	if err != nil || point < len(d.Inbounds) {
		return d, point, err
	}
	i := point - len(d.Inbounds)
	switch {
	case len(d.GatewayListeners()) > 0:
		return nil, 0, find.NotFoundf("no permissions decide at listener %q of %s: a builtin gateway accepts clients without an identity", name, d.Name)
	case !d.Listeners[i].Egress:
		return nil, 0, find.NotFoundf("no permissions decide at listener %q of %s: an ingress passes TLS as it is; ask for the dataplanes behind it", name, d.Name)
	}
	if id, err := view.Identities(d.Mesh).IdentityOf(d); id == nil || err != nil {
		return nil, 0, find.NotFoundf("listener %q of %s is not served: an egress needs an identity, and no MeshIdentity gives the dataplane one", name, d.Name)
	}
	return d.ListenersAsInbounds("http"), i, nil
}

// newWhys returns how entries and items compare with a request.
func newWhys(results []permission.Result, options Options) []Why {
	whys := make([]Why, len(results))
	for i := range results {
		result := &results[i]
		whys[i].Decider = NewDecider(&result.Place, options)
		if len(result.Failed) > 0 {
			f := &result.Failed[0]
			whys[i].Condition = &UnmetCondition{Field: f.Field, Want: f.Want}
			if f.Got != "" {
				whys[i].Condition.Have = &f.Got
			}
		}
	}
	return whys
}

func NewDecision(d permission.Decision, options Options) Decision {
	if d.By == nil {
		return Decision{d.String(), Decider{Default: true}}
	}
	return Decision{d.String(), NewDecider(d.By, options)}
}

func NewDecider(at *permission.Place, options Options) Decider {
	origin, section := results.Origin{Policy: at.Policy, Index: at.Index}, at.Policy.Type.From
	if at.List != permission.From {
		origin.Index, section = at.Rule, at.Policy.Type.Rules
	}
	o := options.Origin(origin, section)
	by := Decider{KRI: o.KRI, Index: &at.Index, Item: o.Item, Source: o.Source}
	if at.List != permission.From {
		by.Rule, by.List = &at.Rule, at.List.String()
		by.Item += fmt.Sprintf(".%s[%d]", at.List, at.Index)
	}
	return by
}

func newExplanation(e *permission.Explanation, options Options) *Explanation {
	explanation := &Explanation{Reason: e.Reason}
	if e.Nearest != nil {
		failed := lists.Map(e.Nearest.Failed, func(f request.Failure) Failure { return Failure(f) })
		explanation.Nearest = &Nearest{Decider: NewDecider(&e.Nearest.Place, options), Failed: failed}
	}
	return explanation
}
