package resource

import (
	"cmp"
	"fmt"
	"net/netip"

	"github.com/meshmatch/meshmatch/core/diag"
)

// DefaultOutboundAddress is the default address of an outbound's listener (SPEC
// 11.3) and of an inbound's workload (SPEC 11.2).
const DefaultOutboundAddress = "127.0.0.1"

// listeners contains the listeners of a proxy so far, each with a distinct
// address. Most proxies have few listeners, which are compared one by one: a map
// for each of a hundred thousand dataplanes would take longer than the rest of
// their validation.
type listeners struct {
	few  [16]listener
	n    int                         // of few
	many map[netip.AddrPort]listener // all listeners, if few is too small
	bad  []BadListener
}

// listener is an address, and the list element of the dataplane to which it belongs.
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

// A BadListener is a listener that Envoy refuses (SPEC 11.1).
type BadListener struct {
	What, Hint string
	element    listElement // its list is empty if the address of the dataplane is bad
	address    bool        // its address is bad
}

// String returns the path of the listener, what is wrong, and the hint.
func (b BadListener) String() string {
	path := b.element.String()
	switch {
	case b.element.list == "":
		path = "address"
	case b.address:
		path += ".address"
	}
	return fmt.Sprintf("networking.%s: %s; %s", path, b.What, b.Hint)
}

// warn reports the listener at the place of networking.
func (b BadListener) warn(at *diag.At) {
	if b.element.list != "" {
		at = at.Field(b.element.list).Index(b.element.index)
	}
	if b.address {
		at = at.Field("address")
	}
	at.Warnf(diag.UnusableListener, b.Hint, "%s, so no proxy can serve the dataplane", b.What)
}

// BadListeners returns the listeners that Envoy refuses, or nil if there are none. Envoy
// refuses a listener on a host name, a listener at the address of another one, and a
// listener at the address of its own workload. This affects only the proxy of the
// dataplane (SPEC 11.1).
func (d *Dataplane) BadListeners() []BadListener {
	var used listeners
	_, err := netip.ParseAddr(d.Address)
	named := err != nil && d.Address != ""
	for i := range d.Inbounds {
		in := &d.Inbounds[i]
		if !d.IsListener(i) {
			continue
		}
		if in.Address == "" && named {
			used.bad = append(used.bad, BadListener{
				address: true, What: fmt.Sprintf("%q is a host name, and the inbounds listen at it", d.Address),
				Hint: "write an IP address; a host name can be the advertisedAddress",
			})
			named = false
		}
		element := listElement{"inbound", i}
		address := used.add(element, cmp.Or(in.Address, d.Address), in.Address, in.Port)
		workload, err := netip.ParseAddr(cmp.Or(in.ServiceAddress, DefaultOutboundAddress))
		if err == nil && d.TransparentProxy == nil && covers(address, netip.AddrPortFrom(workload, uint16(cmp.Or(in.ServicePort, in.Port)))) {
			what := fmt.Sprintf("the listener has the address of its own workload, %s", address)
			if address.Addr() != workload {
				what = fmt.Sprintf("the listener at %s has the address of its own workload too, %s", address, workload)
			}
			used.bad = append(used.bad, BadListener{
				element: element, What: what,
				Hint: "give it another servicePort, serviceAddress or address",
			})
		}
	}
	for i := range d.Listeners {
		l := &d.Listeners[i]
		used.add(listElement{"listeners", i}, cmp.Or(l.Address, d.Address), l.Address, l.Port)
	}
	for i := range d.Outbounds {
		o := &d.Outbounds[i]
		used.add(listElement{"outbound", i}, cmp.Or(o.Address, DefaultOutboundAddress), o.Address, o.Port)
	}
	return used.bad
}

// covers reports whether a listener covers the address of a workload: it has the same
// address, or all addresses of the machine on which the workload runs. The zero listener
// covers no address.
func covers(listener, workload netip.AddrPort) bool {
	all, local := listener.Addr(), workload.Addr()
	return listener.IsValid() && (listener == workload || listener.Port() == workload.Port() &&
		all.IsUnspecified() && local.IsLoopback() && all.Is4() == local.Is4())
}

// add adds the listener of a list element. own is the element's own address, or
// empty. It returns the zero value if there is no address.
func (l *listeners) add(element listElement, host, own string, port uint32) netip.AddrPort {
	ip, err := netip.ParseAddr(host)
	if err != nil {
		if own != "" {
			l.bad = append(l.bad, BadListener{
				element: element, address: true, What: fmt.Sprintf("%q is a host name, which no listener can have", own), Hint: "write an IP address",
			})
		}
		return netip.AddrPort{}
	}
	if port == 0 || port > 65535 {
		return netip.AddrPort{}
	}
	address := netip.AddrPortFrom(ip, uint16(port))
	if first, taken := l.listenerAt(address); taken {
		l.bad = append(l.bad, BadListener{
			element: element, What: fmt.Sprintf("listens at %s, like %s", address, first.element), Hint: "give one of them another port or address",
		})
		return address
	}
	l.append(listener{address, element})
	return address
}

// listenerAt returns the listener at an address, if there is one.
func (l *listeners) listenerAt(address netip.AddrPort) (listener, bool) {
	if l.many != nil {
		found, ok := l.many[address]
		return found, ok
	}
	for i := range l.few[:l.n] {
		if l.few[i].address.Port() == address.Port() && l.few[i].address == address { // most ports differ
			return l.few[i], true
		}
	}
	return listener{}, false
}

// append adds a listener. No other listener may have its address.
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
