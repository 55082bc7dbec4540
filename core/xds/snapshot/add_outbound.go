package snapshot

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// outbound is an outbound of a dataplane: to a service by its tags, or to a resource.
type outbound struct {
	address     string
	port        uint32
	destination *destination
	configs     []*results.Config
	confs       *dataplaneConfs // of configs
	index       int             // in the lists of confs
}

// addOutbounds adds the parts of the outbounds, after the inbounds. Before is an earlier
// snapshot of the dataplane, or nil. If its outbounds have the same inputs, their parts are
// reused.
func (sb *snapshotBuilder) addOutbounds(before *Snapshot) {
	same := before != nil && sb.hasOutboundsOf(before)
	if same && !sb.outbounds.audit {
		sb.addOutboundsOf(before)
		return
	}
	sb.in.reads = &sb.shared.reads
	defer func() { sb.in.reads = &sb.own }()
	d, s, warnings := sb.dataplane, sb.snapshot, len(sb.Warnings)
	for i := range d.Outbounds {
		if o := &d.Outbounds[i]; o.Backend == nil {
			sb.addOutbound(&outbound{
				address: cmp.Or(o.Address, resource.DefaultOutboundAddress), port: o.Port,
				destination: sb.destination(d.Mesh, o.Tags), configs: sb.basis.configs, confs: sb.confs, index: i,
			})
		}
	}
	if targets := sb.basis.targets; targets != nil {
		confs := sb.confsOf(targets.configs, sb.client.Type, sb.places)
		for i := range targets.outbounds {
			o := &targets.outbounds[i]
			sb.addOutbound(&outbound{
				address: cmp.Or(o.Address, resource.DefaultOutboundAddress), port: o.Listens,
				destination: sb.in.target(o), configs: targets.configs, confs: confs, index: i,
			})
		}
	}
	sb.addBackends()
	sb.addFound()
	s.warned = slices.Clone(sb.Warnings[warnings:])
	if same {
		s.mustHaveOutboundsOf(before, &sb.shared)
	}
}

// addOutbound adds the listener of an outbound and what it leads to.
func (sb *snapshotBuilder) addOutbound(o *outbound) {
	set := sb.in.endpoints(o.destination)
	spoken := spokenBetween(o.destination.Tags, set.facts)
	http := spoken.protocol.IsHTTP()
	sb.warnRoutes(o, http)
	if sb.client.Type == xds.ProxylessGRPC {
		sb.addOutboundOfGRPC(o, set)
		return
	}
	confs := sb.list(o.confs.withRoutes(o.confs.outbound(o.index, sb.shape.outbound), o.index, sb.shape.outbound, func(t *xds.Translator) bool { return !http || t.ByRoute }))
	sb.addShared(sb.outboundListener(outboundKey{
		address: o.address, port: o.port, virtual: sb.transparent != nil,
		destination: o.destination, spoken: spoken,
		confs: confs, backends: sb.referred(confs, sb.shape.outbound), collectors: sb.collectorsOf(confs),
	}, sb.dataplane))
	if !sb.reached[o.destination] {
		sb.addDestination(o, set)
	}
}

// addDestination adds what dataplanes share of an outbound: the cluster, the endpoints
// and the routes of its destination.
func (sb *snapshotBuilder) addDestination(o *outbound, set *endpointSet) {
	sb.reach(o.destination, set, o.confs, o.index)
	if spoken := spokenBetween(o.destination.Tags, set.facts); spoken.protocol.IsHTTP() {
		confs := sb.list(o.confs.withRoutes(o.confs.outbound(o.index, sb.shape.routes), o.index, sb.shape.routes, func(*xds.Translator) bool { return true }))
		sb.addShared(sb.routeConfiguration(routesKey{
			destination: o.destination, spoken: spoken, client: sb.client.Type,
			confs: confs, backends: sb.referred(confs, sb.shape.routes),
		}, sb.dataplane))
		sb.shared.api = append(sb.shared.api, sb.apiListener(o.destination))
	}
}

// reach adds the cluster and the endpoints of a destination, with the confs of an
// outbound to it.
func (sb *snapshotBuilder) reach(destination *destination, set *endpointSet, confs *dataplaneConfs, index int) {
	sb.reached[destination] = true
	if set.facts.unnamed {
		sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.NoEndpoints, Place: destination.name, Inspected: true,
			Message: "there is no cluster: the names of the destination do not make a server name (SNI)"})
		return
	}
	key := clusterKey{
		destination: destination, facts: set.facts, tls: sb.tls, client: sb.client.Type,
		confs: sb.list(confs.outbound(index, sb.shape.cluster)),
	}
	endpoints := endpointsKey{
		destination: destination, set: set, tls: sb.tls, client: sb.client.Type,
		confs: sb.list(confs.outbound(index, sb.shape.endpoints)),
	}
	resolved := set.facts.names
	if sb.client.Type == xds.ProxylessGRPC {
		resolved = set.isHostName(sb.tls)
	}
	if resolved {
		key.resolved = endpoints
		sb.addShared(sb.cluster(key, sb.dataplane))
		return
	}
	sb.addShared(sb.cluster(key, sb.dataplane))
	sb.addShared(sb.endpoints.get(endpoints, sb.dataplane, func(client *client) *built { return sb.endpointPart(endpoints, client) }))
}

// addBackends adds the destinations of backends of routes that have no outbound, with the
// confs that an outbound to them would have.
func (sb *snapshotBuilder) addBackends() {
	backends := slices.DeleteFunc(sb.backends, func(d *destination) bool { return sb.reached[d] })
	if len(backends) == 0 {
		return
	}
	var outbounds []resource.Outbound
	for _, d := range backends {
		outbounds = append(outbounds, resource.Outbound{Port: 1, Tags: d.Tags})
	}
	confs := sb.confsOf(sb.in.configsWith(outbounds), sb.client.Type, sb.places)
	for i, d := range backends {
		if !sb.reached[d] {
			sb.reach(d, sb.in.endpoints(d), confs, i)
		}
	}
}
