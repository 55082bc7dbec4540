package envoyapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Check compares a message in proto3 JSON, as package encoding/json decodes it, with
// the type of the given name. It reports each unknown type of a google.protobuf.Any, each
// unknown field and each unknown word at its place. If there are none, it
// reports the first other fault at the place of the message.
func Check(at *diag.At, message string, tree any) {
	found, err := Types{}.FindMessageByName(protoreflect.FullName(message))
	if err != nil {
		at.Errorf(diag.BadEnvoyResource, "", "%s", unknownType(message))
		return
	}
	var c checker
	c.message(at, found.Descriptor(), tree)
	if c.failed {
		return
	}
	text, err := json.Marshal(tree)
	if err == nil {
		err = protojson.UnmarshalOptions{Resolver: Types{}}.Unmarshal(text, found.New().Interface())
	}
	if err != nil {
		at.Errorf(diag.BadEnvoyResource, "", "%s", Words(err))
	}
}

// CheckPart is [Check] for a part of a message whose type is not known: it checks each
// google.protobuf.Any in it.
func CheckPart(at *diag.At, tree any) {
	var c checker
	c.part(at, tree)
}

// place is the position that package protojson puts in front of its messages: of one
// line of JSON that no user wrote.
var place = regexp.MustCompile(`^proto:[\s\x{a0}]*(syntax error )?(\(line \d+:\d+\): )?`)

// Words returns the message of an error of package protojson without the position in a
// text that the user did not write.
func Words(err error) string { return place.ReplaceAllString(err.Error(), "") }

func unknownType(name string) string {
	return fmt.Sprintf("%q is no type of the API of Envoy %s", name, newest())
}

type checker struct{ failed bool }

func (c *checker) fault(at *diag.At, hint, format string, args ...any) {
	c.failed = true
	at.Errorf(diag.BadEnvoyResource, hint, format, args...)
}

// part checks each Any in a value.
func (c *checker) part(at *diag.At, value any) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			c.part(at.Index(i), element)
		}
	case map[string]any:
		if value["@type"] != nil {
			c.any(at, value)
			return
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			c.part(at.Field(name), value[name])
		}
	}
}

const anyName protoreflect.FullName = "google.protobuf.Any"

// message checks a value of a message type. Values of another shape, and of the types
// of the package google.protobuf, which have their own JSON, are left to protojson.
func (c *checker) message(at *diag.At, d protoreflect.MessageDescriptor, value any) {
	fields, is := value.(map[string]any)
	switch {
	case !is:
	case d.FullName() == anyName:
		c.any(at, fields)
	case d.ParentFile().Package() != "google.protobuf":
		c.fields(at, d, fields)
	}
}

// any checks a message with its type.
func (c *checker) any(at *diag.At, fields map[string]any) {
	url, _ := fields["@type"].(string)
	if url == "" {
		if len(fields) > 0 {
			c.fault(at, `"@type": "type.googleapis.com/envoy.extensions...."`, "@type is missing")
		}
		return
	}
	name := url[strings.LastIndexByte(url, '/')+1:]
	found, err := Types{}.FindMessageByURL(url)
	switch {
	case err != nil:
		c.fault(at.Field("@type"), diag.DidYouMean(name, names()), "%s", unknownType(name))
	case !strings.Contains(url, "/"):
		c.fault(at.Field("@type"), fmt.Sprintf("write %q", "type.googleapis.com/"+name), "%q is no URL of a type", url)
	default:
		c.message(at, found.Descriptor(), fields)
	}
}

func (c *checker) fields(at *diag.At, d protoreflect.MessageDescriptor, fields map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "@type" || strings.HasPrefix(name, "[") {
			continue
		}
		within := at.Field(name)
		field := d.Fields().ByJSONName(name)
		if field == nil {
			field = d.Fields().ByTextName(name)
		}
		if field == nil {
			c.fault(within, diag.DidYouMean(name, fieldNames(d)), "unknown field of %s", d.FullName())
			continue
		}
		c.field(within, field, fields[name])
	}
}

func (c *checker) field(at *diag.At, field protoreflect.FieldDescriptor, value any) {
	switch value := value.(type) {
	case []any:
		if field.IsList() {
			for i, element := range value {
				c.single(at.Index(i), field, element)
			}
			return
		}
	case map[string]any:
		if field.IsMap() {
			for _, key := range slices.Sorted(maps.Keys(value)) {
				c.single(at.Field(key), field.MapValue(), value[key])
			}
			return
		}
	}
	c.single(at, field, value)
}

// single checks a value of a field, or an element of it.
func (c *checker) single(at *diag.At, field protoreflect.FieldDescriptor, value any) {
	switch {
	case field.Message() != nil:
		c.message(at, field.Message(), value)
	case field.Enum() != nil:
		word, is := value.(string)
		if is && field.Enum().Values().ByName(protoreflect.Name(word)) == nil {
			c.fault(at, diag.DidYouMean(word, enumWords(field.Enum())), "unknown word %q", word)
		}
	}
}

func fieldNames(d protoreflect.MessageDescriptor) []string {
	names := make([]string, d.Fields().Len())
	for i := range names {
		names[i] = d.Fields().Get(i).JSONName()
	}
	return names
}

func enumWords(d protoreflect.EnumDescriptor) []string {
	words := make([]string, d.Values().Len())
	for i := range words {
		words[i] = string(d.Values().Get(i).Name())
	}
	return words
}
