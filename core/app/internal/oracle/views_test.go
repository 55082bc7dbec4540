package oracle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareViews finds a client with a wrong conf, and a wrong view of `to`.
func TestViewsAreCompared(t *testing.T) {
	g := oracle.WithFrom(t)
	for _, test := range []struct {
		name  string
		spoil func(answers) answers
	}{
		{"clients that get nothing", func(a answers) answers { return nothingForClients{a} }},
		{"outbounds that get nothing", func(a answers) answers { return nothingForOutbounds{a} }},
		{"the first rule is missing", func(a answers) answers { return firstMissing{a} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			spoiled := func(kinds *resource.Kinds, set *resource.Set) (answers, error) {
				answers, err := fastPath(kinds, set)
				return test.spoil(answers), err
			}
			findsFault(t, g, compareViews, spoiled)
		})
	}
}

type (
	nothingForClients   struct{ answers }
	nothingForOutbounds struct{ answers }
	firstMissing        struct{ answers }
)

func (nothingForClients) Client(*resource.Dataplane, int, map[string]string, inspect.Options) any {
	return map[string]any{}
}

func (nothingForOutbounds) ToRules(*resource.Dataplane, inspect.Options) ([]inspect.SelectorRule, error) {
	return nil, nil
}

func (s firstMissing) ToRules(dp *resource.Dataplane, opt inspect.Options) ([]inspect.SelectorRule, error) {
	rules, err := s.answers.ToRules(dp, opt)
	return rules[min(1, len(rules)):], err
}

// TestFormOfViews checks the form of a rule view (SPEC 5.3, 5.4). One item is
// for the Mesh; the other, with a higher priority, is for the service a.
func TestFormOfViews(t *testing.T) {
	tests := []struct {
		name    string
		ordered bool
		rules   string // as in an answer
		broken  string // "" if the view is correct
	}{
		{"disjoint", false, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {"notTags": {"kuma.io/service": ["a"]}}, B}]`, ""},
		{"ordered", true, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {}, B}]`, ""},
		{"two match", false, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {}, B}]`, "exactly one may match"},
		{"nothing for others", true, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}]`, "the confs differ"},
		{"another conf", true, `[{"selector": {"tags": {"kuma.io/service": "a"}}, B}, {"selector": {}, B}]`, "the confs differ"},
		{"an ordered form that negates", true, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {"notTags": {"kuma.io/service": ["a"]}}, B}]`, "SPEC 5.3"},
		{"an ordered form with a rule too many", true, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {"tags": {"kuma.io/service": "*"}}, B}, {"selector": {}, B}]`, "SPEC 5.4"},
		{"a disjoint form with a rule too many", false, `[{"selector": {"tags": {"kuma.io/service": "a"}}, A}, {"selector": {"tags": {"kuma.io/service": "*"}, "notTags": {"kuma.io/service": ["a"]}}, B}, {"selector": {"absent": ["kuma.io/service"]}, B}]`, "SPEC 5.4"},
	}
	reference := toOfMeshAndService(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.NewReplacer(
				"A}", strings.TrimPrefix(asText(reference.C(map[string]string{"kuma.io/service": "a"})), "{"),
				"B}", strings.TrimPrefix(asText(reference.C(nil)), "{"),
			).Replace(`{"to": ` + test.rules + `}`)
			view := &ruleView{rules: list(parse(text).(map[string]any), "to"), ordered: test.ordered}
			err := view.check(reference)
			switch {
			case err == nil && test.broken != "":
				t.Errorf("the view passes, want %q", test.broken)
			case err != nil && (test.broken == "" || !strings.Contains(err.Error(), test.broken)):
				t.Errorf("got %v, want %q", err, test.broken)
			}
		})
	}
}

func toOfMeshAndService(t *testing.T) *naive.Concatenation {
	t.Helper()
	const file = `
{type: Dataplane, mesh: m, name: d, networking: {address: 10.0.0.1}}
---
type: MeshTimeout
mesh: m
name: p
spec:
  to:
    - {targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}
    - {targetRef: {kind: MeshService, name: a}, default: {connectionTimeout: 1s}}
`
	kinds := oracle.AllKinds(t).Kinds()
	loader := resource.Loader{Kinds: kinds}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "file", Data: []byte(file)})
	if err != nil {
		t.Fatal(err)
	}
	to, err := naive.ToOf(kinds, set, "m", "", "d", naive.Options{Kind: "MeshTimeout"})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// compareViews checks only the rule views: `from` in both forms for every client that
// could exist (SPEC 5), and `to` for every outbound (SPEC 4.5).
func compareViews(s subject, scenario *fuzz.Scenario) error {
	return forDataplanes(s, scenario, (*comparison).compareViews)
}

func (c *comparison) compareViews() error {
	for _, ordered := range []bool{false, true} {
		got, err := c.inspect(ordered)
		if err != nil {
			return err
		}
		if err := c.compareClients(got, ordered); err != nil {
			return err
		}
	}
	return c.compareToViews()
}

// compareToViews checks the rule view of `to` of every kind by its meaning
// (SPEC 4.5).
func (c *comparison) compareToViews() error {
	for _, kind := range c.kinds.All() {
		if kind.To == nil {
			continue
		}
		reference, err := naive.ToOf(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.ofKind(kind.Name))
		if err != nil {
			return fmt.Errorf("the reference fails: %w", err)
		}
		answer, err := c.answers.ToRules(c.dp, c.inspectOptions(kind.Name, true))
		if err != nil {
			return fmt.Errorf("the subject fails: %w", err)
		}
		tree, err := asTree(map[string]any{"to": answer})
		if err != nil {
			return err
		}
		view := &ruleView{rules: list(tree, "to"), ordered: true}
		if err := view.check(reference); err != nil {
			return fmt.Errorf("%s, to: %w", kind.Name, err)
		}
	}
	return nil
}
