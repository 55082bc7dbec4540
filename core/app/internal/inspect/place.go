package inspect

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Place is the part of a dataplane to which a conf applies. Without any field
// it is the whole dataplane.
type Place struct {
	Outbound *OutboundRef `json:"outbound,omitempty"`
	// Inbound has only the name, plus the address and port if the name is not
	// unique. So dataplanes with the same change have the same place.
	Inbound *InboundRef `json:"inbound,omitempty"`
	// Listener has only the name, and the type of one of a zone proxy. Hostname is the host
	// name of routes of a gateway.
	Listener *PlaceListener `json:"listener,omitempty"`
	Hostname string         `json:"hostname,omitempty"`
	// A conf may apply to a route of the outbound, to the clients of a
	// selector, or to the requests of a match. The route is given by its KRI.
	Route    string              `json:"route,omitempty"`
	Selector *partition.Selector `json:"selector,omitempty"`
	Match    *conf.Match         `json:"match,omitempty"`
	// RouteName is the namespace/name of the route.
	RouteName string `json:"-"`
}

// PlaceListener is a listener in a [Place].
type PlaceListener struct {
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// String describes the place in words.
func (p *Place) String() string {
	var parts []string
	if p.Outbound != nil {
		parts = append(parts, "outbound "+p.Outbound.String())
	}
	if p.Inbound != nil {
		name := p.Inbound.Name
		if p.Inbound.Port != 0 {
			name = (&OutboundRef{Address: p.Inbound.Address, Port: p.Inbound.Port}).String()
		}
		parts = append(parts, "inbound "+name)
	}
	if p.Listener != nil {
		parts = append(parts, "listener "+p.Listener.Name)
	}
	if p.Hostname != "" {
		parts = append(parts, "host "+p.Hostname)
	}
	if p.Route != "" {
		parts = append(parts, "route "+p.RouteName)
	}
	if p.Selector != nil {
		parts = append(parts, "from "+DescribeClients(*p.Selector))
	}
	if p.Match != nil {
		parts = append(parts, "when "+DescribeMatch(p.Match))
	}
	return cmp.Or(strings.Join(parts, ", "), "default")
}

// PointPlace returns the place of an inbound or a listener, given by its index for
// [find.Point].
func PointPlace(view *core.View, d *resource.Dataplane, point int) Place {
	if point < len(d.Inbounds) {
		return Place{Inbound: InboundPlace(d, point)}
	}
	refs, first := ListenerPoints(view, d)
	return Place{Listener: &PlaceListener{find.ListenerNames(view, d)[point-first], refs[point-first].Type}}
}

func InboundPlace(d *resource.Dataplane, i int) *InboundRef {
	in := &d.Inbounds[i]
	ref := &InboundRef{Name: in.SectionName()}
	if find.InboundName(d, i) != ref.Name {
		ref.Address, ref.Port = cmp.Or(in.Address, d.Address), in.Port
	}
	return ref
}
