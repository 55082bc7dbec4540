package snapshot

import (
	"cmp"
	"net/netip"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// workloadAddresses returns the addresses of the workload of an inbound, in addition to
// that of the inbound: with transparent proxying clients that connect to the workload are
// redirected to the proxy, and the filters of the inbound decide about them (SPEC 11.5,
// MeshPassthrough). Of inbounds with one port of the workload the first has it: a client
// reaches the workload by that inbound anyway.
//
// Envoy prefers a listener at the address of a connection to one at all addresses, so an
// inbound at the port itself keeps its own connections.
func workloadAddresses(d *resource.Dataplane, index int) []*listenerv3.AdditionalAddress {
	portOf := func(i int) uint32 { return cmp.Or(d.Inbounds[i].ServicePort, d.Inbounds[i].Port) }
	port := portOf(index)
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		own, err := netip.ParseAddr(cmp.Or(in.Address, d.Address))
		if i < index && portOf(i) == port || in.Port == port && err == nil && own.IsUnspecified() {
			return nil
		}
	}
	return []*listenerv3.AdditionalAddress{
		{Address: message.SocketAddress("0.0.0.0", port)},
		{Address: message.SocketAddress("::", port)},
	}
}
