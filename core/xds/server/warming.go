package server

import "github.com/meshmatch/meshmatch/core/xds"

// warm is called with a response that has clusters. It makes the server send their
// endpoints again after it, if the client subscribes them: Envoy replaces a cluster by
// a new one of the same name, which waits for endpoints of its own, although in delta
// it does not ask for them again, and holds the ACK of all clusters until they are
// there, or for 15 s (initial_fetch_timeout). A cluster and its endpoints have one name
// (SPEC 11.4).
func (s *stream) warm(clusters *message) {
	endpoints := s.watches[xds.EndpointType]
	if endpoints == nil {
		return
	}
	var names []string
	for _, r := range clusters.resources {
		if endpoints.sub.has(r.Name) {
			names = append(names, r.Name)
		}
	}
	if len(names) > 0 {
		endpoints.owe(names)
	}
}
