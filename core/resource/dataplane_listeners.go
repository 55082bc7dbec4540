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

// listeners are those of a proxy that have an address of their own so far. Most
// proxies have few listeners, which are compared one by one: a map for each of a
// hundred thousand dataplanes takes longer than the rest of their validation.
type listeners struct {
	few  [16]listener
	n    int                         // of few
	many map[netip.AddrPort]listener // all, if they are more than fit in few
}

// listener is an address, and the element of a list of the dataplane that it is for.
type listener struct {
	address netip.AddrPort
	element listElement
}

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
	var used listeners
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
	for i := range d.Listeners {
		l := &d.Listeners[i]
		used.add(at, "listeners", i, cmp.Or(l.Address, d.Address), l.Address, l.Port)
	}
	for i := range d.Outbounds {
		o := &d.Outbounds[i]
		used.add(at, "outbound", i, cmp.Or(o.Address, DefaultOutboundAddress), o.Address, o.Port)
	}
}

// add adds the listener of an element of a list. Own is the address that the element
// has itself, or empty. It returns false if there is no address.
func (l *listeners) add(at *diag.At, list string, i int, host, own string, port uint32) (netip.AddrPort, bool) {
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
	if first, taken := l.at(address); taken {
		at.Field(list).Index(i).Errorf("give one of them another port or address", "listens at %s, as %s does", address, first.element)
		return address, false
	}
	l.append(listener{address, listElement{list, i}})
	return address, true
}

// at returns the listener at an address, if there is one.
func (l *listeners) at(address netip.AddrPort) (listener, bool) {
	if l.many != nil {
		found, ok := l.many[address]
		return found, ok
	}
	for i := range l.few[:l.n] {
		if l.few[i].address == address {
			return l.few[i], true
		}
	}
	return listener{}, false
}

// append adds a listener whose address no other one has.
func (l *listeners) append(added listener) {
	if l.n < len(l.few) {
		l.few[l.n] = added
		l.n++
		return
	}
	if l.many == nil {
		l.many = make(map[netip.AddrPort]listener, 4*len(l.few))
		for _, first := range l.few {
			l.many[first.address] = first
		}
	}
	l.many[added.address] = added
}
