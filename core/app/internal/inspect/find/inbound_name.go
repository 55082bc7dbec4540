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

// InboundName returns the name of an inbound, or address:port if another
// inbound of the dataplane has the same name.
func InboundName(d *resource.Dataplane, i int) string {
	name := d.Inbounds[i].SectionName()
	for j := range d.Inbounds {
		if j != i && d.Inbounds[j].SectionName() == name {
			return inboundAddress(d, i)
		}
	}
	return name
}
