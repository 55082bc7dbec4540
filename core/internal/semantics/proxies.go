package semantics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Proxies completes the dataplanes of a mesh: it replaces what their documents do not
// declare, or declare without effect, by what the mesh gives to their proxies (SPEC 17.3).
//
//   - A builtin gateway has the listeners of its MeshGateway.
//   - A transparent proxy has the outbounds of service tags at virtual addresses, and none
//     of the listed ones.
//   - In Kuma 3 no outbound is given by tags, and no protocol or address by fields that
//     Kuma 3 drops.
//
// It is for one goroutine at a time. A nil Proxies changes no dataplane.
type Proxies struct {
	semantics Semantics // Kuma or Kuma3
	gateways  []*resource.MeshGateway
	virtual   []*resource.VirtualAddresses // nil if the mesh has no outbounds of service tags

	outbounds []resource.Outbound            // all outbounds of service tags
	addresses map[string]bool                // of these outbounds
	reached   map[string][]resource.Outbound // the outbounds of the services in a list of reachableServices
}

// Proxies returns what completes the dataplanes of a mesh. Mesh is its document, or nil;
// objects are sorted by identity.
func (s Semantics) Proxies(mesh *resource.Mesh, objects []resource.Object) *Proxies {
	if !s.isKuma() {
		return nil
	}
	x := &Proxies{semantics: s, addresses: map[string]bool{}, reached: map[string][]resource.Outbound{}}
	if s == Kuma3 {
		return x
	}
	x.gateways = resource.ObjectsOf[*resource.MeshGateway](objects)
	if mesh.ServicesMode() == specs.MeshServicesExclusive {
		return x
	}
	x.virtual = resource.ObjectsOf[*resource.VirtualAddresses](objects)
	for _, addresses := range x.virtual {
		for i := range addresses.Spec.Config {
			x.outbounds = appendVirtual(x.outbounds, &addresses.Spec.Config[i])
		}
	}
	for i := range x.outbounds {
		x.addresses[x.outbounds[i].Address] = true
	}
	return x
}

// virtualPort is the port at which Kuma offers every service in addition to its own ports.
const virtualPort = 80

// appendVirtual appends the outbounds of a virtual host.
func appendVirtual(outbounds []resource.Outbound, host *specs.VirtualHost) []resource.Outbound {
	if host.Address == "" {
		return outbounds
	}
	first := len(outbounds)
	for _, o := range host.Outbounds {
		outbounds = append(outbounds, resource.Outbound{Address: host.Address, Port: o.Port, Tags: o.Tags})
	}
	isVirtual := func(o resource.Outbound) bool { return o.Port == virtualPort }
	if host.Type == specs.ServiceHost && !slices.ContainsFunc(outbounds[first:], isVirtual) {
		tags := resource.NewTags(map[string]string{resource.ServiceTag: host.Name})
		outbounds = append(outbounds, resource.Outbound{Address: host.Address, Port: virtualPort, Tags: tags})
	}
	return outbounds
}

// Equal reports whether both complete every dataplane in the same way. Objects that are
// the same pointer are equal.
func (x *Proxies) Equal(o *Proxies) bool {
	return x == o || x != nil && o != nil && x.semantics == o.semantics && slices.Equal(x.gateways, o.gateways) && slices.Equal(x.virtual, o.virtual)
}

// Complete returns the dataplane as its proxy is configured: d itself if its document is
// complete.
func (x *Proxies) Complete(d *resource.Dataplane) *resource.Dataplane {
	if d = d.Declared(); x == nil {
		return d
	}
	gateway := x.gatewayOf(d)
	outbounds, others := x.outboundsOf(d)
	dropped := x.semantics == Kuma3 && (d.AdvertisedAddress != "" || slices.ContainsFunc(d.Inbounds, protocolByTag))
	if !others && !dropped && (d.Gateway == nil || d.Gateway.MeshGateway == gateway) {
		return d
	}
	return d.Derive(func(d *resource.Dataplane) {
		if others {
			d.Outbounds = outbounds
		}
		if d.Gateway != nil {
			proxy := *d.Gateway
			proxy.MeshGateway = gateway
			d.Gateway = &proxy
		}
		if dropped {
			dropFields(d)
		}
	})
}

// outboundsOf returns the outbounds of the proxy of a dataplane: the outbounds of service tags,
// and the listed references to destinations. It reports whether they differ from the
// dataplane's own.
func (x *Proxies) outboundsOf(d *resource.Dataplane) (outbounds []resource.Outbound, differ bool) {
	transparent := IsTransparent(d)
	if !transparent && x.semantics == Kuma {
		return nil, false
	}
	var listed []resource.Outbound
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend != nil {
			listed = append(listed, d.Outbounds[i])
		}
	}
	if transparent {
		outbounds = x.virtualOf(d)
	}
	if len(listed) == len(d.Outbounds) && len(outbounds) == 0 {
		return nil, false
	}
	if len(listed) > 0 {
		outbounds = slices.Concat(outbounds, listed)
	}
	return outbounds, true
}

// virtualOf returns the outbounds of service tags that a transparent proxy has. Dataplanes
// share the list.
func (x *Proxies) virtualOf(d *resource.Dataplane) []resource.Outbound {
	all := x.outbounds
	if p := d.TransparentProxy; p != nil && len(p.ReachableServices) > 0 && len(all) > 0 {
		key := strings.Join(p.ReachableServices, "\n")
		list, known := x.reached[key]
		if !known {
			for _, o := range all {
				if slices.Contains(p.ReachableServices, o.Tags.Value(resource.ServiceTag)) {
					list = append(list, o)
				}
			}
			x.reached[key] = list
		}
		all = list
	}
	// Hardly any inbound has a virtual address, and the lists are long.
	if !slices.ContainsFunc(d.Inbounds, func(in resource.Inbound) bool { return x.addresses[cmp.Or(in.Address, d.Address)] }) {
		return all
	}
	own := func(o resource.Outbound) bool {
		return slices.ContainsFunc(d.Inbounds, func(in resource.Inbound) bool {
			return in.Port == o.Port && cmp.Or(in.Address, d.Address) == o.Address
		})
	}
	if slices.ContainsFunc(all, own) {
		return slices.DeleteFunc(slices.Clone(all), own)
	}
	return all
}

// IsTransparent reports whether connections of the workload are redirected to the proxy.
// A Dataplane from Kubernetes need not configure this, so it returns true for every
// dataplane with a namespace.
func IsTransparent(d *resource.Dataplane) bool {
	switch {
	case d.TransparentProxy != nil:
		return true
	case d.Gateway != nil:
		return !d.Gateway.Builtin && d.Namespace != ""
	}
	return d.Namespace != "" && len(d.Inbounds) > 0
}

// gatewayOf returns the MeshGateway of a builtin gateway, or nil: of those that select it,
// the one with the most exact selector, then the newest.
func (x *Proxies) gatewayOf(d *resource.Dataplane) (best *resource.MeshGateway) {
	if d.Gateway == nil || !d.Gateway.Builtin {
		return nil
	}
	var exactness int
	for _, gateway := range x.gateways {
		e, selects := selectorExactness(gateway.Spec.Selectors, d.Gateway.Tags)
		if selects && (best == nil || e > exactness || e == exactness && gateway.CreationTime.After(best.CreationTime)) {
			best, exactness = gateway, e
		}
	}
	return best
}

// selectorExactness returns a number that is greater for a more exact selector: one with
// more tags, then one with fewer tags of any value. Among the selectors that select the tags,
// the most exact one is taken; the second result reports whether there is one.
func selectorExactness(selectors []specs.TagSelector, tags resource.Tags) (exactness int, selects bool) {
	for i := range selectors {
		if match := selectors[i].Match; tags.Contains(match) {
			e := len(match) << 16
			for _, tag := range match {
				if tag.Value != resource.AnyValue {
					e++
				}
			}
			exactness, selects = max(exactness, e), true
		}
	}
	return exactness, selects
}

// ListenerTags returns the tags of a listener of a builtin gateway: its own, its MeshGateway's
// and the dataplane's, in this precedence.
func ListenerTags(d *resource.Dataplane, listener *specs.GatewayListener) resource.Tags {
	merged := map[string]string{}
	for _, tags := range []resource.Tags{d.Gateway.Tags, d.Gateway.MeshGateway.Spec.Tags, listener.Tags} {
		for _, tag := range tags {
			merged[tag.Key] = tag.Value
		}
	}
	return resource.NewTags(merged)
}

func protocolByTag(in resource.Inbound) bool {
	_, tagged := in.Tags.Get(resource.ProtocolTag)
	return tagged && in.Protocol == ""
}

// dropFields removes the effect of these fields: an inbound whose protocol is a tag is TCP.
func dropFields(d *resource.Dataplane) {
	d.AdvertisedAddress = ""
	d.Inbounds = slices.Clone(d.Inbounds)
	for i := range d.Inbounds {
		if protocolByTag(d.Inbounds[i]) {
			d.Inbounds[i].Protocol = "tcp"
		}
	}
}

// GatewayRules reports whether `from` and `rules` of a kind apply to the listeners of
// builtin gateways (SPEC 17.3).
func (s Semantics) GatewayRules(kind *resource.Kind) bool {
	return s == Kuma && (kind.Name == "MeshTimeout" || kind.Name == "MeshAccessLog")
}

// portWithoutListener is the port of the inbound that Kuma gives to a workload without ports.
const portWithoutListener = 49151

// Listens reports whether the proxy of a dataplane has a listener of its own for an inbound,
// given by its index. Policies also select an inbound without one (SPEC 1.3, 17.4).
func (s Semantics) Listens(d *resource.Dataplane, inbound int) bool {
	return d.IsListener(inbound) && (s == TargetRef || d.Inbounds[inbound].Port != portWithoutListener)
}
