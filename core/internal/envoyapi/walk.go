package envoyapi

import (
	"iter"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// Values returns a message and each value in it, with the field that has the value, also what
// is in each google.protobuf.Any. The message in an Any has no field, as the first one has none.
// Of an Any of an unknown type there is only the Any itself.
func Values(m proto.Message) iter.Seq2[protoreflect.FieldDescriptor, protoreflect.Value] {
	return func(yield func(protoreflect.FieldDescriptor, protoreflect.Value) bool) {
		yieldValue(nil, protoreflect.ValueOfMessage(m.ProtoReflect()), yield)
	}
}

// Messages returns those of [Values] that are messages.
func Messages(m proto.Message) iter.Seq[protoreflect.Message] {
	return func(yield func(protoreflect.Message) bool) {
		for _, value := range Values(m) {
			if m, ok := value.Interface().(protoreflect.Message); ok && !yield(m) {
				return
			}
		}
	}
}

func yieldValue(field protoreflect.FieldDescriptor, value protoreflect.Value, yield func(protoreflect.FieldDescriptor, protoreflect.Value) bool) (more bool) {
	more = yield(field, value)
	m, ok := value.Interface().(protoreflect.Message)
	if !ok || !more {
		return more
	}
	if IsAny(m) {
		inner := Unpack(m)
		return inner == nil || yieldValue(nil, protoreflect.ValueOfMessage(inner.ProtoReflect()), yield)
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.IsMap():
			value.Map().Range(func(_ protoreflect.MapKey, entry protoreflect.Value) bool {
				more = yieldValue(field, entry, yield)
				return more
			})
		case field.IsList():
			for i := 0; i < value.List().Len() && more; i++ {
				more = yieldValue(field, value.List().Get(i), yield)
			}
		default:
			more = yieldValue(field, value, yield)
		}
		return more
	})
	return more
}

// IsAny reports whether a message is a google.protobuf.Any. If the Go
// type of a message is not linked, its Anys are not of type [anypb.Any].
func IsAny(m protoreflect.Message) bool { return m.Descriptor().FullName() == anyName }

// Unpack returns the message in an Any, or nil if m is none, is empty or has an unknown type.
func Unpack(m protoreflect.Message) proto.Message {
	if !IsAny(m) {
		return nil
	}
	fields := m.Descriptor().Fields()
	packed := &anypb.Any{TypeUrl: m.Get(fields.ByName("type_url")).String(), Value: m.Get(fields.ByName("value")).Bytes()}
	inner, err := anypb.UnmarshalNew(packed, proto.UnmarshalOptions{Resolver: Types{}})
	if err != nil {
		return nil
	}
	return inner
}
