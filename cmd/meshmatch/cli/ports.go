package cli

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

// port is an inbound or outbound. Its names need not be unique; its address and
// port are.
type port struct {
	names   []string
	address string
}

func (p *port) has(name string) bool { return name == p.address || slices.Contains(p.names, name) }

// inboundNamed returns the index of an inbound: by name, by port if it has
// no name, or by address and port.
func inboundNamed(d *resource.Dataplane, name string) (int, error) {
	ports := make([]port, len(d.Inbounds))
	for i := range d.Inbounds {
		ports[i] = port{[]string{d.Inbounds[i].SectionName()}, inspect.InboundAddress(d, i)}
	}
	return portNamed(d, "inbound", name, ports)
}

// outboundNamed returns the index of an outbound: by service, by port, or by
// address and port.
func outboundNamed(d *resource.Dataplane, name string) (int, error) {
	ports := make([]port, len(d.Outbounds))
	for i := range d.Outbounds {
		out := &d.Outbounds[i]
		number := strconv.FormatUint(uint64(out.Port), 10)
		ports[i] = port{[]string{out.Tags.Value(resource.ServiceTag), number}, net.JoinHostPort(out.Address, number)}
	}
	return portNamed(d, "outbound", name, ports)
}

// portNamed returns the index of the only port of that name.
func portNamed(d *resource.Dataplane, what, name string, ports []port) (int, error) {
	found := -1
	var all, matching []string
	for i := range ports {
		p := &ports[i]
		all = append(all, fmt.Sprintf("%s (%s)", p.names[0], p.address))
		if p.has(name) {
			found, matching = i, append(matching, p.address)
		}
	}
	switch len(matching) {
	case 0:
		return 0, fmt.Errorf("%s has no %s %q; it has %s", d.Name, what, name, orNone(all))
	case 1:
		return found, nil
	}
	return 0, fmt.Errorf("%s has several %ss %q; give address and port of one: %s", d.Name, what, name, strings.Join(matching, ", "))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
