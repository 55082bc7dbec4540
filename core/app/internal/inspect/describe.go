package inspect

import (
	"fmt"
	"net"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// DescribeClients describes the clients of a selector in words.
func DescribeClients(s partition.Selector) string {
	if len(s) == 0 {
		return "any client"
	}
	return "clients " + s.String()
}

// DescribeMatch describes the requests of a match in words.
func DescribeMatch(m *conf.Match) string {
	if m.Empty() {
		return "any request"
	}
	var parts []string
	if m.SpiffeID != nil {
		parts = append(parts, fmt.Sprintf("spiffeId %s %s", strings.ToLower(m.SpiffeID.Type.String()), m.SpiffeID.Value))
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

// String returns address:port, and the tags, or the destination with the name of its
// port. Absent parts are omitted.
func (o *OutboundRef) String() string {
	what := o.Tags.String()
	if o.Destination != "" {
		what = strings.TrimSpace(o.Destination + " " + o.Name)
	}
	if o.Address == "" && o.Port == 0 {
		return what
	}
	return strings.TrimSpace(net.JoinHostPort(o.Address, words.Port(o.Port)) + " " + what)
}
