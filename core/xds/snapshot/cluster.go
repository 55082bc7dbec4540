package snapshot

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// clusterKey is all that the cluster of a destination depends on.
type clusterKey struct {
	destination *destination
	facts       *endpointFacts
	resolved    endpointsKey // if the endpoints have host names
	tls         clientTLS
	client      xds.ClientType
	confs       *confList
}

// cluster returns the cluster of a destination.
func (b *Builder) cluster(key clusterKey, d *resource.Dataplane) *built {
	return b.clusters.get(key, d, func(client *client) *built {
		name, spoken := key.destination.name, spokenBetween(key.destination.Tags, key.facts)
		c := &xds.Cluster{
			Report: xds.Report{Place: name, OnlyTCP: spoken.onlyTCP}, Facets: client, Client: key.client,
			Destination: key.destination.Destination,
			Protocol:    spoken.protocol,
			Message:     message.NewCluster(name, message.OutboundConnectTimeout),
		}
		upstream := c.Protocol
		if c.Protocol.IsHTTP() {
			if key.destination.target.speaksHTTP2() {
				upstream = message.HTTP2
			}
			c.HTTP = message.NewHTTPOptions(upstream, message.OutboundIdleTimeout)
		}
		messages := []proto.Message{c.Message}
		if key.resolved == (endpointsKey{}) {
			message.UseEDS(c.Message)
		} else if m := b.assignment(key.resolved, &c.Report, client); key.client == xds.ProxylessGRPC && len(m.Endpoints) == 0 {
			message.UseEDS(c.Message) // gRPC rejects a host name that is none
			messages = append(messages, m)
		} else {
			message.Resolve(c.Message)
			if key.client == xds.ProxylessGRPC {
				c.Message.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_LOGICAL_DNS}
			}
			c.Message.LoadAssignment = m
		}
		if key.destination.target.isDirect() {
			if key.client == xds.Envoy {
				c.Message.TransportSocket = proto.CloneOf(key.destination.target.external.socket)
			}
		} else {
			if !key.tls.enabled() && len(key.facts.serverNames) > 0 {
				c.WarnPlace(diag.AbsentDependency, "the dataplane has no identity, and zone proxies accept TLS only, so every connection to one fails")
			}
			if key.tls.enabled() && key.facts.refused {
				c.WarnPlace(diag.AbsentDependency, "every connection by TLS fails: neither the identities of the MeshService nor a MeshIdentity of its dataplanes give a SPIFFE ID")
			}
			key.tls.secure(c.Message, key.facts, upstream)
		}
		for i, t := range b.shape.cluster {
			c.WarnIgnored(t, key.confs.own[i])
			if key.client == xds.ProxylessGRPC {
				c.WarnIgnoredByGRPC(t, key.confs.own[i])
			}
			t.Cluster(c, key.confs.own[i])
		}
		message.SetHTTPOptions(c.Message, c.HTTP)
		return b.finish(&draft{Part: xds.Part{Report: c.Report, Origin: xds.OutboundOrigin, Tags: key.destination.Tags, Names: named(key.destination.name, b.kumaNames(key.destination)),
			Messages: messages}, confs: key.confs.all(), peers: key.tls.clusterPeers(key.facts), key: key.destination.target.key()}, key.confs.lacks, key.confs.finish)
	})
}

// spoken is what the listener and the routes of an outbound depend on of its endpoints. So an
// edit of identities changes none of them.
type spoken struct {
	protocol  message.Protocol // the tag of the outbound, else that of all endpoints, else TCP (SPEC 11.3)
	onlyTCP   bool             // by the tag, or by each of the endpoints
	hostNames bool             // the address of an endpoint is one
}

// spokenBetween returns what an outbound with the given tags and its endpoints speak.
func spokenBetween(tags resource.Tags, facts *endpointFacts) spoken {
	s := spoken{facts.protocol, facts.onlyTCP, facts.names}
	if tag := tags.Value(resource.ProtocolTag); tag != "" {
		s.protocol = message.ProtocolOf(tag)
		s.onlyTCP = !s.protocol.IsHTTP()
	}
	return s
}
