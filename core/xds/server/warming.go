package server

import (
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// warm is called with a response that has clusters, before the client holds them. It
// makes the server send the endpoints of those that change again after it, if the client
// subscribes them: Envoy replaces a cluster by a new one of the same name, which waits
// for endpoints of its own, although in delta it does not ask for them again, and holds
// the ACK of all clusters until they are there, or for 15 s (initial_fetch_timeout). A
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
