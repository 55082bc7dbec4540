package envoyapi

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi/internal/descriptors"
)

// Every message of every extension of Envoy can be made, written as JSON and read again.
func TestEveryType(t *testing.T) {
	set, err := load()
	if err != nil {
		t.Fatal(err)
	}
	dynamic := 0
	for name, path := range set.paths {
		if !strings.HasPrefix(string(name), "envoy.") {
			continue
		}
		message, err := Types{}.FindMessageByURL("type.googleapis.com/" + string(name))
		if err != nil {
			t.Errorf("%s of %s: %v", name, path, err)
			continue
		}
		if got := message.Descriptor().FullName(); got != name {
			t.Errorf("the type of %s is %s", name, got)
		}
		if _, err := protoregistry.GlobalTypes.FindMessageByName(name); err != nil {
			dynamic++
		}
		wrapped, err := anypb.New(message.New().Interface())
		if err != nil {
			t.Fatal(err)
		}
		text, err := protojson.MarshalOptions{Resolver: Types{}}.Marshal(wrapped)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var again anypb.Any
		if err := (protojson.UnmarshalOptions{Resolver: Types{}}).Unmarshal(text, &again); err != nil || !proto.Equal(wrapped, &again) {
			t.Errorf("%s is %s, %v", name, text, err)
		}
	}
	if dynamic < 800 {
		t.Errorf("%d types are not linked by this test, want 800 or more", dynamic)
	}
}

func TestFields(t *testing.T) {
	const lua = `{"@type":"type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua","defaultSourceCode":{"inlineString":"function envoy_on_request(h) end"}}`
	options := protojson.UnmarshalOptions{Resolver: Types{}}
	var config anypb.Any
	if err := options.Unmarshal([]byte(lua), &config); err != nil {
		t.Fatal(err)
	}
	message, err := anypb.UnmarshalNew(&config, proto.UnmarshalOptions{Resolver: Types{}})
	if err != nil {
		t.Fatal(err)
	}
	var source protoreflect.Value
	message.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		source = v
		return field.Name() != "default_source_code"
	})
	if got := source.Message().Interface(); !strings.Contains(protojson.Format(got), "envoy_on_request") {
		t.Errorf("the source is %v", got)
	}
	if err := options.Unmarshal([]byte(strings.Replace(lua, "defaultSourceCode", "sourceCode", 1)), &config); err == nil || !strings.Contains(err.Error(), `unknown field "sourceCode"`) {
		t.Errorf("an unknown field gives %v", err)
	}
}

// Configs of extensions are in other packages than envoy.extensions too: matchers, their inputs,
// and both types of a struct with the name of its type.
func TestTypesOutsideOfExtensions(t *testing.T) {
	for _, name := range []protoreflect.FullName{
		"envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "xds.type.matcher.v3.CelMatcher", "xds.type.matcher.v3.HttpAttributesCelMatchInput",
		"xds.type.matcher.v3.IPMatcher", "xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct",
	} {
		if _, err := (Types{}).FindMessageByName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestUnknownType(t *testing.T) {
	for _, name := range []protoreflect.FullName{"envoy.extensions.filters.http.lua.v3.Moon", "envoy.extensions.filters.http.lua.v3", "x", ""} {
		if found, err := (Types{}).FindMessageByName(name); err != protoregistry.NotFound {
			t.Errorf("%q is found as %v, %v", name, found, err)
		}
	}
}

func TestGenerated(t *testing.T) {
	want, err := descriptors.Set()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(compressed, want) {
		t.Error("the descriptors are not those of the module in go.mod; run `go generate ./core/internal/envoyapi`")
	}
}
