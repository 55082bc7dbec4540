package inspect

import (
	"cmp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/inspect/find"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Place is the part of a dataplane to which a conf applies. Without any field
// it is the whole dataplane.
type Place struct {
	Outbound *OutboundRef `json:"outbound,omitempty"`
	// Inbound has only the name, plus the address and port if the name is not
	// unique. So dataplanes with the same change have the same place.
	Inbound *InboundRef `json:"inbound,omitempty"`
	// A conf may apply to a route of the outbound, given by its KRI, to the
	// clients of a selector, or to the requests of a match.
	Route    string              `json:"route,omitempty"`
	Selector *partition.Selector `json:"selector,omitempty"`
	Match    *conf.Match         `json:"match,omitempty"`
	// RouteName is the namespace/name of the route.
	RouteName string `json:"-"`
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

func InboundPlace(d *resource.Dataplane, i int) *InboundRef {
	in := &d.Inbounds[i]
	ref := &InboundRef{Name: in.SectionName()}
	if find.InboundName(d, i) != ref.Name {
		ref.Address, ref.Port = cmp.Or(in.Address, d.Address), in.Port
	}
	return ref
}
