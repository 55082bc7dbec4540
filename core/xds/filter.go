package xds

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// Filter is a network or HTTP filter of a filter chain.
type Filter struct {
	Name   string
	Config proto.Message
}

// Any returns the filter's config, marshalled: the same bytes for the same
// config.
func (f Filter) Any() (*anypb.Any, error) {
	out := &anypb.Any{}
	return out, anypb.MarshalFrom(out, marshalled(f.Config), proto.MarshalOptions{Deterministic: true})
}

// MarshalJSON prints {"name", "typedConfig": {"@type", ...}} in proto3 JSON.
func (f Filter) MarshalJSON() ([]byte, error) {
	config, err := f.Any()
	if err != nil {
		return nil, err
	}
	data, err := protojson.Marshal(config)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer // protojson varies its spaces on purpose
	if err := json.Compact(&compact, data); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Name        string          `json:"name"`
		TypedConfig json.RawMessage `json:"typedConfig"`
	}{f.Name, compact.Bytes()})
}
