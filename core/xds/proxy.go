package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A Proxy is the draft of the resources that belong to no inbound or outbound.
type Proxy struct {
	report
	Dataplane *resource.Dataplane

	tls   serverTLS
	parts []*Part
}

// TransportSocket returns the socket of a listener that presents the identity of the
// dataplane and requires certificates of clients; nil without identity.
func (p *Proxy) TransportSocket() *corev3.TransportSocket {
	if !p.tls.enabled() {
		return nil
	}
	return transportSocket(p.tls.context())
}

// Add adds clusters, listeners or other messages, and returns the part that they are.
func (p *Proxy) Add(origin Origin, messages ...proto.Message) *Part {
	part := &Part{report: report{place: p.place}, Origin: origin, Messages: messages}
	p.parts = append(p.parts, part)
	return part
}

// proxy returns the resources that belong to no inbound or outbound.
func (b *Builder) proxy(d *resource.Dataplane, tls serverTLS, confs *dataplaneConfs) []*built {
	p := &Proxy{report: report{place: d.KRI("")}, Dataplane: d, tls: tls}
	for _, t := range b.shape.proxy {
		conf := confs.defaultOf(t.Kind)
		p.warnIgnored(t, conf)
		t.Proxy(p, conf)
	}
	var list []*built
	if len(p.warnings) > 0 {
		list = append(list, &built{warnings: p.warnings})
	}
	for _, part := range p.parts {
		for _, t := range b.shape.proxy {
			part.confs = append(part.confs, confs.defaultOf(t.Kind))
		}
		list = append(list, b.finish(part, confs.finish))
	}
	return list
}

// isTransparent reports whether connections of the workload are redirected to the
// proxy (SPEC 11.5, MeshPassthrough).
func isTransparent(d *resource.Dataplane) bool { return d.TransparentProxy != nil }
