package server_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// accepting is a cluster that accepts identities.
func accepting(ids ...string) *wire.Resource {
	c := xdstest.Resource(wire.ClusterType, "a", strings.Join(ids, "+"))
	c.Peers = wire.NewPeers(ids, nil)
	return c
}

// having is the endpoints of that cluster, one for each identity.
func having(ids ...string) *wire.Resource {
	e := xdstest.Resource(wire.EndpointType, "a", strings.Join(ids, "+"))
	e.Peers = wire.NewPeers(ids, func(accepted []string) *wire.Resource {
		kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !slices.Contains(accepted, id) })
		if len(kept) == 0 {
			return nil
		}
		return having(kept...)
	})
	return e
}

// An endpoint is sent when the client has accepted a cluster that accepts its identity. Until
// then the client gets the other endpoints, with which the new cluster warms.
func TestEndpointsWaitForTheirCluster(t *testing.T) {
	const wait = 150 * time.Millisecond
	unknown := func(r *wire.Resource) *wire.Resource { r.Peers = nil; return r }
	for name, c := range map[string]struct {
		before, after []*wire.Resource
		first         string // the endpoints before the ACK of the cluster
		then          string // those after it; empty: none
	}{
		"an identity joins":               {[]*wire.Resource{accepting("a"), having("a")}, []*wire.Resource{accepting("a", "b"), having("a", "b")}, "a", "a+b"},
		"one leaves":                      {[]*wire.Resource{accepting("a", "b"), having("a", "b")}, []*wire.Resource{accepting("a"), having("a")}, "a", ""},
		"one joins, another leaves":       {[]*wire.Resource{accepting("a", "b"), having("a", "b")}, []*wire.Resource{accepting("a", "c"), having("a", "c")}, "a", "a+c"},
		"the only one is another one":     {[]*wire.Resource{accepting("a"), having("a")}, []*wire.Resource{accepting("b"), having("b")}, "b", ""},
		"an endpoint joins":               {[]*wire.Resource{accepting("a", "b"), having("a")}, []*wire.Resource{accepting("a", "b", "c"), having("a", "b")}, "a+b", ""},
		"the peers of a cluster":          {[]*wire.Resource{unknown(accepting("a")), having("a")}, []*wire.Resource{accepting("a", "b"), having("a", "b")}, "a+b", ""},
		"the peers of the endpoints":      {[]*wire.Resource{accepting("a"), having("a")}, []*wire.Resource{accepting("a", "b"), unknown(having("a", "b"))}, "a+b", ""},
		"the first cluster of the client": {nil, []*wire.Resource{accepting("a"), having("a")}, "a", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode(c.before...), Wait: wait})
				stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).DeltaAggregatedResources(t.Context())
				must(t, err)
				send := func(request *discoveryv3.DeltaDiscoveryRequest) { t.Helper(); must(t, stream.Send(request)) }
				ack := func(m *discoveryv3.DeltaDiscoveryResponse) {
					send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()})
				}
				// expect receives a response with one resource.
				expect := func(of wire.Type, content string) *discoveryv3.DeltaDiscoveryResponse {
					t.Helper()
					m, err := stream.Recv()
					must(t, err)
					want := xdstest.Resource(of, "a", content)
					if m.GetTypeUrl() != of.URL() || len(m.GetResources()) != 1 || !slices.Equal(m.GetResources()[0].GetResource().GetValue(), want.Body) {
						t.Fatalf("got %v, want the %s %s", m, of, content)
					}
					return m
				}
				for _, of := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType} {
					names := map[wire.Type][]string{wire.EndpointType: {"a"}}
					send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: of.URL(), ResourceNamesSubscribe: names[of]})
					m, err := stream.Recv()
					must(t, err)
					ack(m)
				}
				synctest.Wait()

				setNode(r.source, c.after...)
				cluster := expect(wire.ClusterType, strings.Join(c.after[0].Peers.IDs(), "+"))
				ack(expect(wire.EndpointType, c.first))
				synctest.Wait()
				begin := time.Now()
				if c.then == "" {
					ack(cluster)
					synctest.Wait()
				} else if r.NodeState("n") == server.Converged {
					t.Error("the client has converged without all endpoints")
				} else {
					ack(cluster)
					ack(expect(wire.EndpointType, c.then))
				}
				if waited := time.Since(begin); waited != 0 {
					t.Errorf("the endpoints wait %v after the ACK", waited)
				}
				if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
					t.Error("the client has not converged")
				}
			})
		})
	}
}

// A cluster that the client never accepts delays its endpoints by Options.Wait only.
func TestEndpointsWaitForTheirClusterForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 150 * time.Millisecond
		r := start(t, server.Options{Source: oneNode(accepting("a"), having("a")), Wait: wait})
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).DeltaAggregatedResources(t.Context())
		must(t, err)
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()}))
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), ResourceNamesSubscribe: []string{"a"}}))
		for range 2 {
			m, err := stream.Recv()
			must(t, err)
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()}))
		}
		synctest.Wait()
		begin := time.Now()
		setNode(r.source, accepting("a", "b"), having("a", "b"))
		for _, want := range []struct {
			body []byte
			at   time.Duration
		}{{accepting("a", "b").Body, 0}, {having("a").Body, 0}, {having("a", "b").Body, wait}} {
			m, err := stream.Recv()
			must(t, err)
			if got := m.GetResources()[0].GetResource(); !slices.Equal(got.GetValue(), want.body) {
				t.Fatalf("got %v", got)
			}
			if waited := time.Since(begin); waited != want.at {
				t.Errorf("%v is sent after %v, want %v", m.GetTypeUrl(), waited, want.at)
			}
			if m.GetTypeUrl() == wire.EndpointType.URL() { // the cluster is not ACKed
				must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()}))
			}
		}
	})
}
