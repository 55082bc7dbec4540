package relay_test

import (
	"strings"
	"testing"
	"testing/synctest"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// byProgram is a state whose variants depend on what a client is.
type byProgram struct{ *xdstest.Source }

// Current implements server.Source.
func (s byProgram) Current() (server.State, <-chan struct{}) {
	state, changed := s.Source.Current()
	return programState{state.(*xdstest.State)}, changed
}

type programState struct{ *xdstest.State }

// Locate implements server.State: Envoys before 1.37, others and gRPC have resources of their own.
func (s programState) Locate(n *server.Node, t wire.Type, name string, _ map[string]string) (wire.Variant, bool) {
	content := "new"
	switch {
	case strings.HasPrefix(n.UserAgent, "gRPC"):
		content = "grpc"
	case n.Version == "" || strings.HasPrefix(n.Version, "1.36."):
		content = "old"
	}
	return wire.Variant{Resource: xdstest.Resource(t, name, content)}, true
}

// A relay, and a relay behind it, ask for the clients of each type and set of capabilities on a
// stream of their own, with the user agent of one of them (SPEC 18.4). So each client is given
// what the upstream itself gives it, also after a restart with what the relay has kept.
func TestClientsOfEachVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := newSite(t, "upstream")
		upstream := at.serve(server.Options{Source: byProgram{xdstest.NewSource(xdstest.NewState())}})
		dir := t.TempDir()
		first := newSite(t, "first").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}, State: dir})
		second := newSite(t, "second").relay(relay.Options{Upstreams: []relay.Upstream{first.site.upstream()}})
		synctest.Wait()
		l := xdstest.Locator{Name: "web", Parameters: map[string]string{"k": "v"}}
		subscribe := func(relays ...*relayed) {
			for _, program := range []struct{ agent, version, want string }{
				{"", "", "old"},
				{"envoy", "1.40.0", "new"},
				{"envoy", "1.36.4", "old"},
				{"envoy", "1.41.0", "new"},
				{"envoy", "", "old"},
				{"gRPC Go", "1.75.0", "grpc"},
				{"gRPC C-core", "40.0.0", "grpc"},
			} {
				for _, r := range relays {
					c := r.client(xdstest.Options{Node: &corev3.Node{UserAgentName: program.agent,
						UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: program.version}}})
					must(t, c.SubscribeLocators(wire.ClusterType, l))
					synctest.Wait()
					located(t, c, wire.ClusterType, l, xdstest.Resource(wire.ClusterType, "web", program.want))
				}
			}
		}
		subscribe(first, second)
		if n := upstream.streams(); n != 3 {
			t.Errorf("the upstream has %d streams, want one of each set of clients", n)
		}
		if n := upstream.subscriptions(wire.ClusterType); n != 3 {
			t.Errorf("the upstream has %d subscriptions, want one of each set of clients", n)
		}
		first.stop()
		upstream.stop()
		subscribe(newSite(t, "again").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}, State: dir}))
	})
}
