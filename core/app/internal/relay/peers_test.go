package relay

import (
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A relay knows from the bytes which endpoints a cluster accepts that has a transport socket
// for each identity.
func TestPeersOfBytes(t *testing.T) {
	var p pool
	marshal := func(m proto.Message) []byte {
		t.Helper()
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cluster := func(ids ...string) *wire.Resource {
		m := &clusterv3.Cluster{Name: "a"}
		for _, id := range ids {
			m.TransportSocketMatches = append(m.TransportSocketMatches, &clusterv3.Cluster_TransportSocketMatch{Name: id, Match: message.SocketMatch(id)})
		}
		return p.resource(wire.ClusterType, "a", marshal(m))
	}
	endpoints := func(ids ...string) *wire.Resource { // an empty ID: without TLS
		l := &endpointv3.LocalityLbEndpoints{}
		for _, id := range ids {
			e := &endpointv3.LbEndpoint{}
			if id != "" {
				e.Metadata = message.TransportSocketMetadata(id)
			}
			l.LbEndpoints = append(l.LbEndpoints, e)
		}
		return p.resource(wire.EndpointType, "a", marshal(&endpointv3.ClusterLoadAssignment{ClusterName: "a", Endpoints: []*endpointv3.LocalityLbEndpoints{l}}))
	}
	for name, c := range map[string]struct{ all, cluster, want *wire.Resource }{
		"all are accepted":     {endpoints("x", "y"), cluster("x", "y", "z"), endpoints("x", "y")},
		"one is not":           {endpoints("x", "y"), cluster("x"), endpoints("x")},
		"one without identity": {endpoints("", "y"), cluster("x"), endpoints("")},
		"none is accepted":     {endpoints("y"), cluster("x"), endpoints("y")},
		"no sockets by match":  {endpoints("y"), cluster(), endpoints("y")},
		"no identities":        {endpoints("", ""), cluster("x"), endpoints("", "")},
	} {
		if got := c.all.AcceptedBy(c.cluster); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got.Body, c.want.Body)
		}
	}
}
