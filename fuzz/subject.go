package fuzz

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Subject makes what is compared with the reference, for one state of the
// world.
type Subject func(kinds *resource.Kinds, set *resource.Set) (Answers, error)

// Answers is asked for what the command line prints (SPEC 10), and for the rule
// view of `to`. What it returns is compared as JSON.
type Answers interface {
	// Inspect answers `inspect dataplane`.
	Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error)
	// Client answers `conf --inbound` for a client's tags, of the kind
	// opt.Kind, which has `from`: a C, without fields where no item selects the
	// client.
	Client(dp *resource.Dataplane, inbound int, tags map[string]string, opt inspect.Options) any
	// ToRules returns the rule view of `to` of the kind opt.Kind (SPEC 4.5).
	ToRules(dp *resource.Dataplane, opt inspect.Options) ([]inspect.FromRule, error)
	// Permissions returns what `access` asks about an inbound, or nil where no
	// policy says anything about the dataplane.
	Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions
}

// FastPath is what an embedder and the command line use: a view, and its
// answers.
func FastPath(kinds *resource.Kinds, set *resource.Set) (Answers, error) {
	view, err := core.NewView(kinds, set)
	if err != nil {
		return nil, err
	}
	return viewAnswers{view}, nil
}

type viewAnswers struct{ *core.View }

func (v viewAnswers) Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error) {
	return inspect.NewDataplane(v.View, dp, opt)
}

func (v viewAnswers) Client(dp *resource.Dataplane, inbound int, tags map[string]string, opt inspect.Options) any {
	for _, config := range v.Configs(dp, core.Scope{Kind: opt.Kind, Shadow: opt.Shadow}) {
		if from := config.Inbounds[inbound].From; from != nil {
			if c := inspect.NewC(from.Client(tags), opt.Explain); c != nil {
				return c
			}
		}
	}
	return map[string]any{}
}

func (v viewAnswers) ToRules(dp *resource.Dataplane, opt inspect.Options) ([]inspect.FromRule, error) {
	var buffer match.Buffer
	var kind *resource.Kind
	var policies []*resource.Policy
	for _, selected := range v.Select(dp, core.Scope{Kind: opt.Kind, Shadow: opt.Shadow}, &buffer) {
		kind = selected.Policy.Type
		policies = append(policies, selected.Policy)
	}
	if policies == nil {
		return nil, nil
	}
	view, err := rules.ToRules(kind, policies, opt.Limits)
	answer := make([]inspect.FromRule, len(view))
	for i, r := range view {
		answer[i] = inspect.FromRule{Selector: r.Selector, C: inspect.NewC(r.Effective, opt.Explain)}
	}
	return answer, err
}

func (v viewAnswers) Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions {
	for _, config := range v.Configs(dp, core.Scope{Kind: permissionKind, Shadow: shadow}) {
		return permission.Of(config, dp, inbound)
	}
	return nil
}
