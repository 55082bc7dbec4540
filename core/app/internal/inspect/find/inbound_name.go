package find

import (
	"cmp"
	"net"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/resource"
)

// inboundAddress returns address:port of an inbound, given by its index. An
// inbound without an address has the address of the dataplane.
func inboundAddress(d *resource.Dataplane, i int) string {
	in := &d.Inbounds[i]
	return net.JoinHostPort(cmp.Or(in.Address, d.Address), words.Port(in.Port))
}

// InboundName returns the name of the listener of an inbound, or address:port if another
// listener of the dataplane has the same name.
func InboundName(d *resource.Dataplane, i int) string {
	i = d.ListenerOf(i)
	name := d.Inbounds[i].SectionName()
	for j := range d.Inbounds {
		if j != i && d.IsListener(j) && d.Inbounds[j].SectionName() == name {
			return inboundAddress(d, i)
		}
	}
	return name
}

// IsInboundNamed reports whether the listener of an inbound has a name: the name of
// [InboundName], or the name of one of the inbounds that share it.
func IsInboundNamed(d *resource.Dataplane, i int, name string) bool {
	for j := range d.Inbounds {
		if d.ListenerOf(j) == d.ListenerOf(i) && d.Inbounds[j].SectionName() == name {
			return true
		}
	}
	return InboundName(d, i) == name
}
