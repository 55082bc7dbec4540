package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A Proxy is the draft of the resources that belong to no inbound or outbound.
type Proxy struct {
	report
	Dataplane *resource.Dataplane

	// TLS is how listeners present the identity of the dataplane and verify clients; nil
	// without identity.
	TLS *tlsv3.DownstreamTlsContext

	parts []*Part
}

// TransportSocket returns the socket of a listener that presents the identity of the
// dataplane and requires certificates of clients; nil without identity.
func (p *Proxy) TransportSocket() *corev3.TransportSocket {
	if p.TLS == nil {
		return nil
	}
	return transportSocket(p.TLS)
}

// Add adds clusters, listeners or other messages, and returns the part that they are.
func (p *Proxy) Add(origin Origin, messages ...proto.Message) *Part {
	part := &Part{report: report{place: p.place}, Origin: origin, Messages: messages}
	p.parts = append(p.parts, part)
	return part
}
