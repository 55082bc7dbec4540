package constraint

import (
	"fmt"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// Proto is the message of a constraint.
type Proto = discoveryv3.DynamicParameterConstraints

// The limits on one constraint (SPEC 9.1).
const (
	MaxLevels = 32
	MaxNodes  = 10_000
)

// What is wrong with a constraint, in a message or in a document.
const (
	EmptyKey = "the key must not be empty"
	Neither  = "the constraint has neither value nor exists; an empty value is a value"
)

// Read returns the predicate of a message; a nil message accepts all parameters. The message
// is not kept. An error contains the path of the field.
func Read(m *Proto) (partition.Predicate, error) {
	if m == nil {
		return partition.True(), nil
	}
	var b Budget
	p, flaw := b.fromProto(m, 1)
	if flaw != nil {
		return partition.Predicate{}, flaw
	}
	return p, nil
}

// A Budget counts the nodes of a constraint while it is read.
type Budget struct{ Nodes int }

// Enter counts one more node at a level and returns the limit that it exceeds, or "".
func (b *Budget) Enter(level int) string {
	b.Nodes++
	switch {
	case level > MaxLevels:
		return fmt.Sprintf("the constraint has more than %d levels", MaxLevels)
	case b.Nodes > MaxNodes:
		return fmt.Sprintf("the constraint has more than %d nodes", MaxNodes)
	}
	return ""
}

// flaw describes an error in a field of a message.
type flaw struct{ path, what string }

func (f *flaw) Error() string {
	if f.path == "" {
		return f.what
	}
	return f.path + ": " + f.what
}

func (f *flaw) in(path string) *flaw {
	if f == nil {
		return nil
	}
	if f.path != "" {
		path += "." + f.path
	}
	return &flaw{path, f.what}
}

func (b *Budget) fromProto(m *Proto, level int) (partition.Predicate, *flaw) {
	if what := b.Enter(level); what != "" {
		return partition.Predicate{}, &flaw{what: what}
	}
	switch t := m.GetType().(type) {
	case *discoveryv3.DynamicParameterConstraints_Constraint:
		p, flaw := fromSingle(t.Constraint)
		return p, flaw.in("constraint")
	case *discoveryv3.DynamicParameterConstraints_NotConstraints:
		if t.NotConstraints == nil {
			return partition.Predicate{}, &flaw{"not_constraints", nilMember}
		}
		p, flaw := b.fromProto(t.NotConstraints, level+1)
		return partition.Not(p), flaw.in("not_constraints")
	case *discoveryv3.DynamicParameterConstraints_AndConstraints:
		members, flaw := b.fromList(t.AndConstraints, level)
		return partition.And(members...), flaw.in("and_constraints")
	case *discoveryv3.DynamicParameterConstraints_OrConstraints:
		members, flaw := b.fromList(t.OrConstraints, level)
		return partition.Or(members...), flaw.in("or_constraints")
	}
	return partition.True(), nil
}

const nilMember = "the member is nil; an empty message accepts all parameters"

func (b *Budget) fromList(list *discoveryv3.DynamicParameterConstraints_ConstraintList, level int) ([]partition.Predicate, *flaw) {
	if list == nil {
		return nil, &flaw{what: "the list is nil; an empty one is allowed"}
	}
	members := make([]partition.Predicate, 0, min(len(list.Constraints), MaxNodes))
	for i, m := range list.Constraints {
		path := fmt.Sprintf("constraints[%d]", i)
		if m == nil {
			return nil, &flaw{path, nilMember}
		}
		p, flaw := b.fromProto(m, level+1)
		if flaw != nil {
			return nil, flaw.in(path)
		}
		members = append(members, p)
	}
	return members, nil
}

func fromSingle(s *discoveryv3.DynamicParameterConstraints_SingleConstraint) (partition.Predicate, *flaw) {
	switch {
	case s == nil:
		return partition.Predicate{}, &flaw{what: nilMember}
	case s.Key == "":
		return partition.Predicate{}, &flaw{"key", EmptyKey}
	}
	switch t := s.ConstraintType.(type) {
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Value:
		return partition.Equal(s.Key, t.Value), nil
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_:
		if t.Exists != nil {
			return partition.Present(s.Key), nil
		}
	}
	return partition.Predicate{}, &flaw{what: Neither}
}

// Write returns a new message of a predicate.
func Write(p partition.Predicate) *Proto {
	switch p.Op() {
	case partition.OpEqual, partition.OpPresent:
		s := &discoveryv3.DynamicParameterConstraints_SingleConstraint{Key: p.Key()}
		s.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Value{Value: p.Value()}
		if p.Op() == partition.OpPresent {
			s.ConstraintType = &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_{
				Exists: &discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists{},
			}
		}
		return &Proto{Type: &discoveryv3.DynamicParameterConstraints_Constraint{Constraint: s}}
	}
	var members []*Proto
	for _, member := range p.Members() {
		members = append(members, Write(member))
	}
	list := &discoveryv3.DynamicParameterConstraints_ConstraintList{Constraints: members}
	switch {
	case p.Op() == partition.OpNot:
		return &Proto{Type: &discoveryv3.DynamicParameterConstraints_NotConstraints{NotConstraints: members[0]}}
	case p.Op() == partition.OpOr:
		return &Proto{Type: &discoveryv3.DynamicParameterConstraints_OrConstraints{OrConstraints: list}}
	case len(members) == 0:
		return &Proto{}
	}
	return &Proto{Type: &discoveryv3.DynamicParameterConstraints_AndConstraints{AndConstraints: list}}
}
