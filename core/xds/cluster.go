package xds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// A Cluster is the draft of the cluster of a destination (SPEC 11.3).
type Cluster struct {
	Report
	Facets
	// Client is the type of the nodes that get the cluster.
	Client ClientType
	// Destination is the destination of an outbound or of a route's backend.
	Destination variant.Destination
	Protocol    message.Protocol
	Message     *clusterv3.Cluster
	// HTTP are the options of HTTP connections; nil for TCP.
	HTTP *httpv3.HttpProtocolOptions
}
