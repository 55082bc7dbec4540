package server

import (
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Endpoints follow their cluster. Envoy replaces a changed cluster by a new one of the same
// name, which waits for its own endpoints. In delta Envoy does not ask for them again if it has
// them, and neither does one that resumes: it lists them in initial_resource_versions. It holds
// the ACK of all clusters until the endpoints are there, or for 15 s (initial_fetch_timeout).
// A cluster and its endpoints have one name (SPEC 11.4).

// warm is called with the clusters of a response that the client does not have yet, or has
// with another content. If the client subscribes to their endpoints, the server sends these
// again after the clusters.
func (s *stream) warm(changed []*wire.Resource) {
	endpoints := s.watches[wire.EndpointType]
	if endpoints == nil {
		return // see warmResumed
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

// warmResumed is called when the client has resumed with endpoints. A client sends its requests
// for clusters and for endpoints at once, so the clusters may have been sent before. An Envoy whose
// clusters warm asks for clusters when they are warm (envoy#9934). Until then it lists the endpoints
// of the clusters that they replace, so all endpoints are sent again.
func (s *stream) warmResumed(endpoints *watch) {
	clusters := s.watches[wire.ClusterType]
	if clusters == nil {
		var names []string
		for _, r := range endpoints.held {
			if s.node.UserAgent == "envoy" && endpoints.sub.has(r.Name) {
				names = append(names, r.Name)
			}
		}
		if len(names) > 0 {
			endpoints.owe(names)
		}
		return
	}
	has := clusters.held
	if clusters.flight.message != nil {
		has = clusters.flight.next
	}
	var resumed []*wire.Resource
	if s.rare != nil {
		resumed = s.rare.resumed
	}
	var names []string
	differences(has, resumed, func(sent, before *wire.Resource) bool {
		if sent != nil && (before == nil || !same(sent, before)) && endpoints.sub.has(sent.Name) {
			names = append(names, sent.Name)
		}
		return true
	})
	if len(names) > 0 {
		endpoints.owe(names)
	}
}

// resumes is called after the first request of a type was handled. It keeps the clusters that the
// client has until they are needed.
func (s *stream) resumes(w *watch) {
	switch w.t {
	case wire.ClusterType:
		if s.watches[wire.EndpointType] == nil && len(w.held) > 0 {
			s.uncommon().resumed = w.held
		}
	case wire.EndpointType:
		s.warmResumed(w)
		if s.rare != nil {
			s.rare.resumed = nil
		}
	}
}
