package variant

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/meshmatch/meshmatch/core/internal/variant/constraint"
)

// Proto is the message of a constraint.
type Proto = constraint.Proto

// FromProto returns the constraint of a message; a nil message accepts all parameters.
// The message is not retained. An error wraps [ErrConstraint] and contains the path of
// the field.
func FromProto(m *Proto) (Constraint, error) {
	p, err := constraint.Read(m)
	if err != nil {
		return Constraint{}, fmt.Errorf("%w: %w", ErrConstraint, err)
	}
	return Constraint{predicate: p}, nil
}

// Proto returns a new message of the constraint.
func (c Constraint) Proto() *Proto { return constraint.Write(c.predicate) }

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
