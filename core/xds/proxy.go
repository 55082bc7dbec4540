package xds

import (
	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Proxy is the draft of the resources that belong to no inbound or outbound.
type Proxy struct {
	Report
	collectors
	Dataplane *resource.Dataplane
	// Service is the service of the first inbound that has one; "" if none has.
	Service string
	// Lacks are the capabilities that the client does not have.
	Lacks capability.Set
	// TransparentProxy is the dataplane's own one, or the default for dataplanes that do
	// not show it; nil if connections are not redirected to the proxy.
	TransparentProxy *resource.TransparentProxy

	// Secrets is the source of the dataplane's identity.
	Secrets message.SecretSource

	// UndeclaredPass reports whether a connection passes to a port of the workload that no
	// inbound declares (SPEC 11.5, MeshPassthrough).
	UndeclaredPass bool

	// ClosedPorts are the ports of the workload, sorted, that belong to inbounds with
	// permissions: no connection that bypasses the inbound passes to them.
	ClosedPorts []uint32

	// PassthroughOff reports that the workload can connect to outbounds only unless a
	// MeshPassthrough allows more.
	PassthroughOff bool

	// PassthroughLogs returns the access logs of connections of the workload to their original
	// destination, for a connection manager or for a TCP proxy; nil: there are none.
	PassthroughLogs func(http bool) []*accesslogv3.AccessLog

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

// Add adds a part with clusters, listeners or other messages, and returns it.
func (p *Proxy) Add(origin Origin, messages ...proto.Message) *Part {
	part := &Part{Report: Report{Place: p.Place}, Origin: origin, Messages: messages}
	p.Parts = append(p.Parts, part)
	return part
}
