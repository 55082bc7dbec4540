package snapshot

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"unique"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// workloadAddresses returns the addresses of the workload of an inbound, in addition to the
// inbound's own address: with transparent proxying, clients that connect to the workload are
// redirected to the proxy, and the filters of the inbound decide about them (SPEC 11.5,
// MeshPassthrough). If several inbounds have one port of the workload, the first gets its
// addresses: a client reaches the workload by that inbound anyway. Taken are the addresses of
// outbounds.
//
// They are the addresses of the dataplane, not all addresses: both redirect listeners hand
// connections to the same listeners. A listener at all addresses would also get the
// workload's connections to the same port of other dataplanes.
func workloadAddresses(d *resource.Dataplane, index int, taken []netip.AddrPort) (list []*listenerv3.AdditionalAddress) {
	port := workloadPort(d, index)
	for i := range index {
		if workloadPort(d, i) == port {
			return nil
		}
	}
	for _, address := range addressesOf(d) {
		at := netip.AddrPortFrom(address, uint16(port))
		if !slices.Contains(taken, at) && !listensAt(d, at) {
			list = append(list, &listenerv3.AdditionalAddress{Address: message.SocketAddress(address.String(), port)})
		}
	}
	return list
}

func workloadPort(d *resource.Dataplane, inbound int) uint32 {
	return cmp.Or(d.Inbounds[inbound].ServicePort, d.Inbounds[inbound].Port)
}

// addressesOf returns the distinct addresses of a dataplane and of its workload.
func addressesOf(d *resource.Dataplane) (list []netip.Addr) {
	add := func(text string) {
		if address, err := netip.ParseAddr(text); err == nil && !address.IsUnspecified() && !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	add(d.Address)
	for i := range d.Inbounds {
		add(d.Inbounds[i].Address)
		add(d.Inbounds[i].ServiceAddress)
	}
	return list
}

// listensAt reports whether a listed listener of a dataplane has an address, or all addresses
// with its port.
func listensAt(d *resource.Dataplane, at netip.AddrPort) bool {
	has := func(host string, port uint32) bool {
		address, err := netip.ParseAddr(host)
		return err == nil && port == uint32(at.Port()) && (address == at.Addr() || address.IsUnspecified())
	}
	for i := range d.Inbounds {
		if in := &d.Inbounds[i]; has(inboundAddress(d, in), in.Port) {
			return true
		}
	}
	for i := range d.Listeners {
		if l := &d.Listeners[i]; has(cmp.Or(l.Address, d.Address), l.Port) {
			return true
		}
	}
	for i := range d.Outbounds {
		if o := &d.Outbounds[i]; has(cmp.Or(o.Address, resource.DefaultOutboundAddress), o.Port) {
			return true
		}
	}
	return false
}

// takenAddresses is a list of addresses at which outbounds to virtual addresses listen. It
// is comparable; most dataplanes have the zero value.
type takenAddresses = unique.Handle[string]

// takenOf returns the addresses that outbounds share with the workload of a dataplane: the
// virtual address of a headless service is the address of its pod.
func takenOf(d *resource.Dataplane, outbounds []destinations.Outbound) (none takenAddresses) {
	own := addressesOf(d)
	var taken []string
	for i := range outbounds {
		address, err := netip.ParseAddr(outbounds[i].Address)
		if err == nil && slices.Contains(own, address) {
			taken = append(taken, netip.AddrPortFrom(address, uint16(outbounds[i].Listens)).String())
		}
	}
	if len(taken) == 0 {
		return none
	}
	return unique.Make(strings.Join(taken, " "))
}

func takenList(taken takenAddresses) (list []netip.AddrPort) {
	if taken == (takenAddresses{}) {
		return nil
	}
	for text := range strings.FieldsSeq(taken.Value()) {
		list = append(list, netip.MustParseAddrPort(text))
	}
	return list
}

// closedPorts returns the ports of the workload of a dataplane whose permissions are applied.
// No connection reaches them but by an inbound.
func closedPorts(d *resource.Dataplane, open bool) (ports []uint32) {
	if open {
		return nil
	}
	for i := range d.Inbounds {
		ports = append(ports, workloadPort(d, i))
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
