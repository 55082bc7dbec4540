package resource

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/meshmatch/meshmatch/core/diag"
)

// DefaultOutboundAddress is the address of the listener of an outbound that has none
// (SPEC 11.3), and of the workload of an inbound (SPEC 11.2).
const DefaultOutboundAddress = "127.0.0.1"

// listeners are the addresses that a proxy listens at, with the element of each.
type listeners map[netip.AddrPort]listElement

// A listElement is an element of one of the lists of a Dataplane, such as outbound[3].
type listElement struct {
	list  string
	index int
}

func (e listElement) String() string { return fmt.Sprintf("%s[%d]", e.list, e.index) }

// validateListeners checks that Envoy accepts the addresses of the listeners (SPEC
// 11.1): they are IP addresses, no two listeners have the same one, and none is the
// address of the workload that it leads to.
func (d *Dataplane) validateListeners(at *diag.At) {
	used := make(listeners, len(d.Inbounds)+len(d.Outbounds))
	_, err := netip.ParseAddr(d.Address)
	named := err != nil && d.Address != ""
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		if in.Address == "" && named {
			at.Field("address").Errorf("write an IP address; a host name can be the advertisedAddress",
				"%q is a host name, and the inbounds listen at it", d.Address)
			named = false
		}
		address, ok := used.add(at, "inbound", i, cmp.Or(in.Address, d.Address), in.Address, in.Port)
		workload, err := netip.ParseAddr(cmp.Or(in.ServiceAddress, DefaultOutboundAddress))
		if ok && err == nil && d.TransparentProxy == nil && address == netip.AddrPortFrom(workload, uint16(cmp.Or(in.ServicePort, in.Port))) {
			at.Field("inbound").Index(i).Errorf("give it another servicePort, serviceAddress or address",
				"the listener has the address of its own workload, %s", address)
		}
	}
	for i := range d.Outbounds {
		o := &d.Outbounds[i]
		used.add(at, "outbound", i, cmp.Or(o.Address, DefaultOutboundAddress), o.Address, o.Port)
	}
}

// add adds the listener of an element of a list. Own is the address that the element
// has itself, or empty. It returns false if there is no address.
func (l listeners) add(at *diag.At, list string, i int, host, own string, port uint32) (netip.AddrPort, bool) {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if own != "" {
			at.Field(list).Index(i).Field("address").Errorf("write an IP address", "%q is a host name, which no listener can have", own)
		}
		return netip.AddrPort{}, false
	}
	if port == 0 || port > 65535 {
		return netip.AddrPort{}, false
	}
	address := netip.AddrPortFrom(ip, uint16(port))
	if first, taken := l[address]; taken {
		at.Field(list).Index(i).Errorf("give one of them another port or address", "listens at %s, as %s does", address, first)
		return address, false
	}
	l[address] = listElement{list, i}
	return address, true
}
