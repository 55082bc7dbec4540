package variant

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/internal/variant/constraint"
)

// DecodeAt reads a constraint from the proto3 JSON of DynamicParameterConstraints, with
// either form of field names, or from YAML of the same shape (SPEC 9.1). It reports each
// mistake at its place.
func (c *Constraint) DecodeAt(v *strict.Value) {
	before := v.At().Sink().Mark()
	var b budget
	c.predicate = b.decode(v, 1)
	c.invalid = v.At().Sink().Mark() > before
}

// The messages of constraints.
type (
	constraintDoc struct {
		Single *strict.Value `json:"constraint,omitzero"`
		Or     *strict.Value `json:"orConstraints,omitzero" alias:"or_constraints"`
		And    *strict.Value `json:"andConstraints,omitzero" alias:"and_constraints"`
		Not    *strict.Value `json:"notConstraints,omitzero" alias:"not_constraints"`
	}
	listDoc struct {
		Constraints []*strict.Value `json:"constraints,omitzero"`
	}
	singleDoc struct {
		Key    string    `json:"key,omitzero"`
		Value  *string   `json:"value,omitzero"`
		Exists *struct{} `json:"exists,omitzero"`
	}
)

// A budget bounds the size of a constraint while it is read.
type budget struct{ constraint.Budget }

func (b *budget) decode(in *strict.Value, level int) partition.Predicate {
	if what := b.Enter(level); what != "" {
		if b.Nodes <= MaxNodes+1 {
			in.At().Errorf(diag.BadConstraint, "split it into several variants", "%s", what)
		}
		return partition.Predicate{}
	}
	var doc constraintDoc
	if !strict.Decode(in, &doc) {
		return partition.Predicate{}
	}
	given := 0
	for _, field := range []*strict.Value{doc.Single, doc.Or, doc.And, doc.Not} {
		if field == nil {
			continue
		}
		if given++; given > 1 {
			field.At().Errorf(diag.BothPresent, "nest them in andConstraints or orConstraints", "a constraint has one of its fields, not several")
			return partition.Predicate{}
		}
	}
	switch {
	case doc.Single != nil:
		return decodeSingle(doc.Single)
	case doc.Or != nil:
		return partition.Or(b.list(doc.Or, level)...)
	case doc.And != nil:
		return partition.And(b.list(doc.And, level)...)
	case doc.Not != nil:
		return partition.Not(b.decode(doc.Not, level+1))
	}
	return partition.True()
}

func (b *budget) list(in *strict.Value, level int) []partition.Predicate {
	var doc listDoc
	if !strict.Decode(in, &doc) {
		return nil
	}
	members := make([]partition.Predicate, 0, min(len(doc.Constraints), MaxNodes))
	for _, member := range doc.Constraints {
		members = append(members, b.decode(member, level+1))
		if b.Nodes > MaxNodes {
			break
		}
	}
	return members
}

func decodeSingle(in *strict.Value) partition.Predicate {
	var doc singleDoc
	if !strict.Decode(in, &doc) {
		return partition.Predicate{}
	}
	switch {
	case doc.Key == "":
		in.At().Field("key").Errorf(diag.EmptyValue, "", constraint.EmptyKey)
	case doc.Value != nil && doc.Exists != nil:
		in.At().Field("exists").Errorf(diag.BothPresent, "remove one", "value and exists are both present")
	case doc.Value != nil:
		return partition.Equal(doc.Key, *doc.Value)
	case doc.Exists != nil:
		return partition.Present(doc.Key)
	default:
		in.At().Errorf(diag.MissingField, "exists: {} accepts any value", constraint.Neither)
	}
	return partition.Predicate{}
}
