package snapshot

import (
	"slices"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds"
)

// egressConfs is the confs that outbounds of an egress to the external services behind it
// would have. They shape the clusters of these services (SPEC 17.4).
type egressConfs struct {
	destinations []*destination
	confs        *dataplaneConfs // Outbounds are parallel to destinations; nil: there are none
	shapes       []*xds.Translator
}

// egressConfs returns the confs for what the egresses of the dataplane lead to.
func (sb *snapshotBuilder) egressConfs() *egressConfs {
	e := &egressConfs{}
	var outbounds []destinations.Outbound
	for _, exposed := range sb.snapshot.zone.exposed {
		if exposed.egress && !slices.Contains(e.destinations, exposed.destination) {
			target := exposed.destination.target
			outbounds = append(outbounds, destinations.Outbound{Destination: target.object, Port: target.port})
			e.destinations = append(e.destinations, exposed.destination)
		}
	}
	if len(outbounds) == 0 {
		return e
	}
	e.confs = sb.confsOf(sb.in.foundConfs(sb.basis.configs, outbounds).configs, sb.client.Type, sb.places)
	for _, t := range sb.shape.cluster {
		if t.Kind != "MeshLoadBalancingStrategy" || sb.semantics != semantics.Kuma {
			e.shapes = append(e.shapes, t)
		}
	}
	return e
}

// shapeCluster changes the cluster of a filter chain by the confs of `to` for its external
// service, after the confs of the listener. It returns the confs.
func (e *egressConfs) shapeCluster(z *zoneListener, x *xds.Inbound, to *destination) *confList {
	list := e.confs.outbound(slices.Index(e.destinations, to), e.shapes)
	c := &xds.Cluster{
		Report: xds.Report{Place: z.message.Name}, Facets: &client{dataplane: z.dataplane, reads: z.clusters.reads}, Client: x.Client,
		Destination: to.Destination, Protocol: x.Protocol, Message: x.Cluster, HTTP: x.HTTP,
	}
	for i, t := range e.shapes {
		c.WarnIgnored(t, list.own[i])
		t.Cluster(c, list.own[i])
	}
	x.Warnings, x.Applied = append(x.Warnings, c.Warnings...), append(x.Applied, c.Applied...)
	return list
}
