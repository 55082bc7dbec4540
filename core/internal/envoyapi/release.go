package envoyapi

import (
	_ "embed"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// additions has a line "1.37 NAME" for each type, field and word that a release of the API
// added; see package descriptors. The API of the first release has no lines.
//
//go:embed zz_generated.additions.txt
var additions string

// addedBy is the release that added a name.
var addedBy = sync.OnceValue(func() map[string]string {
	by := map[string]string{}
	for line := range strings.Lines(additions) {
		release, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		by[name] = release
	}
	return by
})

// newest returns the newest release of the API, which has the last lines.
func newest() string {
	release, _, _ := strings.Cut(additions[strings.LastIndexByte(strings.TrimSpace(additions), '\n')+1:], " ")
	return release
}

// A Need is a type, a field or a word of a message that older releases of Envoy do not know.
type Need struct {
	Release string // the first that knows it, such as "1.37"
	Name    string // the full name
}

// Needs returns what a message uses of the API that the first known release does not have,
// also in each google.protobuf.Any in it, in the order of the fields. A name is in the list
// for each time that it is used.
func Needs(m proto.Message) (needs []Need) {
	by := addedBy()
	Walk(m, func(name string) {
		if release := by[name]; release != "" {
			needs = append(needs, Need{release, name})
		}
	}, func(string) {})
	return needs
}

// Walk calls name for each type, field and word that a message uses, with its full name, and text for
// each text in it, also in each google.protobuf.Any in it.
func Walk(m proto.Message, name, text func(string)) {
	w := walker{name, text}
	w.message(m.ProtoReflect())
}

type walker struct{ name, text func(string) }

func (w *walker) message(m protoreflect.Message) {
	d := m.Descriptor()
	for outer := protoreflect.Descriptor(d); outer != nil; outer = outer.Parent() {
		if _, file := outer.(protoreflect.FileDescriptor); file {
			break
		}
		w.name(string(outer.FullName()))
	}
	if d.FullName() == anyName {
		fields := d.Fields()
		packed := &anypb.Any{TypeUrl: m.Get(fields.ByName("type_url")).String(), Value: m.Get(fields.ByName("value")).Bytes()}
		// An Any of an unknown type has no names to compare.
		if inner, err := anypb.UnmarshalNew(packed, proto.UnmarshalOptions{Resolver: Types{}}); err == nil {
			w.message(inner.ProtoReflect())
		}
		return
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		w.name(string(field.FullName()))
		switch {
		case field.IsMap():
			value.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				w.value(field.MapValue(), v)
				return true
			})
		case field.IsList():
			for i := range value.List().Len() {
				w.value(field, value.List().Get(i))
			}
		default:
			w.value(field, value)
		}
		return true
	})
}

func (w *walker) value(field protoreflect.FieldDescriptor, value protoreflect.Value) {
	switch {
	case field.Message() != nil:
		w.message(value.Message())
	case field.Enum() != nil:
		if word := field.Enum().Values().ByNumber(value.Enum()); word != nil {
			w.name(string(field.Enum().FullName()) + "." + string(word.Name()))
		}
	case field.Kind() == protoreflect.StringKind:
		w.text(value.String())
	}
}
