package inspect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/targets"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Dataplane is the answer of `inspect dataplane` (SPEC 10).
type Dataplane struct {
	Dataplane DataplaneRef `json:"dataplane"`
	Configuration
}

// Configuration is the answer of `inspect dataplane` without the dataplane. Several
// dataplanes may have the same configuration.
type Configuration struct {
	Semantics semantics.Semantics `json:"semantics"` // the semantics of the answer (SPEC 17.1)
	// PermissionsNotApplied reports that the inbounds allow every client, regardless
	// of the permissions, because the dataplane has no identity (SPEC 17.1).
	PermissionsNotApplied bool `json:"permissionsNotApplied,omitempty"`
	// Gateway is the MeshGateway of a builtin gateway.
	Gateway  *Gateway `json:"gateway,omitempty"`
	Policies []Kind   `json:"policies"` // sorted by kind
}

// DataplaneRef identifies a dataplane.
type DataplaneRef struct {
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	KRI       string `json:"kri"`
	Source    string `json:"source,omitempty"`   // file:line; with Options.Source
	SpiffeID  string `json:"spiffeId,omitempty"` // by a MeshIdentity (SPEC 11.6)
}

// Kind is the configuration of a dataplane by the policies of one kind.
type Kind struct {
	Kind      string         `json:"kind"`
	Matched   []Matched      `json:"matched"` // in order; later policies override
	Default   *EffectiveConf `json:"default,omitempty"`
	To        []SelectorRule `json:"to,omitempty"` // with Options.Ordered: the rule view of `to` (SPEC 4.5)
	Outbounds []Outbound     `json:"outbounds,omitempty"`
	Inbounds  []Inbound      `json:"inbounds,omitempty"`
	Listeners []Listener     `json:"listeners,omitempty"` // of a builtin gateway or a zone proxy
}

// Matched is a policy that selects the dataplane.
type Matched struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	KRI       string   `json:"kri"`
	Source    string   `json:"source,omitempty"` // file:line; with Options.Source
	Level     string   `json:"level"`            // the kind of its targetRef
	Inbounds  []string `json:"inbounds,omitempty"`
	Listeners []string `json:"listeners,omitempty"` // of a builtin gateway or a zone proxy
	// Action is "inform" for a policy that only informs, otherwise "". The answer
	// contains such policies with Options.Shadow. Because names the bindings that
	// place the policy without enforcing it; it is empty if the label alone
	// decides (SPEC 8.4).
	Action  string   `json:"action,omitempty"`
	Because []string `json:"because,omitempty"`
}

// Options selects what an answer contains.
type Options struct {
	Kind    string // "": all kinds
	Shadow  bool   // with the policies that only inform (SPEC 8.3)
	Explain bool   // with the origin of every field
	Why     bool   // with the comparison of a request with each entry of permissions
	Source  bool   // with file:line of the resources that KRIs identify
	// Overridden adds the values that other items override.
	Overridden bool
	Ordered    bool // rule views as first-match rules with positive selectors
	// Semantics is the semantics of the view, on which KRIs depend. Functions with a
	// view set it.
	Semantics semantics.Semantics
	// collectors are the collectors of the mesh, to which references resolve; see SetView.
	collectors *collector.Directory
	// Limits bounds each rule view of `from`. The zero value means the defaults.
	Limits partition.Limits
	// NoEffect are the fields that the proxy of the dataplane does not get. With
	// Explain, the answer marks them. Leave it nil for functions that are not about
	// this dataplane.
	NoEffect []NoEffect
	isHere   func(*NoEffect) bool // reports whether a field belongs to the place that is shown; nil: every field does
	// MaxRules bounds the rules of the answer; 0 means 50,000.
	MaxRules int
}

// ScopeOf returns the scope with or without the policies that only inform.
func ScopeOf(shadow bool) core.Scope {
	if shadow {
		return core.Shadow
	}
	return core.Enforced
}

// ConfigsOf returns the configs of a dataplane in a scope, of one kind or, if kind
// is empty, of all kinds. A nil dataplane has none.
func ConfigsOf(view *core.View, d *resource.Dataplane, kind string, scope core.Scope) []*results.Config {
	configs := view.Configs(d, scope)
	if kind == "" {
		return configs
	}
	return slices.DeleteFunc(slices.Clone(configs), func(c *results.Config) bool { return c.Kind.Name != kind })
}

// NewDataplane returns the answer for a dataplane of the view. It joins one
// error for each inbound whose rule view exceeds its limit, and one if the
// answer would have too many rules (SPEC 5.5). Everything else is in the
// answer.
func NewDataplane(view *core.View, d *resource.Dataplane, options Options) (*Dataplane, error) {
	a := newDataplaneAnswer(view, d, options)
	answer := &Dataplane{
		Dataplane: newDataplaneRef(view, d, options.Source),
		Configuration: Configuration{
			Semantics: view.Semantics(), Policies: []Kind{},
			PermissionsNotApplied: len(d.Inbounds) > 0 && !view.PermissionsApply(d),
			Gateway:               newGateway(view, d),
		},
	}
	if id, err := view.Identities(d.Mesh).IdentityOf(d); err != nil {
		a.errs = append(a.errs, err)
	} else if id != nil {
		answer.Dataplane.SpiffeID = id.SPIFFEID
	}
	answer.Policies = append(answer.Policies, lists.Map(a.configs, a.kind)...)
	return answer, a.err()
}

// dataplaneAnswer makes an answer about one dataplane.
type dataplaneAnswer struct {
	view      *core.View
	dataplane *resource.Dataplane
	options   Options
	configs   []*results.Config
	views     *ruleviews.Views
	budget    *ruleviews.Budget
	errs      []error
}

func newDataplaneAnswer(view *core.View, d *resource.Dataplane, options Options) *dataplaneAnswer {
	options.SetView(view, d.Mesh)
	return &dataplaneAnswer{
		view: view, dataplane: d, options: options, configs: ConfigsOf(view, d, options.Kind, ScopeOf(options.Shadow)),
		views: ruleviews.New(options.Limits, options.Ordered), budget: ruleviews.NewBudget(options.MaxRules),
	}
}

// err joins the errors of the answer.
func (a *dataplaneAnswer) err() error { return errors.Join(append(a.errs, a.budget.Err())...) }

func newDataplaneRef(view *core.View, d *resource.Dataplane, source bool) DataplaneRef {
	ref := DataplaneRef{Mesh: d.Mesh, Namespace: d.Namespace, Name: d.Name, KRI: DataplaneKRI(view, d)}
	if source {
		ref.Source = words.Source(d.Pos)
	}
	return ref
}

func (a *dataplaneAnswer) kind(config *results.Config) Kind {
	k := Kind{Kind: config.Kind.Name, Default: NewEffectiveConf(config.Default, config.Kind.Default, a.options)}
	for _, m := range config.Matched.All() {
		k.Matched = append(k.Matched, a.matched(m))
	}
	if a.options.Ordered && config.Kind.To != nil {
		k.To = a.toRules(config)
	}
	for ref, outbound := range Outbounds(a.view, config, a.dataplane, ScopeOf(a.options.Shadow)) {
		options, at := a.options, len(k.Outbounds)
		options.isHere = func(n *NoEffect) bool { return n.Outbound == at }
		shown := newOutbound(ref, outbound, config.Kind, options)
		if options.Overridden && ref.Destination == "" {
			a.addOverridden(&shown, config, outbound, options)
		}
		k.Outbounds = append(k.Outbounds, shown)
	}
	for i := range config.Inbounds {
		if !a.dataplane.IsListener(i) {
			continue
		}
		k.Inbounds = append(k.Inbounds, a.inbound(config, i))
	}
	k.Listeners = a.listeners(config)
	return k
}

func (a *dataplaneAnswer) matched(m *results.Selected) Matched {
	p := m.Policy
	matched := Matched{
		Name: p.Name, Namespace: p.Namespace, KRI: a.options.PolicyKRI(p),
		Level: p.TargetRef.Kind.String(), Inbounds: inboundNames(&m.Inbounds, a.dataplane), Listeners: listenerNames(a.view, &m.Inbounds, a.dataplane),
	}
	if a.options.Source {
		matched.Source = words.Source(p.Pos)
	}
	if target := targets.TargetOn(a.view, a.dataplane, p); a.options.Shadow && target.Action == ocm.Inform {
		matched.Action, matched.Because = target.Action.String(), target.Because
	}
	return matched
}

func inboundNames(set *results.InboundSet, d *resource.Dataplane) []string {
	var names []string
	for i := range d.Inbounds {
		if set.Has(i) && d.IsListener(i) {
			names = append(names, d.Inbounds[i].SectionName())
		}
	}
	return names
}

// toRules returns the rule view of `to`.
func (a *dataplaneAnswer) toRules(config *results.Config) []SelectorRule {
	place := fmt.Sprintf("to of %s of %s", config.Kind.Name, a.dataplane.Name)
	return a.selectorRules(config.ToRules, nil, config.Kind.To, place, Options{Explain: a.options.Explain, Source: a.options.Source, Semantics: a.options.Semantics, collectors: a.options.collectors})
}

// selectorRules returns the rules of a view. It stops building the view once the answer
// has no room for its rules. Items returns those that apply to all that a selector selects;
// it is needed for overridden values.
func (a *dataplaneAnswer) selectorRules(build func(partition.Limits) ([]results.SelectorRule, error), items func(partition.Selector) []results.Contribution, section *resource.Section, place string, options Options) []SelectorRule {
	limits := a.views.Limits
	limits.Rules = min(limits.Rules, a.budget.Left)
	if limits.Rules == 0 {
		a.budget.Take(1, place)
		return nil
	}
	view, err := build(limits)
	var limit *partition.LimitError
	switch {
	case errors.As(err, &limit) && limit.Resource == partition.RulesResource && limit.Limit < a.views.Limits.Rules:
		a.budget.Take(limit.Limit+1, place)
		return nil
	case err != nil:
		a.errs = append(a.errs, fmt.Errorf("%s: %w", place, err))
		return nil
	case !a.budget.Take(len(view), place):
		return nil
	}
	return lists.Map(view, func(r results.SelectorRule) SelectorRule {
		shown := NewEffectiveConf(r.Effective, section, options)
		if options.Overridden && shown != nil {
			shown.Overridden = overriddenValues(r.Effective, items(r.Selector), section, options)
		}
		return SelectorRule{r.Selector, shown}
	})
}
