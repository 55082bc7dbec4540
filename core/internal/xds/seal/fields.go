package seal

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

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
	walk(m, func(m protoreflect.Message) {
		if inner := unpacked(m); inner != nil {
			if value, err := (proto.MarshalOptions{Deterministic: true}).Marshal(canonical(inner)); err == nil {
				m.Set(m.Descriptor().Fields().ByName("value"), protoreflect.ValueOfBytes(value))
			}
		}
	})
	return m
}

// isAny reports whether a message is a google.protobuf.Any. If the Go
// type of a message is not linked, its Anys are not of type [anypb.Any].
func isAny(m protoreflect.Message) bool { return m.Descriptor().FullName() == "google.protobuf.Any" }

// unpacked returns the message in an Any, or nil if it is empty or its type is unknown.
func unpacked(m protoreflect.Message) proto.Message {
	if !isAny(m) {
		return nil
	}
	fields := m.Descriptor().Fields()
	packed := &anypb.Any{TypeUrl: m.Get(fields.ByName("type_url")).String(), Value: m.Get(fields.ByName("value")).Bytes()}
	inner, err := anypb.UnmarshalNew(packed, proto.UnmarshalOptions{Resolver: envoyapi.Types{}})
	if err != nil {
		return nil
	}
	return inner
}

// walk calls visit for a message and for all messages in it, even those in Any. If the
// type of an Any is unknown, only the Any itself is visited.
func walk(m proto.Message, visit func(protoreflect.Message)) { walkMessage(m.ProtoReflect(), visit) }

func walkMessage(m protoreflect.Message, visit func(protoreflect.Message)) {
	visit(m)
	if isAny(m) {
		if inner := unpacked(m); inner != nil {
			walkMessage(inner.ProtoReflect(), visit)
		}
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			if field.MapValue().Message() != nil {
				value.Map().Range(func(_ protoreflect.MapKey, entry protoreflect.Value) bool {
					walkMessage(entry.Message(), visit)
					return true
				})
			}
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				walkMessage(value.List().Get(i).Message(), visit)
			}
		default:
			walkMessage(value.Message(), visit)
		}
		return true
	})
}
