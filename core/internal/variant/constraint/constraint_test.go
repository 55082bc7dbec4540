package constraint_test

import (
	"strings"
	"testing"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/variant/constraint"
)

// message reads a constraint in the text format.
func message(t *testing.T, text string) *constraint.Proto {
	t.Helper()
	m := &constraint.Proto{}
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// What a message means, and the message that is written for it (SPEC 9.1).
func TestRead(t *testing.T) {
	const (
		prod      = `constraint {key: "env" value: "prod"}`
		versioned = `constraint {key: "version" exists {}}`
	)
	for _, c := range []struct {
		rule, message string
		want          partition.Predicate
		accepts       string // the parameters, of those below
	}{
		{"no constraint matches all parameters", ``, partition.True(), "none, prod, test, versioned prod"},
		{"key = value", prod, partition.Equal("env", "prod"), "prod, versioned prod"},
		{"an empty value is a value", `constraint {key: "env" value: ""}`, partition.Equal("env", ""), ""},
		{"key exists", versioned, partition.Present("version"), "versioned prod"},
		{"NOT", `not_constraints {` + prod + `}`, partition.Not(partition.Equal("env", "prod")), "none, test"},
		{"AND", `and_constraints {constraints {` + prod + `} constraints {` + versioned + `}}`, partition.And(partition.Equal("env", "prod"), partition.Present("version")), "versioned prod"},
		{"OR", `or_constraints {constraints {constraint {key: "env" value: "test"}} constraints {` + versioned + `}}`,
			partition.Or(partition.Equal("env", "test"), partition.Present("version")), "test, versioned prod"},
		{"AND of nothing is true", `and_constraints {}`, partition.True(), "none, prod, test, versioned prod"},
		{"OR of nothing is false", `or_constraints {}`, partition.False(), ""},
		{"an empty member matches all parameters", `not_constraints {}`, partition.Not(partition.True()), ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			got, err := constraint.Read(message(t, c.message))
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want.String() {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if accepted := acceptedBy(got); accepted != c.accepts {
				t.Errorf("accepts %q, want %q", accepted, c.accepts)
			}
			written, err := constraint.Read(constraint.Write(got))
			if err != nil || written.String() != c.want.String() {
				t.Errorf("what is written is read as %s (%v), want %s", written, err, c.want)
			}
		})
	}
	if got, err := constraint.Read(nil); err != nil || got.String() != partition.True().String() {
		t.Errorf("a nil message: got %s and %v, want true", got, err)
	}
}

// acceptedBy returns the names of parameters that a predicate accepts. A parameter that it does
// not name never prevents a match.
func acceptedBy(p partition.Predicate) string {
	var accepted []string
	for _, parameters := range []struct {
		name   string
		values map[string]string
	}{
		{"none", map[string]string{"other": "x"}},
		{"prod", map[string]string{"env": "prod", "other": "x"}},
		{"test", map[string]string{"env": "test"}},
		{"versioned prod", map[string]string{"env": "prod", "version": "v1"}},
	} {
		if p.Accepts(parameters.values) {
			accepted = append(accepted, parameters.name)
		}
	}
	return strings.Join(accepted, ", ")
}

// What is wrong with a message, and where (SPEC 9.1).
func TestErrors(t *testing.T) {
	list := func(members ...*constraint.Proto) *constraint.Proto {
		return &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{OrConstraints: &discoveryv3.DynamicParameterConstraints_ConstraintList{Constraints: members}}}
	}
	levels := func(n int) *constraint.Proto {
		m := &constraint.Proto{}
		for range n - 1 {
			m = &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{NotConstraints: m}}
		}
		return m
	}
	nodes := func(n int) *constraint.Proto {
		members := make([]*constraint.Proto, n-1)
		for i := range members {
			members[i] = &constraint.Proto{}
		}
		return list(members...)
	}
	for _, c := range []struct {
		rule    string
		message *constraint.Proto
		want    string // the begin of the error
	}{
		{"an empty key", message(t, `constraint {value: "a"}`), "constraint.key: " + constraint.EmptyKey},
		{"neither value nor exists", message(t, `constraint {key: "a"}`), "constraint: " + constraint.Neither},
		{"exists without a message", &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: &discoveryv3.DynamicParameterConstraints_SingleConstraint{
			Key: "a", ConstraintType: &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_{}}}}, "constraint: " + constraint.Neither},
		{"a nil constraint", &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_Constraint{}}, "constraint: the member is nil"},
		{"a nil member of NOT", &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{}}, "not_constraints: the member is nil"},
		{"a nil list", &constraint.Proto{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{}}, "and_constraints: the list is nil"},
		{"a nil member of a list", list(&constraint.Proto{}, nil), "or_constraints.constraints[1]: the member is nil"},
		{"an error within members", list(message(t, `not_constraints {constraint {key: "a"}}`)), "or_constraints.constraints[0].not_constraints.constraint: "},
		{"32 levels", levels(32), ""},
		{"33 levels", levels(33), strings.Repeat("not_constraints.", 31) + "not_constraints: the constraint has more than 32 levels"},
		{"10,000 nodes", nodes(10_000), ""},
		{"10,001 nodes", nodes(10_001), "or_constraints.constraints[9999]: the constraint has more than 10000 nodes"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := constraint.Read(c.message)
			switch {
			case c.want == "":
				if err != nil {
					t.Errorf("got the error %v", err)
				}
			case err == nil || !strings.HasPrefix(err.Error(), c.want):
				t.Errorf("got the error %v, want %s", err, c.want)
			}
		})
	}
}

// A message is a new one: a caller may change it.
func TestWriteIsNew(t *testing.T) {
	p := partition.And(partition.Equal("env", "prod"), partition.Present("version"))
	first, second := constraint.Write(p), constraint.Write(p)
	proto.Reset(first.GetAndConstraints().Constraints[0])
	if proto.Equal(first, second) {
		t.Error("two messages share a member")
	}
}
