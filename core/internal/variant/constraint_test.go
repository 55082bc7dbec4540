package variant_test

import (
	"errors"
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/variant"
)

// All constraints that accept the same parameters have the same canonical form (SPEC
// 9.2), in JSON and in short form.
func TestCanonical(t *testing.T) {
	for _, test := range []struct {
		name        string
		constraints []string
		short, json string
	}{
		{"nothing set", []string{`{}`, and(), not(or()), or(versioned, not(versioned))}, "all", `{}`},
		{"no parameters", []string{or(), not(`{}`), and(prod, test), and(version1, not(versioned))}, "none", `{"orConstraints":{}}`},
		{
			"De Morgan", []string{not(or(prod, version1)), and(not(version1), not(prod)), and(and(not(prod)), not(version1))},
			"env!=prod & version!=v1",
			`{"andConstraints":{"constraints":[{"notConstraints":{"constraint":{"key":"env","value":"prod"}}},{"notConstraints":{"constraint":{"key":"version","value":"v1"}}}]}}`,
		},
		{"presence", []string{versioned, not(not(versioned)), or(version1, versioned)}, "version", `{"constraint":{"key":"version","exists":{}}}`},
		{"an empty value", []string{`{constraint: {key: k, value: ""}}`}, `k=""`, `{"constraint":{"key":"k","value":""}}`},
		{"a word that needs quotes", []string{`{constraint: {key: "a b", value: "c & d"}}`}, `"a b"="c & d"`, `{"constraint":{"key":"a b","value":"c & d"}}`},
		{"precedence", []string{or(and(prod, version1), and(test, versioned))}, "(env=prod & version=v1) | (env=test & version)", ""},
		{"a value or none", []string{or(version1, not(versioned))}, "version=v1 | !version", ""},
		{"another value", []string{and(versioned, not(version1))}, "version & version!=v1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, c := range parse(t, test.constraints...) {
				form, err := c.Canonical()
				if err != nil {
					t.Fatal(err)
				}
				if form.String() != test.short {
					t.Errorf("short form %s, want %s", form, test.short)
				}
				data, err := form.MarshalJSON()
				if err != nil || test.json != "" && string(data) != test.json {
					t.Errorf("JSON %s, %v, want %s", data, err, test.json)
				}
				var m discoveryv3.DynamicParameterConstraints
				if err := protojson.Unmarshal(data, &m); err != nil || !proto.Equal(&m, form.Proto()) {
					t.Errorf("package protojson reads %v, %v, want %v", &m, err, form.Proto())
				}
			}
		})
	}
}

// DecodeAt accepts both forms of field names, and reports errors in JSON and YAML (SPEC 9.1).
func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, text, want, err string }{
		{"names as in JSON", `{"notConstraints": {"andConstraints": {"constraints": [{"orConstraints": {}}]}}}`, "!none", ""},
		{"names as in proto", `{"not_constraints": {"and_constraints": {"constraints": [{"or_constraints": {}}]}}}`, "!none", ""},
		{"YAML", "constraint:\n  key: env\n  value: prod\n", "env=prod", ""},
		{"an unknown field", `{"and": {}}`, "", `conf:1:2: and: unknown field`},
		{"a field of 004's typo", `{"not_constraint": {}}`, "", `did you mean "notConstraints"?`},
		{"two members of a oneof", `{"constraint": {"key": "k", "value": "v"}, "orConstraints": {}}`, "", "conf:1:61: orConstraints: a constraint has one of its fields, not several"},
		{"both spellings", `{"orConstraints": {}, "or_constraints": {}}`, "", "conf:1:23"},
		{"value and exists", `{"constraint": {"key": "k", "value": "v", "exists": {}}}`, "", "conf:1:53: constraint.exists: value and exists are both present"},
		{"neither", `{"constraint": {"key": "k"}}`, "", "conf:1:16: constraint: the constraint has neither value nor exists; an empty value is a value; exists: {} accepts any value"},
		{"no key", `{"constraint": {"value": "v"}}`, "", "constraint.key: the key must not be empty"},
		{"an empty key", `{"constraint": {"key": "", "value": "v"}}`, "", "conf:1:24: constraint.key: the key must not be empty"},
		{"a null member", `{"orConstraints": {"constraints": [null]}}`, "", "conf:1:36: orConstraints.constraints[0]: must not be null"},
		{"a null", `{"notConstraints": null}`, "", "conf:1:20: notConstraints: must not be null"},
		{"a list", `[]`, "", "conf:1:1"},
		{"a number", `{"constraint": {"key": "k", "value": 1}}`, "", `conf:1:38: constraint.value: must be a string`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var c variant.Constraint
			err := conf.Unmarshal([]byte(test.text), &c)
			switch {
			case test.err == "" && (err != nil || c.String() != test.want):
				t.Errorf("got %s, %v, want %s", c, err, test.want)
			case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
				t.Errorf("got error %v, want %s", err, test.err)
			}
		})
	}
}

func TestFromProto(t *testing.T) {
	type m = discoveryv3.DynamicParameterConstraints
	list := func(members ...*m) *discoveryv3.DynamicParameterConstraints_ConstraintList {
		return &discoveryv3.DynamicParameterConstraints_ConstraintList{Constraints: members}
	}
	single := func(s *discoveryv3.DynamicParameterConstraints_SingleConstraint) *m {
		return &m{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: s}}
	}
	for _, test := range []struct {
		name    string
		message *m
		want    string
	}{
		{"no message", nil, ""},
		{"an empty message", &m{}, ""},
		{"a nil member of NOT", &m{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{}}, "not_constraints: the member is nil"},
		{"a nil list of AND", &m{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{}}, "and_constraints: the list is nil"},
		{"a nil member of OR", &m{Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{OrConstraints: list(&m{}, nil)}}, "or_constraints.constraints[1]: the member is nil"},
		{"a nil constraint", single(nil), "constraint: the member is nil"},
		{"an empty key", single(&discoveryv3.DynamicParameterConstraints_SingleConstraint{}), "constraint.key: the key must not be empty"},
		{"neither", single(&discoveryv3.DynamicParameterConstraints_SingleConstraint{Key: "k"}), "constraint: the constraint has neither value nor exists"},
		{"a nil exists", single(&discoveryv3.DynamicParameterConstraints_SingleConstraint{
			Key: "k", ConstraintType: &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_{},
		}), "constraint: the constraint has neither value nor exists"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := variant.FromProto(test.message)
			switch {
			case test.want == "" && (err != nil || !c.Accepts(nil)):
				t.Errorf("got %s, %v", c, err)
			case test.want != "" && (!errors.Is(err, variant.ErrConstraint) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

// A member that occurs several times in a message is counted each time.
func TestSharedMembersCount(t *testing.T) {
	m := &discoveryv3.DynamicParameterConstraints{}
	for range 20 {
		m = &discoveryv3.DynamicParameterConstraints{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{
			AndConstraints: &discoveryv3.DynamicParameterConstraints_ConstraintList{Constraints: []*discoveryv3.DynamicParameterConstraints{m, m}},
		}}
	}
	if _, err := variant.FromProto(m); err == nil || !strings.Contains(err.Error(), "more than 10000 nodes") {
		t.Errorf("got error %.200v", err)
	}
}

func TestSameVariant(t *testing.T) {
	c := parse(t, and(prod, or(versioned, not(versioned))), prod, test)
	for i, want := range []bool{true, true, false} {
		if same, err := variant.SameVariant(c[0], c[i]); err != nil || same != want {
			t.Errorf("%s and %s: %v, %v", c[0], c[i], same, err)
		}
	}
}
