package oracle

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshmatch/meshmatch/core/resource"
)

const (
	envProd   = `{"constraint": {"key": "env", "value": "prod"}}`
	envTest   = `{"constraint": {"key": "env", "value": "test"}}`
	envQA     = `{"constraint": {"key": "env", "value": "qa"}}`
	version1  = `{"constraint": {"key": "version", "value": "v1"}}`
	version2  = `{"constraint": {"key": "version", "value": "v2"}}`
	versioned = `{"constraint": {"key": "version", "exists": {}}}`
)

func both(a, b string) string   { return `{"and_constraints": {"constraints": [` + a + `, ` + b + `]}}` }
func either(a, b string) string { return `{"or_constraints": {"constraints": [` + a + `, ` + b + `]}}` }
func not(a string) string       { return `{"not_constraints": ` + a + `}` }

func parse(t *testing.T, texts ...string) []Constraints {
	t.Helper()
	list := make([]Constraints, len(texts))
	for i, text := range texts {
		list[i] = &discoveryv3.DynamicParameterConstraints{}
		if err := protojson.Unmarshal([]byte(text), list[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := ValidConstraints(list[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return list
}

// The examples of 004.
func TestCheckVariants(t *testing.T) {
	type parameters = map[string]string
	for _, test := range []struct {
		name      string
		set       []string
		sameKeys  bool
		ambiguous int
		chosen    map[int]parameters
	}{
		{"basic use", []string{envProd, envTest}, true, 0, map[int]parameters{
			0: {"env": "prod", "unused": "x"}, 1: {"env": "test"}, -1: {"env": "qa"},
		}},
		{"no constraints", []string{`{}`}, true, 0, map[int]parameters{0: {"env": "prod"}}},
		{"transition", []string{both(envProd, version1), both(envProd, version2), both(envTest, either(versioned, not(versioned)))}, true, 0, map[int]parameters{
			0: {"env": "prod", "version": "v1"}, 1: {"env": "prod", "version": "v2"}, 2: {"env": "test"}, -1: {"env": "prod"},
		}},
		{"a key that is new on the server", []string{envProd, both(envProd, version1)}, false, 1, nil},
		{"the same with exists", []string{both(envProd, not(versioned)), both(envProd, version1)}, true, 0, map[int]parameters{
			0: {"env": "prod"}, 1: {"env": "prod", "version": "v1"}, -1: {"env": "prod", "version": "v2"},
		}},
		{"overlapping values", []string{either(envProd, envTest), either(envQA, envTest)}, true, 1, nil},
		{"the last table", []string{
			both(not(envProd), not(version1)), both(envProd, not(version1)), both(not(envProd), version1), both(envProd, version1),
		}, true, 0, map[int]parameters{
			0: {}, 1: {"env": "prod", "version": "v3"}, 2: {"env": "canary", "version": "v1"}, 3: {"env": "prod", "version": "v1"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := parse(t, test.set...)
			checked := CheckVariants(set)
			if checked.SameKeys != test.sameKeys || len(checked.Ambiguous) != test.ambiguous {
				t.Errorf("same keys %v, %d ambiguous parameters, want %v, %d", checked.SameKeys, len(checked.Ambiguous), test.sameKeys, test.ambiguous)
			}
			if checked.Accepted() != (test.sameKeys && test.ambiguous == 0) {
				t.Errorf("accepted: %v", checked.Accepted())
			}
			for want, parameters := range test.chosen {
				if got := ChooseVariant(set, parameters); got != want {
					t.Errorf("%v has variant %d, want %d", parameters, got, want)
				}
			}
		})
	}
}

func TestParameterSpace(t *testing.T) {
	// env: prod, test, another, none; version: v1, another, none.
	space := ParameterSpace(parse(t, both(envProd, version1), both(envTest, versioned)))
	if len(space) != 4*3 {
		t.Errorf("%d parameters, want 12", len(space))
	}
	for i, p := range space {
		if slices.ContainsFunc(space[:i], func(q map[string]string) bool { return maps.Equal(p, q) }) {
			t.Errorf("%v is in it twice", p)
		}
	}
}

func TestSameVariant(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		same       bool
	}{
		{"De Morgan", not(either(envProd, version1)), both(not(envProd), not(version1)), true},
		{"a key that does not matter", envProd, both(envProd, either(versioned, not(versioned))), true},
		{"another value", envProd, envTest, false},
		{"presence is not a value", versioned, version1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := parse(t, test.a, test.b)
			if same := SameVariant(c[0], c[1]); same != test.same {
				t.Errorf("the same: %v", same)
			}
		})
	}
}

func TestValidConstraints(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"not_constraints": `, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
	}
	wide := func(nodes int) string {
		return `{"or_constraints": {"constraints": [{}` + strings.Repeat(`, {}`, nodes-2) + `]}}`
	}
	for _, test := range []struct{ name, text, want string }{
		{"32 levels", nested(32), ""},
		{"33 levels", nested(33), "more than 32 levels"},
		{"10,000 nodes", wide(10_000), ""},
		{"10,001 nodes", wide(10_001), "more than 10,000 nodes"},
		{"an empty key", `{"constraint": {"value": "v"}}`, "an empty key"},
		{"an empty value", `{"constraint": {"key": "k", "value": ""}}`, ""},
		{"neither", both(`{"constraint": {"key": "k"}}`, envProd), "neither value nor exists"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c discoveryv3.DynamicParameterConstraints
			if err := protojson.Unmarshal([]byte(test.text), &c); err != nil {
				t.Fatal(err)
			}
			err := ValidConstraints(&c)
			if got := ""; err != nil {
				got = err.Error()
				if got != test.want {
					t.Errorf("got error %q, want %q", got, test.want)
				}
			} else if test.want != "" {
				t.Errorf("no error, want %q", test.want)
			}
		})
	}
	t.Run("nil members", func(t *testing.T) {
		for _, c := range []Constraints{
			{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{}},
			{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{}},
			{Type: &discoveryv3.DynamicParameterConstraints_Constraint{}},
			{Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{
				OrConstraints: &discoveryv3.DynamicParameterConstraints_ConstraintList{Constraints: []Constraints{nil}},
			}},
		} {
			if ValidConstraints(c) == nil {
				t.Errorf("%v is accepted", c)
			}
		}
	})
}

func TestFragmentContent(t *testing.T) {
	content := func(text string) map[string]any {
		var m map[string]any
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	c := parse(t, `{}`, envProd, version1)
	fragments := []Fragment{
		{c[0], content(`{"name": "r", "routes": ["all"], "retry": {"on": "5xx", "times": 1}}`)},
		{c[1], content(`{"routes": ["prod"], "retry": {"times": 2}}`)},
		{c[2], content(`{"routes": ["v1"], "retry": "off"}`)},
		{c[1], content(`{"retry": {"times": 3}}`)},
	}
	for _, test := range []struct {
		name       string
		parameters map[string]string
		want       string
	}{
		{"neither", nil, `{"name": "r", "routes": ["all"], "retry": {"on": "5xx", "times": 1}}`},
		{"env only", map[string]string{"env": "prod"}, `{"name": "r", "routes": ["all", "prod"], "retry": {"on": "5xx", "times": 3}}`},
		{"version only", map[string]string{"version": "v1"}, `{"name": "r", "routes": ["all", "v1"], "retry": "off"}`},
		{"a mapping replaces a scalar", map[string]string{"env": "prod", "version": "v1"}, `{"name": "r", "routes": ["all", "prod", "v1"], "retry": {"times": 3}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(content(test.want), FragmentContent(fragments, test.parameters)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// SPEC 12.4: the dataplane that parameters describe has them as tags of its inbound and
// as labels.
func TestDescribedDataplane(t *testing.T) {
	dp := DescribedDataplane("m", map[string]string{
		"team": "a", "kuma.io/service": "web", "@label/app": "x", "@namespace": "ns", "@name": "web-1", "@section": "http",
	}, resource.Tags{{Key: "kuma.io/service", Value: "backend"}})
	if dp.Mesh != "m" || dp.Namespace != "ns" || dp.Name != "web-1" || len(dp.Inbounds) != 1 || dp.Inbounds[0].Name != "http" {
		t.Errorf("%+v", dp)
	}
	if got := dp.Labels.Value("app"); got != "x" || len(dp.Inbounds[0].Tags) != 2 {
		t.Errorf("labels %v, tags %v", dp.Labels, dp.Inbounds[0].Tags)
	}
}
