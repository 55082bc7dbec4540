package variant_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/variant"
)

// The constraints of 004 in the form of the document. Two typos are corrected:
// "not_constraint", and a missing brace in the last table.
const (
	prod      = `{constraint: {key: "env", value: "prod"}}`
	test      = `{constraint: {key: "env", value: "test"}}`
	qa        = `{constraint: {key: "env", value: "qa"}}`
	version1  = `{constraint: {key: "version", value: "v1"}}`
	version2  = `{constraint: {key: "version", value: "v2"}}`
	versioned = `{constraint: {key: "version", exists: {}}}`
)

func and(members ...string) string {
	return `{and_constraints: {constraints: [` + strings.Join(members, ", ") + `]}}`
}

func or(members ...string) string {
	return `{or_constraints: {constraints: [` + strings.Join(members, ", ") + `]}}`
}

func not(member string) string { return `{not_constraints: ` + member + `}` }

func parse(t testing.TB, texts ...string) []variant.Constraint {
	t.Helper()
	constraints := make([]variant.Constraint, len(texts))
	for i, text := range texts {
		if err := conf.Unmarshal([]byte(text), &constraints[i]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	return constraints
}

const none = -1

func TestSets004(t *testing.T) {
	type p = variant.Parameters
	type choice struct {
		parameters p
		variant    int
	}
	for _, c := range []struct {
		name     string
		variants []string
		forms    []string // in short form
		choices  []choice
	}{
		{
			"basic dynamic parameters usage",
			[]string{prod, test}, []string{"env=prod", "env=test"},
			[]choice{{p{"env": "prod"}, 0}, {p{"env": "test"}, 1}, {p{"env": "qa"}, none}, {nil, none}},
		},
		{
			"unconstrained parameters",
			[]string{`{}`}, []string{"all"},
			[]choice{{p{"env": "prod"}, 0}, {p{"env": "test", "version": "v1"}, 0}, {nil, 0}},
		},
		{
			"transition: the new key on the clients only",
			[]string{prod, test}, []string{"env=prod", "env=test"},
			[]choice{{p{"env": "prod", "version": "v1"}, 0}, {p{"env": "prod", "version": "v2"}, 0}, {p{"env": "test", "version": "v1"}, 1}},
		},
		{
			"transition: the new key on the server too",
			[]string{and(prod, version1), and(prod, version2), and(test, or(versioned, not(versioned)))},
			[]string{"env=prod & version=v1", "env=prod & version=v2", "env=test & (version | !version)"},
			[]choice{
				{p{"env": "prod", "version": "v1"}, 0}, {p{"env": "prod", "version": "v2"}, 1},
				{p{"env": "test", "version": "v2"}, 2}, {p{"env": "test"}, 2}, {p{"env": "prod"}, none},
			},
		},
		{
			"a default for clients without the new key",
			[]string{and(prod, not(versioned)), and(prod, version1)},
			[]string{"env=prod & !version", "env=prod & version=v1"},
			[]choice{{p{"env": "prod"}, 0}, {p{"env": "prod", "version": "v1"}, 1}, {p{"env": "prod", "version": "v2"}, none}},
		},
		{
			"the last table",
			[]string{and(not(prod), not(version1)), and(prod, not(version1)), and(not(prod), version1), and(prod, version1)},
			[]string{"env!=prod & version!=v1", "env=prod & version!=v1", "env!=prod & version=v1", "env=prod & version=v1"},
			[]choice{
				{p{"env": "canary", "version": "v3"}, 0}, {nil, 0}, {p{"env": "prod", "version": "v2"}, 1},
				{p{"env": "test", "version": "v1"}, 2}, {p{"version": "v1"}, 2}, {p{"env": "prod", "version": "v1"}, 3},
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			set, err := variant.NewSet(parse(t, c.variants...))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.forms {
				if got := set.Constraint(i).String(); got != want {
					t.Errorf("variant %d is %s, want %s", i, got, want)
				}
			}
			for _, choice := range c.choices {
				got, ok := set.Choose(choice.parameters)
				if !ok {
					got = none
				}
				if got != choice.variant {
					t.Errorf("%v has variant %d, want %d", choice.parameters, got, choice.variant)
				}
			}
		})
	}
}

// The two ambiguities of 004.
func TestRefusedSets004(t *testing.T) {
	for _, c := range []struct {
		name     string
		variants []string
		missing  string
		both     variant.Parameters
		want     string
	}{
		{
			"adding a new key on the server first", []string{prod, and(prod, version1)},
			"[version]", variant.Parameters{"env": "prod", "version": "v1"},
			`variants[0]: the constraints do not name the key version; variants[1] names version; all variants must name the same keys; one that makes no difference is or(exists, not exists)
variants[1]: the constraints accept the parameters {env=prod, version=v1}, and so does variants[0]; at most one variant may accept the same parameters`,
		},
		{
			"variants with overlapping constraint values", []string{or(prod, test), or(qa, test)},
			"[]", variant.Parameters{"env": "test"},
			`variants[1]: the constraints accept the parameters {env=test}, and so does variants[0]; at most one variant may accept the same parameters`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := variant.NewSet(parse(t, c.variants...))
			var keys *variant.KeysError
			var ambiguity *variant.AmbiguityError
			if !errors.As(err, &ambiguity) || !maps.Equal(ambiguity.Parameters, c.both) || ambiguity.First != 0 || ambiguity.Second != 1 {
				t.Errorf("ambiguity %v, want %v", ambiguity, c.both)
			}
			if missing := []string(nil); errors.As(err, &keys) {
				missing = keys.Missing
				if fmt.Sprint(missing) != c.missing {
					t.Errorf("missing keys %v, want %s", missing, c.missing)
				}
			} else if c.missing != "[]" {
				t.Errorf("no error about keys, want %s", c.missing)
			}
			if err.Error() != c.want {
				t.Errorf("got error\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// The example of 004: two routes over two parameters make four variants, not nine.
func TestCompile004(t *testing.T) {
	c := parse(t, `{}`, prod, version1)
	route := func(name string) map[string]any { return map[string]any{"routes": []any{name}} }
	set, contents, err := variant.Compile([]variant.Fragment{
		{Constraints: c[0], Content: route("all")}, {Constraints: c[1], Content: route("prod")}, {Constraints: c[2], Content: route("v1")},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, content := range contents {
		got = append(got, fmt.Sprint(set.Constraint(i), " ", content["routes"]))
	}
	want := []string{
		"env!=prod & version!=v1 [all]", "env=prod & version!=v1 [all prod]",
		"env!=prod & version=v1 [all v1]", "env=prod & version=v1 [all prod v1]",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
