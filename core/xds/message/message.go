package message

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// NewResource returns the resource of a message.
func NewResource(t wire.Type, name string, m proto.Message) *wire.Resource {
	return wire.New(t, name, Marshal(m))
}

// Decode returns a resource as a message, which is new.
func Decode(r *wire.Resource) (proto.Message, error) {
	m, err := (&anypb.Any{TypeUrl: r.Type.URL(), Value: r.Body}).UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.Name, err)
	}
	return m, nil
}

// Marshal returns the bytes of a message, the same ones for the same content.
func Marshal(m proto.Message) []byte {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil { // a string that is not UTF-8, which no decoder lets pass
		panic(fmt.Sprintf("marshalling %T: %v", m, err))
	}
	return body
}

// Any returns a message as google.protobuf.Any, with the same bytes for the same
// content.
func Any(m proto.Message) *anypb.Any {
	return &anypb.Any{TypeUrl: "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName()), Value: Marshal(m)}
}

// JSON returns a message in proto3 JSON. Unlike protojson, which varies its
// spaces, it returns the same bytes for the same message.
func JSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{Resolver: envoyapi.Types{}}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return compact.Bytes(), err
}
