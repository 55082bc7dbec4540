package oracle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// The comparison finds each fault in the answers of the fast path within a few
// scenarios.
func TestComparisonFindsFaults(t *testing.T) {
	oracle.Sequential(t)
	tests := []struct {
		name  string
		spoil func(answer map[string]any) // in place
	}{
		{"matched in another order", eachPolicy(func(p map[string]any) { slices.Reverse(asList(p["matched"])) })},
		{"a policy that is left out", func(a map[string]any) {
			if policies := asList(a["policies"]); len(policies) > 0 {
				a["policies"] = policies[1:]
			}
		}},
		{"another KRI", func(a map[string]any) { a["dataplane"].(map[string]any)["kri"] = "kri_dp" }},
		{"a conf that is not there", eachOutbound(func(o map[string]any) { delete(o, "conf") })},
		{"an origin less", eachOutbound(func(o map[string]any) {
			if origins := asList(o["origins"]); len(origins) > 0 {
				o["origins"] = origins[1:]
			}
		})},
		{"no leaves", eachOutbound(func(o map[string]any) { delete(o, "fields") })},
		{"routes in another order", eachOutbound(func(o map[string]any) { slices.Reverse(asList(o["routes"])) })},
		{"rules in another order", eachInbound(func(in map[string]any) { slices.Reverse(asList(in["rules"])) })},
		{"permissions in another order", eachInbound(func(in map[string]any) { slices.Reverse(asList(in["permissions"])) })},
		{"clients in another order", eachInbound(func(in map[string]any) { slices.Reverse(asList(in["from"])) })},
		{"clients that get nothing", eachInbound(func(in map[string]any) { delete(in, "from") })},
		{"clients with two answers", eachInbound(func(in map[string]any) {
			if from := asList(in["from"]); len(from) > 0 {
				in["from"] = append(slices.Clone(from), from[0])
			}
		})},
		{"every client gets the first answer", eachInbound(func(in map[string]any) {
			if from := asList(in["from"]); len(from) > 0 {
				delete(from[0].(map[string]any), "selector")
			}
		})},
	}
	g := oracle.AllKinds(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			findsFault(t, g, compareAnswers, spoiled(test.spoil))
		})
	}
}

// findsFault checks that a comparison finds the fault of a subject in one of several
// scenarios, and finds no fault of the fast path in them.
func findsFault(t *testing.T, g *fuzz.Generator, compare func(subject, *fuzz.Scenario) error, faulty subject) {
	t.Helper()
	for seed := range uint64(3000) {
		s := g.Seeded(seed)
		if compare(fastPath, s) == nil && compare(faulty, s) != nil {
			return
		}
	}
	t.Error("the fault is not found")
}

func spoiled(spoil func(map[string]any)) subject {
	return func(kinds *resource.Kinds, set *resource.Set) (answers, error) {
		answers, err := fastPath(kinds, set)
		return spoiledAnswers{answers, spoil}, err
	}
}

type spoiledAnswers struct {
	answers
	spoil func(map[string]any)
}

func (s spoiledAnswers) Inspect(dp *resource.Dataplane, opt inspect.Options) (any, error) {
	answer, err := s.answers.Inspect(dp, opt)
	if err != nil {
		return nil, err
	}
	tree, err := asTree(answer)
	if err == nil {
		s.spoil(tree)
	}
	return tree, err
}

func eachPolicy(spoil func(map[string]any)) func(map[string]any) {
	return func(answer map[string]any) {
		for _, policy := range list(answer, "policies") {
			spoil(policy)
		}
	}
}

func eachOutbound(spoil func(map[string]any)) func(map[string]any) {
	return eachPolicy(func(policy map[string]any) {
		for _, outbound := range list(policy, "outbounds") {
			spoil(outbound)
		}
	})
}

func eachInbound(spoil func(map[string]any)) func(map[string]any) {
	return eachPolicy(func(policy map[string]any) {
		for _, inbound := range list(policy, "inbounds") {
			spoil(inbound)
		}
	})
}

func TestSelectionIsCompared(t *testing.T) {
	g := oracle.AllKinds(t)
	reversed := spoiled(eachPolicy(func(p map[string]any) { slices.Reverse(asList(p["matched"])) }))
	findsFault(t, g, compareSelection, reversed)
}

// Placements are compared: without them, policies with the shadow label are not enforced.
func TestPlacementsAreCompared(t *testing.T) {
	oracle.Sequential(t)
	without := func(kinds *resource.Kinds, set *resource.Set) (answers, error) {
		policies := *set
		policies.Documents = nil
		return fastPath(kinds, &policies)
	}
	findsFault(t, oracle.AllKinds(t), compareSelection, without)
}

func TestSelector(t *testing.T) {
	const all = `{"selector": {"tags": {"a": "1", "b": "*"}, "notTags": {"c": ["1", "2"]}, "absent": ["d"]}}`
	tests := []struct {
		name, rule string
		client     map[string]string
		matches    bool
	}{
		{"everything holds", all, map[string]string{"a": "1", "b": "x", "c": "3"}, true},
		{"an absent key has no excluded value", all, map[string]string{"a": "1", "b": "x"}, true},
		{"another value", all, map[string]string{"a": "2", "b": "x"}, false},
		{"a key without any value", all, map[string]string{"a": "1"}, false},
		{"an excluded value", all, map[string]string{"a": "1", "b": "x", "c": "2"}, false},
		{"a key that must be absent", all, map[string]string{"a": "1", "b": "x", "d": "1"}, false},
		{"no condition", `{"selector": {}}`, nil, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := matches(parse(test.rule).(map[string]any), test.client); got != test.matches {
				t.Errorf("got %v", got)
			}
		})
	}
}

// compareAccess finds wrong decisions and missing warnings.
func TestAccessIsCompared(t *testing.T) {
	g := oracle.Permissions(t)
	tests := []struct {
		name  string
		spoil func(*permission.Permissions) *permission.Permissions
	}{
		{"everything is denied", func(p *permission.Permissions) *permission.Permissions {
			return &permission.Permissions{Protocol: p.Protocol, Warnings: p.Warnings}
		}},
		{"no warnings", func(p *permission.Permissions) *permission.Permissions {
			return &permission.Permissions{Protocol: p.Protocol, Rules: p.Rules, Clients: p.Clients}
		}},
		{"only from", func(p *permission.Permissions) *permission.Permissions {
			return &permission.Permissions{Protocol: p.Protocol, Clients: p.Clients, Warnings: p.Warnings}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spoiled := func(kinds *resource.Kinds, set *resource.Set) (answers, error) {
				answers, err := fastPath(kinds, set)
				return spoiledAccess{answers, test.spoil}, err
			}
			findsFault(t, g, compareAccess, spoiled)
		})
	}
}

type spoiledAccess struct {
	answers
	spoil func(*permission.Permissions) *permission.Permissions
}

func (s spoiledAccess) Permissions(dp *resource.Dataplane, inbound int, shadow bool) *permission.Permissions {
	p := s.answers.Permissions(dp, inbound, shadow)
	if p == nil {
		return nil
	}
	return s.spoil(p)
}

// compareSelection checks only which policies select each dataplane, on which
// inbounds, and in which order (SPEC 2, 3).
func compareSelection(s subject, scenario *fuzz.Scenario) error {
	return forDataplanes(s, scenario, (*comparison).compareSelection)
}

func (c *comparison) compareSelection() error {
	want, err := c.reference()
	if err != nil {
		return err
	}
	got, err := c.inspect(false)
	if err != nil {
		return err
	}
	if diff := fuzz.Difference(matchedByKind(want), matchedByKind(got)); diff != "" {
		return fmt.Errorf("the matched policies differ %s", diff)
	}
	return nil
}

func matchedByKind(answer map[string]any) map[string]any {
	matched := map[string]any{}
	for _, policy := range list(answer, "policies") {
		kind, _ := policy["kind"].(string)
		matched[kind] = policy["matched"]
	}
	return matched
}
