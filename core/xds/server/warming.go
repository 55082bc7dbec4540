package server

import (
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// warm is called with a response that has clusters, before the client holds them. If the
// client subscribes to the endpoints of clusters that change, the server sends these again
// after the clusters. Envoy replaces a changed cluster by a new one of the same name, which
// waits for its own endpoints, but in delta Envoy does not ask for them again. It holds the
// ACK of all clusters until the endpoints are there, or for 15 s (initial_fetch_timeout). A
// cluster and its endpoints have one name (SPEC 11.4).
func (s *stream) warm(clusters *watch, m *message) {
	endpoints := s.watches[wire.EndpointType]
	if endpoints == nil {
		return
	}
	var names []string
	differences(m.resources, clusters.held, func(sent, held *wire.Resource) bool {
		if sent != nil && (held == nil || !same(sent, held)) && endpoints.sub.has(sent.Name) {
			names = append(names, sent.Name)
		}
		return true
	})
	if len(names) > 0 {
		endpoints.owe(names)
	}
}
