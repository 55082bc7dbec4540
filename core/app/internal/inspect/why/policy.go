package why

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// An Effect is the effect of a policy on a dataplane, or on a part of it, in a
// word or two (SPEC 13.4).
type Effect string

// The effects.
const (
	Applies     Effect = "applies"      // it sets a field that is in effect
	Overridden  Effect = "overridden"   // it sets fields, but all of them are overridden
	Informs     Effect = "informs"      // it is not enforced there
	NotSelected Effect = "not selected" // it does not select the dataplane or the part
	WithoutAny  Effect = "no effect"    // it sets no field, or none that the proxy gets
)

// Policy is the answer of `why` for a policy and a dataplane (SPEC 13.4).
type Policy struct {
	Semantics semantics.Semantics `json:"semantics"` // the semantics of the answer (SPEC 17.1)
	Answer    Effect              `json:"answer"`
	// Because names the bindings that place a policy that Informs. Reason is the reason
	// why the policy has no effect, if one reason covers all of it.
	Because []string `json:"because,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	// Fields are the values that are in effect, by JSON pointer. Overridden contains, by
	// JSON pointer, the items that override the other fields of the policy. For a policy
	// that Informs, both are as if it were enforced. If several places or items set one
	// field, the first one is here; Places has all of them.
	Fields     map[string]json.RawMessage `json:"fields,omitempty"`
	Overridden map[string]inspect.Decider `json:"overridden,omitempty"`
	// Collectors contains, by the JSON pointers of references in Fields, the collectors to
	// which they lead; null for a reference that finds none.
	Collectors map[string]*inspect.Collector `json:"collectors,omitempty"`
	Places     []PlaceEffect                 `json:"places,omitempty"`
	// Condition is the condition that fails if the policy or its items do not
	// select. Nearest is a dataplane that the policy selects.
	Condition *inspect.UnmetCondition `json:"condition,omitempty"`
	Nearest   *Selected               `json:"nearest,omitempty"`
}

// PlaceEffect contains the fields that one item of a policy sets at one place.
type PlaceEffect struct {
	Place      inspect.Place              `json:"place"`
	Item       string                     `json:"item"` // such as "to[0]"
	Fields     map[string]json.RawMessage `json:"fields,omitempty"`
	Overridden map[string]inspect.Decider `json:"overridden,omitempty"`
	NoEffect   map[string]string          `json:"noEffect,omitempty"` // the reasons why the proxy does not get fields
	// Collectors is like Policy.Collectors, for Fields of this place.
	Collectors map[string]*inspect.Collector `json:"collectors,omitempty"`
}

// Selected is a dataplane that a policy selects.
type Selected struct {
	Dataplane string `json:"dataplane"` // KRI
}

// Policies is the answer of `why` for all policies of a kind and a dataplane.
type Policies struct {
	Semantics semantics.Semantics `json:"semantics"`
	Policies  []NamedEffect       `json:"policies"` // sorted by identity
}

// NamedEffect is the effect of a policy.
type NamedEffect struct {
	KRI    string `json:"kri"`
	Answer Effect `json:"answer"`
	Name   string `json:"-"` // namespace/name
}

// Query asks for the effect of policies of a kind on a dataplane, or on a
// part of it.
type Query struct {
	Kind            *resource.Kind
	Outbound        string // for [find.Outbound]
	Inbound         string // for [find.Point]
	Listener        string // for [find.Listener]
	inspect.Options        // Source, NoEffect and Limits
}

// Check returns an error, [find.ErrUsage], if the fields do not go together.
func (q *Query) Check() error {
	switch {
	case q.Outbound != "" && q.Inbound != "":
		return find.Usagef("give %s or %s, not both", find.FieldOutbound, find.FieldInbound)
	case q.Listener != "" && q.Outbound+q.Inbound != "":
		return find.Usagef("give %s, %s or %s, not several", find.FieldOutbound, find.FieldInbound, find.FieldListener)
	case q.Outbound != "" && q.Kind.To == nil:
		return find.Usagef("%s has no conf for outbounds; leave %s out", q.Kind.Name, find.FieldOutbound)
	case q.Inbound != "" && q.Kind.From == nil && q.Kind.Rules == nil:
		return find.Usagef("%s has no conf for inbounds; leave %s out", q.Kind.Name, find.FieldInbound)
	}
	return nil
}

// NewPolicy returns the effect of a policy of the view on a dataplane. In
// addition to an answer it may return the errors of [inspect.NewDataplane]. If the answer is
// nil, the error is an [find.ErrUsage], an [find.ErrNotFound] or the cause of the context.
func NewPolicy(ctx context.Context, view *core.View, d *resource.Dataplane, p *resource.Policy, q *Query) (*Policy, error) {
	e, err := newEffects(ctx, view, d, q)
	if err != nil {
		return nil, err
	}
	answer, err := e.effectsFor(ctx, p)
	if answer != nil && answer.Answer == NotSelected {
		e.explainNotSelected(p, answer)
	}
	return answer, err
}

// NewPolicies returns the effect of each policy of the query's kind on a dataplane.
// It returns the same errors as [NewPolicy].
func NewPolicies(ctx context.Context, view *core.View, d *resource.Dataplane, q *Query) (*Policies, error) {
	e, err := newEffects(ctx, view, d, q)
	if err != nil {
		return nil, err
	}
	answer := &Policies{Semantics: view.Semantics(), Policies: []NamedEffect{}}
	var errs []error
	for _, p := range view.Policies(d.Mesh) {
		if p.Type != q.Kind {
			continue
		}
		effect, err := e.effectsFor(ctx, p)
		if effect == nil {
			return nil, err
		}
		errs = append(errs, err)
		answer.Policies = append(answer.Policies, NamedEffect{e.query.PolicyKRI(p), effect.Answer, p.Qualified()})
	}
	return answer, errors.Join(errs...)
}
