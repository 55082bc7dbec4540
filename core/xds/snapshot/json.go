package snapshot

import (
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// snapshotJSON is a snapshot as `meshmatch snapshot` prints it (SPEC 11.7).
type snapshotJSON struct {
	Listeners  []json.RawMessage `json:"listeners"`
	Routes     []json.RawMessage `json:"routes"`
	Clusters   []json.RawMessage `json:"clusters"`
	Endpoints  []json.RawMessage `json:"endpoints"`
	Secrets    []json.RawMessage `json:"secrets"`
	Extensions []json.RawMessage `json:"extensions"`
}

// MarshalJSON returns the resources in proto3 JSON, sorted by name. The same snapshot
// has the same bytes.
func (s *Snapshot) MarshalJSON() ([]byte, error) {
	var out snapshotJSON
	for t, list := range map[wire.Type]*[]json.RawMessage{
		wire.ListenerType: &out.Listeners, wire.RouteType: &out.Routes, wire.ClusterType: &out.Clusters,
		wire.EndpointType: &out.Endpoints, wire.SecretType: &out.Secrets,
		wire.ExtensionType: &out.Extensions,
	} {
		*list = []json.RawMessage{}
		for _, r := range s.Resources(t) {
			m, err := message.Decode(r)
			if err != nil {
				return nil, err
			}
			data, err := message.JSON(m)
			if err != nil {
				return nil, err
			}
			*list = append(*list, data)
		}
	}
	return json.Marshal(out)
}
