package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// NewResource marshals a message to a resource.
func NewResource(t wire.Type, name string, m proto.Message) *wire.Resource {
	return wire.New(t, name, Marshal(m))
}

// Decode returns the message of a resource. Each call returns a new one.
func Decode(r *wire.Resource) (proto.Message, error) {
	m, err := (&anypb.Any{TypeUrl: r.Type.URL(), Value: r.Append(nil)}).UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.Name, err)
	}
	return m, nil
}

// Marshal returns the bytes of a message. Equal messages have the same bytes.
func Marshal(m proto.Message) []byte { return Append(nil, m) }

// Append appends the bytes of a message to a buffer. Equal messages have the same bytes.
func Append(buffer []byte, m proto.Message) []byte {
	body, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(buffer, m)
	if err != nil { // a string is not UTF-8; each decoder rejects those
		panic(fmt.Sprintf("marshalling %T: %v", m, err))
	}
	return body
}

// Any packs a message into a google.protobuf.Any. Equal messages have the same bytes.
func Any(m proto.Message) *anypb.Any {
	return &anypb.Any{TypeUrl: typeURL(m.ProtoReflect().Descriptor()), Value: Marshal(m)}
}

// typeURLs are the type URLs of the messages that were packed so far, by their descriptors.
var typeURLs sync.Map

func typeURL(d protoreflect.MessageDescriptor) string {
	if known, ok := typeURLs.Load(d); ok {
		return known.(string)
	}
	url := "type.googleapis.com/" + string(d.FullName())
	typeURLs.Store(d, url)
	return url
}

// JSON returns a message in proto3 JSON. Equal messages have the same bytes; protojson
// varies its spaces on purpose.
func JSON(m proto.Message) ([]byte, error) {
	data, err := protojson.MarshalOptions{Resolver: envoyapi.Types{}}.Marshal(m)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return compact.Bytes(), err
}
