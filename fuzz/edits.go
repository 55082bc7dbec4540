package fuzz

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// maxEdited is how many policies of a scenario are edited: an edit costs a view.
const maxEdited = 3

// compareEdits edits an engine that has the resources of a scenario. After each batch it
// compares the engine with a view that is made of the resources alone. A failure contains the
// batches.
func compareEdits(s *Scenario) error {
	set, err := s.Load()
	if err != nil {
		return fmt.Errorf("the scenario does not load: %w", err)
	}
	return caught(func() error {
		ctx, options := context.Background(), core.Options{Semantics: core.TargetRef}
		engine := core.NewEngine(s.kinds, options)
		known, batches := *set, "  1: the whole mesh\n"
		for n, edit := range append([]core.Batch{{Upsert: set}}, edits(set.Policies, s.seed)...) {
			if n > 0 {
				known.Policies = edited(known.Policies, edit)
				batches += fmt.Sprintf("  %d: %s\n", n+1, describe(edit))
			}
			commit, err := engine.Apply(ctx, edit)
			if err != nil {
				return fmt.Errorf("the engine refuses the last batch: %w\n%s", err, batches)
			}
			want, err := options.NewView(ctx, s.kinds, &known)
			if err != nil {
				return fmt.Errorf("the engine refuses the resources: %w\n%s", err, batches)
			}
			if err := sameConfigs(s.kinds, want, commit.After, set.Dataplanes); err != nil {
				return fmt.Errorf("an engine differs from one that begins with the same resources: %w\nThe batches; the last one is wrong:\n%s", err, batches)
			}
		}
		return nil
	})
}

// edits returns batches that give a policy the confs of the next one of its kind, if its targetRef allows
// them, and then all content. Further batches delete the policy, and add it again.
func edits(policies []*resource.Policy, seed uint64) (batches []core.Batch) {
	for i := range min(maxEdited, len(policies)) {
		p := policies[(int(seed%97)+i)%len(policies)]
		upsert := func(p *resource.Policy) {
			batches = append(batches, core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{p}}})
		}
		if i := slices.IndexFunc(policies, func(o *resource.Policy) bool { return o != p && o.Type == p.Type }); i >= 0 {
			if !p.IsRoute() || p.TargetRef.Kind == policies[i].TargetRef.Kind { // only routes of gateways have hostnames
				upsert(withConfs(p, policies[i]))
			}
			all := *policies[i]
			all.Meta = p.Meta
			upsert(&all)
		}
		batches = append(batches, core.Batch{Delete: []resource.ID{p.ID}})
		upsert(p)
	}
	return batches
}

// withConfs returns a policy with the confs of another one, and otherwise the same content: only
// Equal finds that it changed.
func withConfs(p, other *resource.Policy) *resource.Policy {
	next := *p
	items := func(own, others []resource.Item) []resource.Item {
		own = slices.Clone(own)
		for i := range min(len(own), len(others)) {
			own[i].Conf = others[i].Conf
		}
		return own
	}
	next.To, next.From, next.Gateway = items(p.To, other.To), items(p.From, other.From), items(p.Gateway, other.Gateway)
	next.Rules = slices.Clone(p.Rules)
	for i := range min(len(next.Rules), len(other.Rules)) {
		next.Rules[i].Conf = other.Rules[i].Conf
	}
	if p.Default != nil && other.Default != nil {
		next.Default = other.Default
	}
	return &next
}

// edited returns the policies after a batch.
func edited(policies []*resource.Policy, batch core.Batch) []*resource.Policy {
	var next []*resource.Policy
	if batch.Upsert != nil {
		next = batch.Upsert.Policies
	}
	gone := map[resource.ID]bool{}
	for _, id := range batch.Delete {
		gone[id] = true
	}
	for _, p := range next {
		gone[p.ID] = true
	}
	after := next[:len(next):len(next)]
	for _, p := range policies {
		if !gone[p.ID] {
			after = append(after, p)
		}
	}
	return after
}

func describe(batch core.Batch) string {
	var parts []string
	for _, id := range batch.Delete {
		parts = append(parts, "delete "+id.String())
	}
	if batch.Upsert != nil {
		for _, p := range batch.Upsert.Policies {
			parts = append(parts, "upsert "+p.ID.String()+" "+asText(p))
		}
	}
	return strings.Join(parts, ", ")
}

// sameConfigs compares the confs that two views have for dataplanes.
func sameConfigs(kinds *resource.Kinds, want, got *core.View, dataplanes []*resource.Dataplane) error {
	for _, d := range dataplanes {
		for _, kind := range kinds.All() {
			for _, scope := range []core.Scope{core.Enforced, core.Shadow} {
				trees := [2]map[string]any{}
				for i, view := range []*core.View{want, got} {
					config, err := view.Config(view.Dataplane(d.ID), kind.Name, scope)
					if err != nil {
						return err
					}
					trees[i] = configTree(config, d)
				}
				if diff := Difference(trees[0], trees[1]); diff != "" {
					return fmt.Errorf("the confs of %s for dataplane %q differ %s", kind.Name, d.Name, diff)
				}
			}
		}
	}
	return nil
}
