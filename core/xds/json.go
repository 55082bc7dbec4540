package xds

import "encoding/json"

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
			m, err := Decode(r)
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
