package find

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
)

// port is an inbound or outbound. Its names need not be unique, but its address
// and port are.
type port struct {
	names   []string
	address string
	// number finds the port if no port has that name; "": it is one of the names.
	number string
}

func (p *port) has(name string) bool { return name == p.address || slices.Contains(p.names, name) }

// Inbound returns the index of the only inbound that is identified by its name
// (or the port if the inbound has no name), by its KRI, or by its address and port; or
// by its port, if no inbound has that name. Inbounds with one listener are one inbound, which
// has the names of all (SPEC 1.3). The error is [ErrNotFound].
func Inbound(d *resource.Dataplane, name string) (int, error) {
	ports, listeners := inboundPorts(d)
	at, err := portNamed(d, "inbound", name, ports)
	if err != nil {
		return 0, err
	}
	return listeners[at], nil
}

// inboundPorts returns the listeners of the inbounds, and the index of the inbound of each.
func inboundPorts(d *resource.Dataplane) (ports []port, listeners []int) {
	for i := range d.Inbounds {
		if !d.IsListener(i) {
			continue
		}
		p := port{address: inboundAddress(d, i), number: words.Port(d.Inbounds[i].Port)}
		section := d.Inbounds[i].SectionName()
		p.names = append(p.names, section, d.KRI(section))
		for j := range d.Inbounds {
			if other := d.Inbounds[j].SectionName(); d.ListenerOf(j) == i && other != section {
				p.names = append(p.names, other, d.KRI(other))
			}
		}
		ports, listeners = append(ports, p), append(listeners, i)
	}
	return ports, listeners
}

// Outbound returns the index, in the order of answers, of the only outbound with a name. The
// name is its service, its port, its address and port, or the KRI of the dataplane with the
// port as section. An outbound of a destination has the names of
// [destinationNames] instead of a service. The error is [ErrNotFound].
func Outbound(view *core.View, d *resource.Dataplane, name string) (int, error) {
	var ports []port
	for i := range d.Outbounds {
		out := &d.Outbounds[i]
		if out.Backend != nil { // an outbound of a destination, or no outbound
			continue
		}
		number := words.Port(out.Port)
		ports = append(ports, port{names: []string{out.Tags.Value(resource.ServiceTag), number, d.KRI(number)}, address: net.JoinHostPort(out.Address, number)})
	}
	outbounds := view.DestinationOutbounds(d)
	for i := range outbounds {
		out := &outbounds[i]
		number := words.Port(out.Listens)
		ports = append(ports, port{names: append(destinationNames(view, out), number, d.KRI(number)), address: net.JoinHostPort(out.Address, number)})
	}
	return portNamed(d, "outbound", name, ports)
}

// OutboundNames returns a name of each outbound of a dataplane for [Outbound], in
// the order of answers: its service, or NAME:PORT of its destination.
func OutboundNames(view *core.View, d *resource.Dataplane) []string {
	var names []string
	for i := range d.Outbounds {
		if out := &d.Outbounds[i]; out.Backend == nil {
			names = append(names, out.Tags.Value(resource.ServiceTag))
		}
	}
	outbounds := view.DestinationOutbounds(d)
	for i := range outbounds {
		names = append(names, destinationNames(view, &outbounds[i])[0])
	}
	return names
}

// destinationNames returns the names of an outbound of a destination: NAME:PORT, with the
// number and with the name of the port; the name alone; the same forms with the display
// name; the KRI, with and without the section; and the host names, with and without the
// port.
func destinationNames(view *core.View, o *destination.Outbound) []string {
	meta, number := o.Destination.Identity(), words.Port(o.Port.Number)
	var names []string
	for _, name := range append([]string{meta.Name, meta.DisplayName()}, o.Destination.State().Hostnames...) {
		names = append(names, name+":"+number, name)
		if o.Port.Name != "" {
			names = append(names, name+":"+o.Port.Name)
		}
	}
	for _, section := range []string{"", o.Section} {
		kri := o.Destination.KRI(section)
		names = append(names, kri, view.Semantics().KRI(kri, meta))
	}
	return names
}

// portNamed returns the index of the only port with the name.
func portNamed(d *resource.Dataplane, what, name string, ports []port) (int, error) {
	found := -1
	var all, matching []string
	look := func(has func(*port) bool) {
		for i := range ports {
			if p := &ports[i]; has(p) {
				found, matching = i, append(matching, p.address)
			}
		}
	}
	for i := range ports {
		all = append(all, fmt.Sprintf("%s (%s)", ports[i].names[0], ports[i].address))
	}
	if look(func(p *port) bool { return p.has(name) }); found < 0 && name != "" {
		look(func(p *port) bool { return p.number == name })
	}
	switch len(matching) {
	case 0:
		return 0, NotFoundf("%s has no %s %q; it has %s", d.Name, what, name, words.OrNone(all))
	case 1:
		return found, nil
	}
	return 0, NotFoundf("%s has several %ss %q; give address and port of one: %s", d.Name, what, name, strings.Join(matching, ", "))
}

// Port returns the index of the inbound that serves connections to a port of a
// dataplane: the inbound at the port, or else the first inbound whose workload has the
// port. It returns false if no inbound does (SPEC 11.5, MeshPassthrough). The error is
// [ErrNotFound] if the proxy never receives connections to the port.
func Port(d *resource.Dataplane, port uint32) (inbound int, declared bool, err error) {
	for i := range d.Inbounds {
		if d.Inbounds[i].Port == port {
			return d.ListenerOf(i), true, nil
		}
	}
	if d.TransparentProxy == nil || d.TransparentProxy.RedirectPortInbound == 0 {
		return 0, false, NotFoundf("%s has no inbound with port %d, and without transparentProxying its proxy sees no other connection", d.Name, port)
	}
	for i := range d.Inbounds {
		if d.IsListener(i) && cmp.Or(d.Inbounds[i].ServicePort, d.Inbounds[i].Port) == port {
			return i, true, nil
		}
	}
	return 0, false, nil
}
