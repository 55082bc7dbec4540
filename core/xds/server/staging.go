package server

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// staging is what a client gets of endpoints while some have to wait for their clusters.
type staging struct {
	want  []*wire.Resource // watch.want without the endpoints that wait; nil after the wait
	since int64            // see Server.now
}

// stage decides which endpoints have to wait for their clusters. It is called after the
// clusters were examined.
//
// Where a cluster verifies the identities of its endpoints, a new endpoint and a new cluster
// often come together: a dataplane with a new identity joins a service. Envoy adds the
// endpoint at once to the cluster that it has, while the new cluster warms. Without a wait,
// requests to the endpoint fail until then, or are sent to it without TLS. So until the
// client has accepted the new cluster, it gets the endpoints without those that the old one
// does not accept ([wire.Resource.AcceptedBy]). With them the new cluster is warm too.
// Endpoints that are removed do not wait. No wait is longer than Options.Wait.
func (s *stream) stage(w *watch, now int64) {
	before, want := w.wanted(), s.stagedFor(w)
	switch {
	case want == nil:
		w.staging = nil
	case w.staging == nil:
		w.staging = &staging{want, now}
	case now < w.staging.since+int64(s.server.options.Wait):
		w.staging.want = want
	default:
		w.staging.want = nil
	}
	if !slices.Equal(before, w.wanted()) {
		w.touch()
	}
}

// stagedFor returns what a client should hold of endpoints until it has accepted its new
// clusters; nil if that is w.want.
func (s *stream) stagedFor(w *watch) (staged []*wire.Resource) {
	clusters := s.watches[wire.ClusterType]
	if clusters == nil || !clusters.isInFlight() && !clusters.additions {
		return nil
	}
	differences(clusters.want, clusters.held, func(want, held *wire.Resource) bool {
		if want == nil || held == nil {
			return true
		}
		at := searchResource(w.want, want.Name)
		if at == len(w.want) || w.want[at].Name != want.Name {
			return true
		}
		if accepted := w.want[at].AcceptedBy(held); accepted != w.want[at] {
			if staged == nil {
				staged = slices.Clone(w.want)
			}
			staged[at] = accepted
		}
		return true
	})
	return staged
}

// isStaged reports whether endpoints wait.
func (w *watch) isStaged() bool { return w.staging != nil && w.staging.want != nil }

// wanted returns what the client should hold now.
func (w *watch) wanted() []*wire.Resource {
	if w.isStaged() {
		return w.staging.want
	}
	return w.want
}
