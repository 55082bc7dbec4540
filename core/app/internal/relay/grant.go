package relay

import (
	"context"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A grantKey identifies a decision of the upstream: a client may have, or may not have, what
// parameters choose of the names of a mesh (SPEC 12.1).
type grantKey struct{ identity, parameters, mesh string }

func newGrantKey(identity, name string, p server.Parameters) grantKey {
	mesh, _, _ := strings.Cut(name, "/") // SPEC 11.4
	return grantKey{identity, p.Key, mesh}
}

// A grant requests one decision. It subscribes to the first locator of the client with the
// parameters, in the name of the client, on a session that stays open: later decisions of the
// upstream arrive there. A session has one locator, because an error names no
// parameters. It is guarded by Relay.mu.
type grant struct {
	relay      *Relay
	key        grantKey
	by         program // of the first client
	parameters map[string]string
	first      nameKey
	verdict    server.Verdict
	used       int64 // as held.used
	sent       bool
	session    *session
	stop       context.CancelFunc
}

// allowed returns Found if a client may have what parameters choose.
func (s *State) allowed(client *server.Client, by program, key nameKey, p server.Parameters) server.Verdict {
	r := s.relay
	if !r.options.Authenticated {
		return server.Found
	}
	identity := r.identity(client)
	if identity == "" { // a relay, for itself
		return server.Found
	}
	id := newGrantKey(identity, key.name, p)
	if verdict := s.grants.get(id); verdict != server.Unknown {
		return verdict
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.grants[id]
	if g == nil {
		if verdict, limited := r.limitGrant(identity); limited {
			return verdict
		}
		r.countGrant(identity, server.Unknown, 1)
		g = &grant{relay: r, key: id, by: by, parameters: p.Values, first: key}
		r.grants[id] = g
	}
	g.used = r.clock.Load()
	if g.stop == nil {
		r.startGrant(g)
	}
	return g.verdict
}

// refusals are the grants of an identity that are not granted, or not yet.
type refusals struct{ pending, denied int }

// maxRefusals limits both for each identity: a grant is a stream to the upstream, and a client
// can make up any number of parameters.
const maxRefusals = 100

// limitGrant reports whether no further grant of an identity is requested, and which verdict
// applies then. Pending grants are decided soon, and then the next State requests more.
func (r *Relay) limitGrant(identity string) (server.Verdict, bool) {
	of := r.refusals[identity]
	switch {
	case of == nil:
		return server.Unknown, false
	case of.denied >= maxRefusals:
		return server.Denied, true
	}
	return server.Unknown, of.pending >= maxRefusals
}

// countGrant adds to the number of grants of an identity with a verdict.
func (r *Relay) countGrant(identity string, verdict server.Verdict, n int) {
	of := r.refusals[identity]
	if of == nil {
		of = new(refusals)
		r.refusals[identity] = of
	}
	switch verdict {
	case server.Unknown:
		of.pending += n
	case server.Denied:
		of.denied += n
	}
	if *of == (refusals{}) {
		delete(r.refusals, identity)
	}
}

// node implements owner.
func (g *grant) node() *corev3.Node {
	return nodeMessage(&server.Node{Message: g.by.node()}, g.key.identity)
}

// begin implements owner.
func (g *grant) begin(s *session) { g.session, g.sent = s, false }

// requests implements owner.
func (g *grant) requests() []*discoveryv3.DeltaDiscoveryRequest {
	if g.sent {
		return nil
	}
	g.sent = true
	return []*discoveryv3.DeltaDiscoveryRequest{{
		TypeUrl:                   g.first.t.URL(),
		ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: g.first.name, DynamicParameters: g.parameters}},
	}}
}

// apply implements owner.
func (g *grant) apply(v *verified) []string {
	verdict := server.Unknown
	switch {
	case v.errors[g.first.name] == codes.PermissionDenied:
		verdict = server.Denied
	case len(v.resources) > 0, len(v.removedVariants) > 0, v.errors[g.first.name] != codes.OK:
		verdict = server.Found // of what does not exist, too
	}
	if verdict != server.Unknown && verdict != g.verdict {
		g.relay.countGrant(g.key.identity, g.verdict, -1)
		g.relay.countGrant(g.key.identity, verdict, 1)
		g.verdict = verdict
		g.relay.edit.grants.set(g.key, verdict)
		g.relay.edited = true
	}
	return nil
}
