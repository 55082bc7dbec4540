package rbac

import (
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
)

// Filter is a network or HTTP filter of a filter chain.
type Filter struct {
	Name   string
	Config *anypb.Any // equal configs have the same bytes
}

// MarshalJSON prints {"name", "typedConfig": {"@type", ...}} in proto3 JSON.
func (f Filter) MarshalJSON() ([]byte, error) {
	data, err := protojson.Marshal(f.Config)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct { // removes the spaces, which protojson varies on purpose
		Name        string          `json:"name"`
		TypedConfig json.RawMessage `json:"typedConfig"`
	}{f.Name, data})
}
