package seal

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
)

// fieldSet is a set of names of fields. It is immutable.
type fieldSet map[protoreflect.Name]bool

func names(fields ...protoreflect.Name) fieldSet {
	s := fieldSet{}
	for _, name := range fields {
		s[name] = true
	}
	return s
}

func (s fieldSet) without(field protoreflect.Name) fieldSet {
	rest := fieldSet{}
	for name := range s {
		if name != field {
			rest[name] = true
		}
	}
	return rest
}

// differences returns the fields in which two messages of one type differ, in the order
// of the type. Free fields may differ: they are omitted.
func differences(a, b proto.Message, free fieldSet) (list []protoreflect.Name) {
	x, y := a.ProtoReflect(), b.ProtoReflect()
	fields := x.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !free[field.Name()] && (x.Has(field) != y.Has(field) || !x.Get(field).Equal(y.Get(field))) {
			list = append(list, field.Name())
		}
	}
	return list
}

// canonical returns a copy of a message. In the copy, messages in Any that have the same
// content have the same bytes.
func canonical[M proto.Message](m M) M {
	m = proto.CloneOf(m)
	for m := range envoyapi.Messages(m) {
		if inner := envoyapi.Unpack(m); inner != nil {
			if value, err := (proto.MarshalOptions{Deterministic: true}).Marshal(canonical(inner)); err == nil {
				m.Set(m.Descriptor().Fields().ByName("value"), protoreflect.ValueOfBytes(value))
			}
		}
	}
	return m
}
