package xds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// An Outbound is the draft of the listener of an outbound (SPEC 11.3).
type Outbound struct {
	Report
	Facets
	collectors
	*Filters
	Destination variant.Destination
	Protocol    message.Protocol
	Listener    *listenerv3.Listener
	// Policy is the route policy that sends connections to other backends than the
	// outbound's own service; nil for HTTP. The confs of later translators are those
	// of its route (SPEC 4.3).
	Policy *resource.Policy
	// RouteConfs are what the kind has for single routes of HTTP, if its translator is
	// ByRoute. Its conf for the outbound applies to all other routes.
	RouteConfs []RouteConf

	Backends
}

// A RouteConf is the conf of the routes that a policy makes (SPEC 4.3). Their name is the
// KRI of the policy.
type RouteConf struct {
	Policy *resource.Policy
	*rules.Effective
}

// NoCluster returns the name of a cluster without endpoints, and makes sure that the
// dataplane has it.
func (o *Outbound) NoCluster() string {
	m := message.NewCluster("none", message.OutboundConnectTimeout)
	m.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	o.AddCluster(m)
	return m.Name
}

// collectors are the clusters of collectors of telemetry that a draft needs.
type collectors struct{ Clusters []*clusterv3.Cluster }

// AddCluster adds a cluster to the resources of the dataplane. Its name must
// determine its content, as several parts of a dataplane may add it.
func (c *collectors) AddCluster(m *clusterv3.Cluster) { c.Clusters = append(c.Clusters, m) }
