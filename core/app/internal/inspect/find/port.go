package find

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// port is an inbound or outbound. Its names need not be unique, but its address
// and port are.
type port struct {
	names   []string
	address string
	// number finds the port if no port has that name; "": it is one of the names.
	number string
	// dialed are the names by which an application dials a Service of Kubernetes, without what
	// follows the namespace, with and without the port. They find the port if no port has the name.
	dialed []string
	// elsewhere reports that the port is of another zone: one of the own zone has the name too.
	elsewhere bool
}

func (p *port) has(name string) bool { return name == p.address || slices.Contains(p.names, name) }

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

// Outbound returns the index, in the order of answers, of the only outbound with a name. The name
// is its service, its port, its address and port, or the KRI of the dataplane with the port as
// section. An outbound of a destination has the names of [destinationNames] instead of a service.
// A name such as web.shop.svc.cluster.local:80, by which an application dials a Service of
// Kubernetes, is a name too. If several zones have it, the dataplane's zone is meant. The error
// is [ErrNotFound].
func Outbound(view *core.View, d *resource.Dataplane, name string) (int, error) {
	var ports []port
	for i := range d.Outbounds {
		out := &d.Outbounds[i]
		if out.Backend != nil { // an outbound of a destination, or no outbound
			continue
		}
		number, service := words.Port(out.Port), out.Tags.Value(resource.ServiceTag)
		p := port{names: []string{service, number, d.KRI(number)}, address: net.JoinHostPort(out.Address, number)}
		if parts := strings.Split(service, "_"); len(parts) == 4 && parts[2] == "svc" {
			p.dialed = dialedNames(parts[0], parts[1], parts[3])
		}
		ports = append(ports, p)
	}
	outbounds := view.DestinationOutbounds(d)
	for i := range outbounds {
		out := &outbounds[i]
		number := words.Port(out.Listens)
		meta, own := out.Destination.Identity(), enforce.ZoneOf(d)
		ports = append(ports, port{
			names: append(destinationNames(view, out), number, d.KRI(number)), address: net.JoinHostPort(out.Address, number),
			dialed:    dialedNames(meta.DisplayName(), meta.HomeNamespace(), words.Port(out.Port.Number)),
			elsewhere: own != "" && meta.Zone() != "" && meta.Zone() != own,
		})
	}
	return portNamed(d, "outbound", name, ports)
}

// dialedNames returns the names by which an application dials a Service.
func dialedNames(name, namespace, port string) []string {
	if namespace == "" {
		return nil
	}
	host := name + "." + namespace
	return []string{host, host + ":" + port}
}

// withoutSuffix returns a name without what follows the namespace of a Service.
func withoutSuffix(name string) string {
	host, number, has := strings.Cut(name, ":")
	if before, after, cut := strings.Cut(host, ".svc"); cut && (after == "" || after[0] == '.') {
		host = before
	}
	if has {
		return host + ":" + number
	}
	return host
}

// OutboundNames returns a name of each outbound of a dataplane for [Outbound], in
// the order of answers: its service, or NAME:PORT of its destination.
func OutboundNames(view *core.View, d *resource.Dataplane) []string {
	tagged := lists.Filter(d.Outbounds, func(out resource.Outbound) bool { return out.Backend == nil })
	names := lists.MapPointers(tagged, func(out *resource.Outbound) string { return out.Tags.Value(resource.ServiceTag) })
	return append(names, lists.MapPointers(view.DestinationOutbounds(d), func(o *destination.Outbound) string { return destinationNames(view, o)[0] })...)
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
	var found []int
	look := func(has func(*port) bool) {
		for i := range ports {
			if has(&ports[i]) {
				found = append(found, i)
			}
		}
	}
	if look(func(p *port) bool { return p.has(name) }); found == nil && name != "" {
		look(func(p *port) bool { return p.number == name })
	}
	if dialed := withoutSuffix(name); found == nil && dialed != "" {
		look(func(p *port) bool { return slices.Contains(p.dialed, dialed) })
	}
	own := slices.DeleteFunc(slices.Clone(found), func(i int) bool { return ports[i].elsewhere })
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(own) == 1:
		return own[0], nil
	case len(found) == 0:
		return 0, NotFoundf("%s has no %s %q; %s", d.Name, what, name, knownPorts(name, ports))
	}
	matching := lists.Map(found, func(i int) string { return ports[i].address })
	return 0, NotFoundf("%s has several %ss %q; give address and port of one: %s", d.Name, what, name, strings.Join(matching, ", "))
}

// isOnly returns an error unless there is one port.
func isOnly(d *resource.Dataplane, what string, ports []port) error {
	switch len(ports) {
	case 0:
		return NotFoundf("%s has no %s", d.Name, what)
	case 1:
		return nil
	}
	names := lists.MapPointers(ports, func(p *port) string { return fmt.Sprintf("%s (%s)", p.names[0], p.address) })
	return Usagef("%s has %d %ss; give one of them: %s", d.Name, len(ports), strings.ReplaceAll(what, " or ", "s or "), strings.Join(names, ", "))
}

// knownPorts lists the ports, or the ones with the nearest names if they are many.
func knownPorts(name string, ports []port) string {
	const most = 5
	var all, names []string
	for i := range ports {
		all, names = append(all, fmt.Sprintf("%s (%s)", ports[i].names[0], ports[i].address)), append(names, ports[i].names[0])
	}
	if len(all) > most {
		return diag.NearNames(name, names)
	}
	return "it has " + words.OrNone(all)
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
