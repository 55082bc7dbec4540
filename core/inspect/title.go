package inspect

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// ClientsTitle names the clients that a selector selects, for people.
func ClientsTitle(s partition.Selector) string {
	if len(s) == 0 {
		return "any client"
	}
	return "clients " + s.String()
}

// MatchTitle names the requests that a match selects, for people.
func MatchTitle(m *conf.Match) string {
	if m.Empty() {
		return "any request"
	}
	var parts []string
	if m.SpiffeID != nil {
		parts = append(parts, fmt.Sprintf("spiffeId %s %s", strings.ToLower(string(m.SpiffeID.Type)), m.SpiffeID.Value))
	}
	if m.SNI != nil {
		parts = append(parts, "sni "+string(*m.SNI))
	}
	if m.Path != nil {
		parts = append(parts, fmt.Sprintf("path %s %s", strings.ToLower(string(m.Path.Type)), m.Path.Value))
	}
	if m.Method != nil {
		parts = append(parts, "method "+string(*m.Method))
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		part := fmt.Sprintf("header %s %s", h.Name, strings.ToLower(string(h.How())))
		if h.Value != nil {
			part += " " + *h.Value
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

// inboundTitle names an inbound; with address and port where its name is not
// its own.
func inboundTitle(d *resource.Dataplane, i int) string {
	in := &d.Inbounds[i]
	for j := range d.Inbounds {
		if j != i && d.Inbounds[j].SectionName() == in.SectionName() {
			return fmt.Sprintf("inbound %s (%s)", in.SectionName(), InboundAddress(d, i))
		}
	}
	return "inbound " + in.SectionName()
}

// InboundAddress returns address:port of an inbound, by its index; its address
// is the dataplane's where it has none.
func InboundAddress(d *resource.Dataplane, i int) string {
	in := &d.Inbounds[i]
	return net.JoinHostPort(cmp.Or(in.Address, d.Address), strconv.FormatUint(uint64(in.Port), 10))
}

// String returns address:port and tags, such as are there.
func (o *OutboundRef) String() string {
	if o.Address == "" && o.Port == 0 {
		return o.Tags.String()
	}
	return strings.TrimSpace(net.JoinHostPort(o.Address, strconv.FormatUint(uint64(o.Port), 10)) + " " + o.Tags.String())
}
