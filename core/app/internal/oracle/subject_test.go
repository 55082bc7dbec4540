package oracle

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// subject returns the answers for one set of resources, which are compared with
// the reference.
type subject func(kinds *resource.Kinds, set *resource.Set) (answers, error)

// answers returns the output of the command line (SPEC 10), and the rule view of
// `to`. The results are compared as JSON.
type answers interface {
	// Inspect returns the output of `inspect dataplane`.
	Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error)
	// Outbounds returns the outbounds of the kind opt.Kind with their confs, as Inspect
	// does, as the API for embedders has them.
	Outbounds(dp *resource.Dataplane, opt inspect.Options) ([]any, error)
	// Client returns the output of `conf --inbound` for the tags of a client. The kind
	// opt.Kind must have `from`. The result is a C, without fields if no item selects the
	// client.
	Client(dp *resource.Dataplane, inbound int, tags map[string]string, opt inspect.Options) any
	// ToRules returns the rule view of `to` of the kind opt.Kind (SPEC 4.5).
	ToRules(dp *resource.Dataplane, opt inspect.Options) ([]inspect.SelectorRule, error)
	// Permissions returns the permissions that `access` evaluates for an
	// inbound, or nil if permissions are applied to the dataplane but none
	// selects it.
	Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions
}

// fastPath answers from a view, like an embedder and the command line.
func fastPath(kinds *resource.Kinds, set *resource.Set) (answers, error) {
	return reading(semantics.TargetRef)(kinds, set)
}

// reading returns the fast path in a semantics.
func reading(s semantics.Semantics) subject {
	return func(kinds *resource.Kinds, set *resource.Set) (answers, error) {
		view, err := core.Options{Semantics: cmp.Or(s, core.TargetRef)}.NewView(context.Background(), kinds, set)
		if err != nil {
			return nil, err
		}
		return viewAnswers{view}, nil
	}
}

type viewAnswers struct{ *core.View }

// completed returns the dataplane of the view for a dataplane of the set.
func (v viewAnswers) completed(dp *resource.Dataplane) *resource.Dataplane { return v.Dataplane(dp.ID) }

func (v viewAnswers) Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error) {
	return inspect.NewDataplane(v.View, v.completed(dp), opt)
}

func (v viewAnswers) Outbounds(dp *resource.Dataplane, opt inspect.Options) ([]any, error) {
	dp = v.completed(dp)
	opt.SetView(v.View, dp.Mesh)
	list, err := v.View.Outbounds(dp, opt.Kind, inspect.ScopeOf(opt.Shadow))
	if err != nil {
		return nil, err
	}
	config := v.config(dp, opt.Kind, opt.Shadow)
	answer := []any{}
	for i := range list {
		o := &list[i]
		routes := []any{}
		for _, r := range o.Routes {
			routes = append(routes, inspect.Route{Route: opt.PolicyKRI(r.Route), EffectiveConf: inspect.NewEffectiveConf(r.Effective, config.Kind.To, opt)})
		}
		entry := map[string]any{"outbound": v.name(o)}
		if c := inspect.NewEffectiveConf(o.Effective, config.Kind.To, opt); c != nil {
			tree, err := asTree(c)
			if err != nil {
				return nil, err
			}
			maps.Copy(entry, tree)
		}
		if len(routes) > 0 {
			entry["routes"] = routes
		}
		answer = append(answer, entry)
	}
	return answer, v.checkListed(config, list)
}

// name returns the fields by which answers name an outbound.
func (v viewAnswers) name(o *core.Outbound) map[string]any {
	var name map[string]any
	if d := o.Destination; d != nil {
		kri := v.Semantics().KRI(d.Destination.KRI(""), d.Destination.Identity())
		name = map[string]any{"address": d.Address, "port": d.Listens, "destination": kri, "name": d.Port.Name}
	} else {
		name = map[string]any{"address": o.Listed.Address, "port": o.Listed.Port, "tags": o.Listed.Tags.Map()}
	}
	maps.DeleteFunc(name, func(_ string, v any) bool { return reflect.ValueOf(v).IsZero() })
	return name
}

// checkListed returns an error unless a config has an entry for each listed outbound of a
// list, and no other one.
func (v viewAnswers) checkListed(config *results.Config, list []core.Outbound) error {
	listed := slices.DeleteFunc(slices.Clone(list), func(o core.Outbound) bool { return o.Listed == nil })
	same := func(a results.OutboundConfig, b core.Outbound) bool {
		return a.Index == b.Index && a.Effective == b.Effective && config.Outbound(a.Index) != nil
	}
	if !slices.EqualFunc(config.Outbounds, listed, same) {
		return fmt.Errorf("the config has the outbounds %v, not %v", config.Outbounds, listed)
	}
	return nil
}

// config returns the config of a dataplane of the view by the policies of a kind.
func (v viewAnswers) config(dp *resource.Dataplane, kind string, shadow bool) *results.Config {
	config, err := v.Config(v.completed(dp), kind, inspect.ScopeOf(shadow))
	if err != nil {
		panic(fmt.Sprintf("fuzz: %v", err)) // the scenario has the dataplane and the kind
	}
	return config
}

func (v viewAnswers) Client(dp *resource.Dataplane, inbound int, tags map[string]string, opt inspect.Options) any {
	config := v.config(dp, opt.Kind, opt.Shadow)
	opt.SetView(v.View, dp.Mesh)
	if from := config.Inbounds[inbound].From; from != nil {
		if c := inspect.NewEffectiveConf(from.Client(tags), config.Kind.From, opt); c != nil {
			return c
		}
	}
	return map[string]any{}
}

func (v viewAnswers) ToRules(dp *resource.Dataplane, opt inspect.Options) ([]inspect.SelectorRule, error) {
	config := v.config(dp, opt.Kind, opt.Shadow)
	if config.Matched.Len() == 0 {
		return nil, nil
	}
	opt.SetView(v.View, dp.Mesh)
	view, err := config.ToRules(opt.Limits)
	answer := make([]inspect.SelectorRule, len(view))
	for i, r := range view {
		answer[i] = inspect.SelectorRule{Selector: r.Selector, EffectiveConf: inspect.NewEffectiveConf(r.Effective, config.Kind.To, opt)}
	}
	return answer, err
}

func (v viewAnswers) Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions {
	dp = v.completed(dp)
	if !v.PermissionsApply(dp) {
		return permission.Open(dp, inbound)
	}
	if config := v.config(dp, permission.KindName, shadow); config.Matched.Len() > 0 {
		return permission.ForInbound(config, dp, inbound)
	}
	return nil
}
