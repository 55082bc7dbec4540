package snapshot

import (
	"github.com/meshmatch/meshmatch/core/resource"
)

// kumaNames returns the names that Kuma gives to the resources of a destination.
func (b *Builder) kumaNames(d *destination) []string {
	if d.target == nil {
		return b.semantics.ServiceNames(d.Tags)
	}
	return b.semantics.DestinationNames(d.target.object, d.target.port, kumaShorts[d.target.object.Identity().Kind])
}

// kumaShorts are the words for the kinds of destinations in the names of Kuma 2.
var kumaShorts = map[string]string{
	resource.MeshServiceKind: "msvc", resource.MeshExternalServiceKind: "extsvc", resource.MeshMultiZoneServiceKind: "mzsvc",
}

// named returns other names of one resource; nil if there are none.
func named(name string, others []string) map[string][]string {
	if len(others) == 0 {
		return nil
	}
	return map[string][]string{name: others}
}

// inboundNames returns the other names of the listener and the cluster of an inbound.
func (b *Builder) inboundNames(listener, cluster, address string, in *resource.Inbound) map[string][]string {
	listeners, clusters := b.semantics.InboundNames(address, in)
	if listeners == nil {
		return nil
	}
	return map[string][]string{listener: listeners, cluster: clusters}
}

// passthroughNames returns the other names of the listeners and clusters of passthrough.
func (b *Builder) passthroughNames() map[string][]string {
	inbound := b.semantics.PassthroughNames("inbound")
	if inbound == nil {
		return nil
	}
	return map[string][]string{inboundPassthrough: inbound, outboundPassthrough: b.semantics.PassthroughNames("outbound")}
}
