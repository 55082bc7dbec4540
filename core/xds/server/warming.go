package server

import (
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// warm is called with the clusters of a response that the client does not have yet, or has
// with another content. If the client subscribes to their endpoints, the server sends these
// again after the clusters. Envoy replaces a changed cluster by a new one of the same name,
// which waits for its own endpoints, but in delta Envoy does not ask for them again. It holds
// the ACK of all clusters until the endpoints are there, or for 15 s (initial_fetch_timeout).
// A cluster and its endpoints have one name (SPEC 11.4).
func (s *stream) warm(changed []*wire.Resource) {
	endpoints := s.watches[wire.EndpointType]
	if endpoints == nil {
		return
	}
	var names []string
	for _, r := range changed {
		// Most clients subscribe by name alone: then what is wanted is subscribed. It is a slice
		// that many streams share, and more likely to be in the caches.
		if !endpoints.sub.all && find(endpoints.want, r.Name) != nil || endpoints.sub.has(r.Name) {
			names = append(names, r.Name)
		}
	}
	if len(names) > 0 {
		endpoints.owe(names)
	}
}
