package variant

import (
	"bytes"
	"encoding/json"
	"fmt"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshmatch/meshmatch/core/partition"
)

// Proto is the message of a constraint.
type Proto = discoveryv3.DynamicParameterConstraints

// FromProto returns the constraint of a message; a nil message accepts all parameters.
// The message is not retained. An error wraps [ErrConstraint] and contains the path of
// the field.
func FromProto(m *Proto) (Constraint, error) {
	if m == nil {
		return Constraint{}, nil
	}
	var b budget
	p, flaw := b.fromProto(m, 1)
	if flaw != nil {
		return Constraint{}, fmt.Errorf("%w: %w", ErrConstraint, flaw)
	}
	return Constraint{predicate: p}, nil
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

func (b *budget) fromProto(m *Proto, level int) (partition.Predicate, *flaw) {
	if what := b.enter(level); what != "" {
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

func (b *budget) fromList(list *discoveryv3.DynamicParameterConstraints_ConstraintList, level int) ([]partition.Predicate, *flaw) {
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
		return partition.Predicate{}, &flaw{"key", emptyKey}
	}
	switch t := s.ConstraintType.(type) {
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Value:
		return partition.Equal(s.Key, t.Value), nil
	case *discoveryv3.DynamicParameterConstraints_SingleConstraint_Exists_:
		if t.Exists != nil {
			return partition.Present(s.Key), nil
		}
	}
	return partition.Predicate{}, &flaw{what: neither}
}

const (
	emptyKey = "the key must not be empty"
	neither  = "the constraint has neither value nor exists; an empty value is a value"
)

// Proto returns a new message of the constraint.
func (c Constraint) Proto() *Proto { return toProto(c.predicate) }

func toProto(p partition.Predicate) *Proto {
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
		members = append(members, toProto(member))
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

// MarshalJSON returns the proto3 JSON of the message. The same constraint always has the
// same bytes; package protojson varies the white space.
func (c Constraint) MarshalJSON() ([]byte, error) {
	data, err := protojson.Marshal(c.Proto())
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return compact.Bytes(), err
}
