package xds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// An Outbound is the draft of the listener of an outbound (SPEC 11.3).
type Outbound struct {
	Report
	Facets
	collectors
	*Filters
	// Lacks are the capabilities that the client does not have, as far as [Translator.Asks]
	// has them.
	Lacks       capability.Set
	Destination variant.Destination
	Protocol    message.Protocol
	Listener    *listenerv3.Listener
	// Policy is the route policy that sends connections to backends other than the
	// outbound's own service; nil for HTTP. Later translators get the confs of its route
	// (SPEC 4.3).
	Policy *resource.Policy
	// RouteConfs are the kind's confs for single HTTP routes, if its translator is
	// ByRoute. Its conf for the outbound applies to all other routes.
	RouteConfs []RouteConf

	Backends
}

// A RouteConf is the conf of the routes that a policy makes (SPEC 4.3). The routes have the
// KRI of the policy as their name.
type RouteConf struct {
	Policy *resource.Policy
	*results.Effective
}

// NoCluster returns the name of a cluster without endpoints, and makes sure that the
// dataplane has it.
func (o *Outbound) NoCluster() string {
	m := NoCluster()
	o.AddCluster(m)
	return m.Name
}

// NoCluster returns a cluster without endpoints: connections to it are closed.
func NoCluster() *clusterv3.Cluster {
	m := message.NewCluster("none", message.OutboundConnectTimeout)
	m.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	return m
}

// collectors are the clusters of telemetry collectors that a draft needs.
type collectors struct {
	Clusters []*clusterv3.Cluster
	// Collectors are those to which confs may refer.
	Collectors *collector.Directory
}

// Collector returns the collector of a reference, or false if there is none.
func (c *collectors) Collector(ref *conf.CollectorRef) (collector.Collector, bool) {
	return c.Collectors.Find(ref)
}

// AddCluster adds a cluster to the resources of the dataplane. Several parts of a
// dataplane may add it, so its name must determine its content.
func (c *collectors) AddCluster(m *clusterv3.Cluster) { c.Clusters = append(c.Clusters, m) }
