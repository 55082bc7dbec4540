package server

import (
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// What drains keeps working (SPEC 12.3). When a listener or a filter chain is replaced, Envoy
// serves the connections of the old version until its drain time is over. These connections use
// permission filters, clusters of workloads and routes that the new version may not refer to. If
// such a resource were removed at once, their next requests would fail: an extension that is gone
// answers 500, a cluster that is gone 503. So the client keeps it for the drain time, and it is
// then removed. It is a part of what the client should hold, but of no status.

// kept are the resources of a type that a client keeps although the state no longer has them.
type kept struct {
	resources []keptResource // sorted by name
}

type keptResource struct {
	resource *wire.Resource
	until    int64 // see Server.now
	// main and filters are versions when the resource was kept or last followed, see follow.
	main, filters string
}

const (
	plainSuffix  = "/plain"
	localPrefix  = "local/"
	defaultDrain = 600*time.Second + laterListener // Envoy's own default of --drain-time-s
	maxDrain     = 24 * time.Hour
	// laterListener is how much later than the server the proxy may begin to drain: additions of
	// earlier types come first, at a relay too, and the new listener warms for up to 15 s.
	laterListener = 30 * time.Second
)

// drainTime returns how long a proxy keeps what drains, by its drain time (wire.DrainMetadata). GRPC
// has no filters and clusters of its own for connections that drain.
func (s *stream) drainTime(metadata *structpb.Struct) time.Duration {
	if s.isGRPC() {
		return 0
	}
	text := metadata.GetFields()[wire.DrainMetadata].GetStringValue()
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		if d == 0 {
			return 0
		}
		return min(d, maxDrain) + laterListener
	}
	return s.server.options.Drain
}

// isGRPC reports whether the client is gRPC itself, and not a proxy.
func (s *stream) isGRPC() bool { return strings.HasPrefix(s.node.UserAgent, "gRPC") }

// mayKeep reports whether resources of the type are kept.
func (s *stream) mayKeep(t wire.Type) bool {
	return s.drain > 0 && (t == wire.ClusterType || t == wire.RouteType || t == wire.ExtensionType)
}

// withKept returns what the client should hold: want, and what it keeps.
func (s *stream) withKept(w *watch, want []*wire.Resource) []*wire.Resource {
	if !s.mayKeep(w.t) || !s.isKnown() || s.denied {
		w.kept = nil
		return want
	}
	held := w.held
	if w.flight.message != nil {
		held = w.flight.next
	}
	if w.t == wire.ClusterType {
		from := searchResource(held, localPrefix)
		held = held[from:]
		held = held[:searchResource(held, localPrefix+"\xff")]
	}
	if w.kept == nil && (len(held) == 0 || identical(held, want)) {
		return want
	}
	var next kept
	for _, r := range held {
		if find(want, r.Name) == nil && (w.sub.all || w.sub.has(r.Name)) {
			if k, ok := s.keep(w, r, held); ok {
				next.resources = append(next.resources, k)
			}
		}
	}
	if len(next.resources) == 0 {
		w.kept = nil
		return want
	}
	w.kept = &next
	all := slices.Clone(want)
	for _, k := range next.resources {
		all = append(all, k.resource)
	}
	sortResources(all)
	if slices.Equal(all, w.want) {
		return w.want
	}
	return all
}

// keep returns how one of the resources that the client has is kept, and false if it is not.
//
// Behind a partial state is another server, which keeps what drains itself. Only what a client
// names when it resumes is kept here: that server may not have been asked for it.
func (s *stream) keep(w *watch, r *wire.Resource, held []*wire.Resource) (keptResource, bool) {
	k, known := w.kept.find(r.Name)
	switch {
	case known:
	case s.generation.partial != nil && r.Body != nil: // the client has not resumed with it
		return k, false
	default:
		k = keptResource{resource: r, until: s.server.now() + int64(s.drain)}
	}
	if r.Type == wire.ExtensionType && s.snapshot != nil {
		if !known {
			k.main, k.filters = s.filtersHeld(r.Name, held)
		}
		s.follow(&k)
	}
	return k, s.server.now() < k.until
}

// find returns the entry of a name.
func (k *kept) find(name string) (keptResource, bool) {
	if k == nil {
		return keptResource{}, false
	}
	at, found := slices.BinarySearchFunc(k.resources, name, func(k keptResource, name string) int { return strings.Compare(k.resource.Name, name) })
	if !found {
		return keptResource{}, false
	}
	return k.resources[at], true
}

// has reports whether a resource is kept.
func (k *kept) has(name string) bool {
	_, found := k.find(name)
	return found
}

// A permission filter that is kept follows edits of permissions. This includes the edit that makes
// it drain, and edits while the client was away. A client that loses its access loses it on
// connections that drain too (SPEC 11.8).
//
//   - The filter of the plain-text chain becomes the one of the chain with TLS when that changes:
//     it decides about a client without a certificate.
//   - If the inbound no longer speaks HTTP, Options.Follow computes the filter that it would have.
//   - If the inbound is gone, no permissions are left. The filter denies everyone when another
//     filter of the dataplane changes.

// follow makes a kept filter what it is in the current state.
func (s *stream) follow(k *keptResource) {
	filters := versionOf(s.snapshot[wire.ExtensionType].Named, nil)
	if main := s.mainFilter(k.resource.Name); main != nil {
		if main.Version != k.main {
			followed := *main
			followed.Name, k.resource = k.resource.Name, &followed
		}
		k.main, k.filters = main.Version, filters
		return
	}
	if s.server.options.Follow != nil {
		filter, gone := s.server.options.Follow(s.generation.state, &s.node, k.resource.Name)
		if filter != nil && (gone && filters != k.filters || !gone && filter.Version != k.resource.Version) {
			k.resource = filter
		}
	}
	k.main, k.filters = "", filters
}

// filtersHeld returns the versions of follow for a filter that begins to drain, by what the client
// holds. Filters is empty if another filter has changed.
func (s *stream) filtersHeld(name string, held []*wire.Resource) (main, filters string) {
	if m := s.mainFilter(name); m != nil {
		main = m.Version
		if before := find(held, m.Name); before != nil {
			main = before.Version
		}
	}
	now := s.snapshot[wire.ExtensionType].Named
	for _, h := range held {
		if other := find(now, h.Name); other != nil && other.Version != h.Version {
			return main, ""
		}
	}
	return main, versionOf(now, nil)
}

// mainFilter returns the filter of the chain with TLS for the one of the plain-text chain, or nil.
func (s *stream) mainFilter(name string) *wire.Resource {
	name, plain := strings.CutSuffix(name, plainSuffix)
	if !plain {
		return nil
	}
	return find(s.snapshot[wire.ExtensionType].Named, name)
}

// expire removes what has been kept for long enough. It returns when to call it again; 0 if nothing
// is kept.
func (s *stream) expire(now int64) (next int64) {
	for _, w := range s.watches {
		if w == nil || w.kept == nil {
			continue
		}
		if slices.ContainsFunc(w.kept.resources, func(k keptResource) bool { return k.until <= now }) {
			s.rewant(w)
		}
		if w.kept == nil {
			continue
		}
		for _, k := range w.kept.resources {
			if next == 0 || k.until < next {
				next = k.until
			}
		}
	}
	return next
}

// withoutKept returns resources without what is kept, for a status.
func (w *watch) withoutKept(in []*wire.Resource) []*wire.Resource {
	if w.kept == nil {
		return in
	}
	return without(in, func(r *wire.Resource) bool { return w.kept.has(r.Name) })
}
