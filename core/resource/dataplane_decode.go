package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// dataplaneFields are the fields of Kuma's Dataplane. They are in spec or, in
// the universal spelling, at the top level (SPEC 1.1).
var dataplaneFields = []string{"networking", "metrics", "probes", "envoy"}

//confgen:schema
type dataplaneDoc struct {
	//confgen:type networkingDoc
	Networking *strict.Value `json:"networking,omitzero"`
	Metrics    *metricsDoc   `json:"metrics,omitzero"`
	Probes     *probesDoc    `json:"probes,omitzero"`
	Envoy      *envoyDoc     `json:"envoy,omitzero"`
}

// dataplane decodes a Dataplane, whose networking may be at the top level or in
// spec.
func (d *decoder) dataplane(meta Meta, b *body) *Dataplane {
	d.dataplaneDocs = [2]dataplaneDoc{}
	top, below := &d.dataplaneDocs[0], &d.dataplaneDocs[1]
	if b.top != nil {
		strict.DecodePart(b.top, top)
		d.unusedFields(b.at, top)
	}
	if b.spec != nil {
		strict.Decode(b.spec, below)
		d.unusedFields(b.spec.At(), below)
	}
	networking := top.Networking
	switch {
	case networking == nil:
		networking = below.Networking
	case below.Networking != nil:
		below.Networking.At().Errorf(diag.BothPresent, "remove one", "networking is both at the top level and in spec")
	}
	if networking == nil {
		b.at.Field("networking").Errorf(diag.MissingField, "", "required field is missing")
		return &Dataplane{Meta: meta}
	}
	doc := &d.networking
	*doc = networkingDoc{Inbound: doc.Inbound[:0]}
	dp := &Dataplane{Meta: meta}
	sink := networking.At().Sink()
	before := sink.Mark()
	strict.Decode(networking, doc)
	dp.fill(doc)
	dp.Outbounds = d.outbounds(doc.Outbound)
	sink.Check(before, func() {
		if d.prober.failsNetworking(dp) {
			dp.validateNetworking(networking.At())
		}
		if len(dp.Inbounds) > maxInbounds {
			return // it is not used
		}
		for _, bad := range dp.BadListeners() {
			bad.warn(networking.At())
		}
	})
	d.unusedNetworking(networking.At(), doc)
	return dp
}

// fill sets the fields of d from its document, without the outbounds.
func (d *Dataplane) fill(doc *networkingDoc) {
	d.Address, d.AdvertisedAddress = doc.Address, doc.AdvertisedAddress
	if len(doc.Inbound) > 0 {
		d.Inbounds = make([]Inbound, len(doc.Inbound))
	}
	for i := range doc.Inbound {
		in := &doc.Inbound[i]
		d.Inbounds[i] = Inbound{
			Port: in.Port, Name: in.Name, Address: in.Address,
			ServicePort: in.ServicePort, ServiceAddress: in.ServiceAddress, Protocol: in.Protocol, Tags: in.Tags,
			NotReady: in.State != "" && in.State != ready || in.Health != nil && !in.Health.Ready, Ignored: in.State == ignored,
		}
	}
	if doc.Gateway != nil {
		d.Gateway = &GatewayProxy{Builtin: doc.Gateway.Type == "BUILTIN", Tags: doc.Gateway.Tags}
	}
	if p := doc.TransparentProxying; p != nil {
		d.TransparentProxy = &TransparentProxy{
			RedirectPortInbound: p.RedirectPortInbound, RedirectPortOutbound: p.RedirectPortOutbound,
			IPFamilyMode: string(p.IPFamilyMode), DirectAccessServices: p.DirectAccessServices, ReachableServices: p.ReachableServices,
		}
		if p.ReachableBackends != nil {
			d.TransparentProxy.ReachableBackends = make([]BackendRef, len(p.ReachableBackends.Refs))
			for i := range p.ReachableBackends.Refs {
				d.TransparentProxy.ReachableBackends[i] = p.ReachableBackends.Refs[i].ref()
			}
		}
	}
	for i := range doc.Listeners {
		l := &doc.Listeners[i]
		d.Listeners = append(d.Listeners, Listener{
			Egress: l.Type == ZoneEgressKind, Name: l.Name, Address: l.Address, Port: l.Port, Tags: l.Tags,
			NotReady: l.State != "" && l.State != ready,
		})
	}
}

// unusedFields counts the fields next to networking, which are not used here.
func (d *decoder) unusedFields(at *diag.At, doc *dataplaneDoc) {
	d.countUnused(at, "metrics", doc.Metrics != nil)
	d.countUnused(at, "probes", doc.Probes != nil)
	d.countUnused(at, "envoy", doc.Envoy != nil)
	if doc.Metrics != nil && doc.Metrics.Conf != nil {
		strict.Skim(doc.Metrics.Conf)
	}
}

// unusedNetworking counts the fields of networking that are not used here.
func (d *decoder) unusedNetworking(at *diag.At, doc *networkingDoc) {
	d.countUnused(at, "admin", doc.Admin != nil)
	for i := range doc.Inbound {
		if doc.Inbound[i].ServiceProbe != nil {
			d.countUnused(at.Field("inbound").Index(i), "serviceProbe", true)
		}
	}
}

// outbounds decodes a list of outbounds, which may be nil. It does not decode a list
// again if it recently decoded the same text.
func (d *decoder) outbounds(in *strict.Value) []Outbound {
	if in == nil {
		return nil
	}
	text := in.Source()
	if known := d.shared.decoded(text); known != nil {
		return known
	}
	d.outboundDocs = d.outboundDocs[:0]
	plain := strict.Decode(in, &d.outboundDocs) // the list has no errors and no warnings
	docs := d.outboundDocs
	list := make([]Outbound, len(docs))
	var single Tags // of all outbounds that have one tag
	for i := range docs {
		out := &docs[i]
		list[i] = Outbound{Port: out.Port, Address: out.Address, Tags: out.Tags.many}
		if out.Tags.isOne {
			if single == nil {
				single = make(Tags, 0, len(docs)-i)
			}
			single = append(single, out.Tags.one)
			list[i].Tags = slices.Clip(single[len(single)-1:])
		}
		if out.BackendRef != nil {
			list[i].Backend = new(out.BackendRef.ref())
		}
	}
	if len(list) == 0 {
		return nil
	}
	list = d.shared.keep(list)
	if plain {
		d.shared.remember(text, list)
	}
	return list
}
