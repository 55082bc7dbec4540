package envoyapi

import (
	_ "embed"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
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

// A Need is a type, a field or a word of a message that older releases of Envoy do not have.
type Need struct {
	Release string // the first that has it, such as "1.37"
	Name    string // the full name
}

// Needs returns what a message uses of the API that the first known release does not have,
// in the order of the fields. It includes each google.protobuf.Any in the message. A name
// is in the list for each time that it is used.
func Needs(m proto.Message) (needs []Need) {
	by := addedBy()
	use := func(name string) {
		if release := by[name]; release != "" {
			needs = append(needs, Need{release, name})
		}
	}
	for field, value := range Values(m) {
		if field != nil {
			use(string(field.FullName()))
		}
		switch value := value.Interface().(type) {
		case protoreflect.Message:
			for outer := protoreflect.Descriptor(value.Descriptor()); outer != outer.ParentFile(); outer = outer.Parent() {
				use(string(outer.FullName()))
			}
		case protoreflect.EnumNumber:
			if field.IsMap() {
				field = field.MapValue()
			}
			if word := field.Enum().Values().ByNumber(value); word != nil {
				use(string(field.Enum().FullName()) + "." + string(word.Name()))
			}
		}
	}
	return needs
}
