package relay_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

func nodeIn(id, env string) *corev3.Node {
	n := node(id)
	n.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{"env": structpb.NewStringValue(env)}}
	return n
}

func envOfMetadata(m *structpb.Struct) map[string]string {
	if env := m.GetFields()["env"].GetStringValue(); env != "" {
		return map[string]string{"env": env}
	}
	return nil
}

// names returns the names that a client holds.
func names(c *xdstest.Client, t wire.Type) map[string]bool {
	held := map[string]bool{}
	for name := range c.Named(t) {
		held[name] = true
	}
	return held
}

// An Envoy subscribes to all clusters and listeners, and to names that these refer to. All of
// it is on one stream to the upstream, which ends some time after the Envoy has gone.
func TestEnvoyNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.edit(func(s *xdstest.State) {
			s.Nodes["a"] = xdstest.Snapshot(web("1"), xdstest.Resource(wire.ListenerType, "in", "1"),
				xdstest.Resource(wire.EndpointType, "web", "1"), xdstest.Resource(wire.ExtensionType, "permission/in", "1"))
		})
		for _, state := range []bool{false, true} {
			client := c.relay.client(xdstest.Options{Node: node("a"), StateOfTheWorld: state})
			must(t, client.Wildcard(wire.ClusterType))
			must(t, client.Wildcard(wire.ListenerType))
			must(t, client.Subscribe(wire.EndpointType, "web", "absent"))
			must(t, client.Subscribe(wire.ExtensionType, "permission/in"))
			synctest.Wait()
			for t1, want := range map[wire.Type]string{wire.ClusterType: "web", wire.ListenerType: "in", wire.EndpointType: "web", wire.ExtensionType: "permission/in"} {
				if got := names(client, t1); !maps.Equal(got, map[string]bool{want: true}) {
					t.Errorf("%s: the client holds %v", t1, got)
				}
			}
			if _, failed := client.Error(wire.EndpointType, "absent"); !failed {
				t.Error("a name that does not exist has no error")
			}
			if state := c.relay.NodeState("a"); state != server.Converged {
				t.Errorf("at the relay the node is %v", state)
			}
			if state := c.upstream.NodeState("a"); state != server.Converged {
				t.Errorf("at the upstream the node is %v", state)
			}
			if n := c.upstream.streams(); n != 2 {
				t.Errorf("the upstream has %d streams, want one of the node and one of locators", n)
			}
			client.Close()
		}
		time.Sleep(20 * time.Second)
		if state := c.upstream.NodeState("a"); state != server.Absent {
			t.Errorf("after its client has gone, the node is %v at the upstream", state)
		}
	})
}

// A client that returns after the session of its node has ended, and asks only for what the relay
// keeps, gets what was edited meanwhile, and what is edited later.
func TestClientReturnsToKeptNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		edit := func(content string) {
			c.edit(func(s *xdstest.State) { s.Nodes["a"] = xdstest.Snapshot(web(content)) })
		}
		edit("1")
		for _, state := range []bool{false, true} {
			connect := func() *xdstest.Client {
				client := c.relay.client(xdstest.Options{Node: node("a"), StateOfTheWorld: state})
				must(t, client.Subscribe(wire.ClusterType, "web"))
				synctest.Wait()
				return client
			}
			connect().Close()
			time.Sleep(time.Minute)
			edit("while it was away")
			client := connect()
			for _, content := range []string{"while it was away", "later"} {
				edit(content)
				time.Sleep(2 * time.Second)
				if got := client.Named(wire.ClusterType)["web"]; !strings.HasSuffix(got.Body, content) {
					t.Errorf("the client holds %q, want %q", got.Body, content)
				}
			}
			client.Close()
			edit("1")
			time.Sleep(time.Minute)
		}
	})
}

// A state that does not have an answer waits for the one that has, even if that is published while
// it is asked: a wildcard would be empty, and locators would get variants of two partitions.
func TestOlderStateWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.edit(func(s *xdstest.State) {
			s.Nodes["a"] = xdstest.Snapshot(web("1"))
			s.Variants[xdstest.Name{Type: wire.ClusterType, Name: "web"}] = []wire.Variant{xdstest.Variant(web("1"), "")}
		})
		older := c.relay.relay.State()
		client := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, client.Wildcard(wire.ClusterType))
		must(t, client.SubscribeLocators(wire.ClusterType, xdstest.Locator{Name: "web", Parameters: map[string]string{"k": "v"}}))
		synctest.Wait()
		of := &server.Node{ID: "a", UserAgent: node("a").UserAgentName}
		p := server.ParametersOf(map[string]string{"k": "v"})
		for state, want := range map[*relay.State]server.Verdict{older: server.Unknown, c.relay.relay.State(): server.Found} {
			if _, got := state.AnswerName(new(server.Client), of, wire.ClusterType, "*", server.Parameters{}); got != want {
				t.Errorf("the wildcard is %v, want %v", got, want)
			}
			if _, got := state.Answer(new(server.Client), of, wire.ClusterType, "web", p); got != want {
				t.Errorf("the locator is %v, want %v", got, want)
			}
		}
		// A name that a newer state has is in the snapshot of that one.
		if r, got := older.AnswerName(new(server.Client), of, wire.ClusterType, "web", server.Parameters{}); got != server.Unknown || r != nil {
			t.Errorf("the name is %v, %v", r, got)
		}
	})
}

// A node that is no dataplane waits, as at the upstream.
func TestUnknownNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		client := c.relay.client(xdstest.Options{Node: node("later")})
		must(t, client.Wildcard(wire.ClusterType))
		synctest.Wait()
		if _, failed := client.Error(wire.ClusterType, "*"); !failed {
			t.Error("the wildcard of a node that does not exist has no error")
		}
		c.edit(func(s *xdstest.State) { s.Nodes["later"] = xdstest.Snapshot(web("1")) })
		if got := names(client, wire.ClusterType); !got["web"] {
			t.Errorf("the client holds %v", got)
		}
		c.edit(func(s *xdstest.State) { delete(s.Nodes, "later") })
		if got := names(client, wire.ClusterType); len(got) > 0 {
			t.Errorf("after the node was deleted the client holds %v", got)
		}
	})
}

// A name that no client of the node subscribes to any more is given up.
func TestNamesOfNodeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{Idle: time.Minute})
		c.edit(func(s *xdstest.State) {
			s.Nodes["a"] = xdstest.Snapshot(xdstest.Resource(wire.RouteType, "r", "1"), xdstest.Resource(wire.RouteType, "q", "1"))
		})
		client := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, client.Subscribe(wire.RouteType, "r", "q"))
		synctest.Wait()
		must(t, client.Unsubscribe(wire.RouteType, "q"))
		time.Sleep(2 * time.Minute)
		if n := c.upstream.subscriptions(wire.RouteType); n != 1 {
			t.Errorf("the upstream has %d subscriptions, want 1", n)
		}
		if got := names(client, wire.RouteType); !maps.Equal(got, map[string]bool{"r": true}) {
			t.Errorf("the client holds %v", got)
		}
	})
}

// With equal contents for many nodes the relay has one resource.
func TestEqualContentsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		ids := []string{"a", "b", "c"}
		c.edit(func(s *xdstest.State) {
			for _, id := range ids {
				s.Nodes[id] = xdstest.Snapshot(web("1"), xdstest.Resource(wire.ExtensionType, "permission/"+id, "1"))
			}
		})
		for _, id := range ids {
			client := c.relay.client(xdstest.Options{Node: node(id)})
			must(t, client.Wildcard(wire.ClusterType))
			must(t, client.Subscribe(wire.ExtensionType, "permission/"+id))
		}
		synctest.Wait()
		state := c.relay.relay.State()
		first, _ := state.Node(&server.Node{ID: "a", UserAgent: "envoy"})
		for _, id := range ids[1:] {
			s, ok := state.Node(&server.Node{ID: id, UserAgent: "envoy"})
			if !ok || s[wire.ClusterType].Listed[0] != first[wire.ClusterType].Listed[0] {
				t.Errorf("the cluster of %s is not that of a", id)
			}
			if &s[wire.ExtensionType].Named[0].Body[0] != &first[wire.ExtensionType].Named[0].Body[0] {
				t.Errorf("the extension of %s does not share its body", id)
			}
		}
	})
}

// One edit adds a cluster with endpoints, moves the route to it, and removes the old cluster.
// Behind two relays the order of the server is kept: a route never comes before its cluster,
// and the old cluster goes last.
func TestOrderOfSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		second := newSite(t, "second").relay(relay.Options{Upstreams: []relay.Upstream{c.relay.site.upstream()}})
		snapshot := func(cluster string) *wire.Snapshot {
			return xdstest.Snapshot(xdstest.Resource(wire.ClusterType, cluster, "1"), xdstest.Resource(wire.EndpointType, cluster, "1"),
				xdstest.Resource(wire.ListenerType, "in", "1"), xdstest.Resource(wire.RouteType, "routes", cluster))
		}
		c.edit(func(s *xdstest.State) { s.Nodes["a"] = snapshot("old") })
		client := second.client(xdstest.Options{Node: node("a")})
		must(t, client.Wildcard(wire.ClusterType))
		must(t, client.Subscribe(wire.EndpointType, "old", "new"))
		must(t, client.Wildcard(wire.ListenerType))
		must(t, client.Subscribe(wire.RouteType, "routes"))
		time.Sleep(time.Minute)
		before := len(client.Responses())
		c.edit(func(s *xdstest.State) { s.Nodes["a"] = snapshot("new") })
		time.Sleep(time.Minute)
		var order []string
		for _, r := range client.Responses()[before:] {
			for _, x := range r.Resources {
				order = append(order, fmt.Sprint("+", r.Type, " ", x.Name))
			}
			for _, name := range r.Removed {
				order = append(order, fmt.Sprint("-", r.Type, " ", name))
			}
		}
		at := func(what string) int { return slices.Index(order, what) }
		cluster, endpoints, route, gone := at("+clusters new"), at("+endpoints new"), at("+routes routes"), at("-clusters old")
		if cluster < 0 || !(cluster < endpoints && endpoints < route && route < gone) {
			t.Errorf("the order is %q", order)
		}
	})
}

// What gRPC gets has another form than what an Envoy gets, and parameters do not choose it: a relay
// that makes parameters of its metadata gives it what the upstream gives its node.
func TestGRPCWithParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{}, func(o *server.Options) { o.Parameters = envOfMetadata })
		c.serveVariants(xdstest.Variant(web("envoy"), ""))
		c.edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot(web("grpc")) })
		for agent, want := range map[string]string{"gRPC Go": "grpc", "gRPC C-core": "grpc", "envoy": "envoy"} {
			of := nodeIn("n", "prod")
			of.UserAgentName = agent
			client := c.relay.client(xdstest.Options{Node: of, StateOfTheWorld: true})
			must(t, client.Subscribe(wire.ClusterType, "web"))
			synctest.Wait()
			if held := client.Named(wire.ClusterType)["web"]; held.Body != string(web(want).Body) {
				t.Errorf("%s holds %q, want %s", agent, held.Body, want)
			}
			client.Close()
		}
	})
}
