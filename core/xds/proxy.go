package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// A Proxy is the draft of the resources that belong to no inbound or outbound.
type Proxy struct {
	Report
	Dataplane *resource.Dataplane
	// TransparentProxy is the dataplane's own, or what it has without showing it;
	// nil if connections are not redirected to the proxy.
	TransparentProxy *resource.TransparentProxy

	// Secrets is where the identity of the dataplane comes from.
	Secrets message.SecretSource

	// UndeclaredPass reports whether connections to ports of the workload that no inbound
	// declares pass (SPEC 11.5, MeshPassthrough).
	UndeclaredPass bool

	// PassthroughOff reports that, without a MeshPassthrough, the workload connects to
	// outbounds only.
	PassthroughOff bool

	Parts []*Part
}

// TransportSocket returns the socket of a listener that presents the identity of the
// dataplane and requires certificates of clients; nil without identity.
func (p *Proxy) TransportSocket() *corev3.TransportSocket {
	if p.Secrets == message.NoSecrets {
		return nil
	}
	return message.TransportSocket(p.Secrets.DownstreamTLS())
}

// Add adds clusters, listeners or other messages, and returns the part that they are.
func (p *Proxy) Add(origin Origin, messages ...proto.Message) *Part {
	part := &Part{Report: Report{Place: p.Place}, Origin: origin, Messages: messages}
	p.Parts = append(p.Parts, part)
	return part
}
