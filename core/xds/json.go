package xds

import (
	"bytes"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// snapshotJSON is a snapshot as `meshmatch snapshot` prints it (SPEC 11.7).
type snapshotJSON struct {
	Listeners []json.RawMessage `json:"listeners"`
	Routes    []json.RawMessage `json:"routes"`
	Clusters  []json.RawMessage `json:"clusters"`
	Endpoints []json.RawMessage `json:"endpoints"`
	Secrets   []json.RawMessage `json:"secrets"`
}

// MarshalJSON returns the resources in proto3 JSON, sorted by name. The same snapshot
// has the same bytes.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	var out snapshotJSON
	for t, list := range map[Type]*[]json.RawMessage{
		ListenerType: &out.Listeners, RouteType: &out.Routes, ClusterType: &out.Clusters,
		EndpointType: &out.Endpoints, SecretType: &out.Secrets,
	} {
		*list = []json.RawMessage{}
		for _, r := range s.Resources(t) {
			m, err := r.Message()
			if err != nil {
				return nil, err
			}
			data, err := MarshalJSON(m)
			if err != nil {
				return nil, err
			}
			*list = append(*list, data)
		}
	}
	return json.Marshal(out)
}

// MarshalJSON returns a message in proto3 JSON. Unlike protojson, which varies its
// spaces, it returns the same bytes for the same message.
func MarshalJSON(m proto.Message) ([]byte, error) {
	data, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, data)
	return compact.Bytes(), err
}
