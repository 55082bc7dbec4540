package snapshot

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// proxy returns the resources that belong to no inbound or outbound.
func (sb *snapshotBuilder) proxy(tls serverTLS) []*built {
	b, d, confs := sb.Builder, sb.dataplane, sb.confs
	p := &xds.Proxy{Lacks: sb.client.Lacks, Report: xds.Report{Place: d.KRI("")}, Dataplane: d, TransparentProxy: sb.transparent, Secrets: tls.source, PassthroughOff: sb.in.passthroughOff(), ClosedPorts: closedPorts(d, tls.open),
		UndeclaredPass: permission.PassesUndeclared(confs.byKind[permission.KindName], tls.enabled(), !tls.open)}
	for _, t := range b.shape.proxy {
		conf := confs.defaultOf(t.Kind)
		p.WarnIgnored(t, conf)
		t.Proxy(p, conf)
	}
	var list []*built
	if len(p.Warnings) > 0 {
		list = append(list, &built{warnings: p.Warnings})
	}
	for _, part := range p.Parts {
		d := &draft{Part: *part}
		if part.Origin == xds.PassthroughOrigin {
			d.Names = b.passthroughNames()
		}
		for _, t := range b.shape.proxy {
			d.confs = append(d.confs, confs.defaultOf(t.Kind))
		}
		list = append(list, b.finish(d, sb.client.Lacks, confs.finish))
	}
	return list
}

// transparentProxy returns how connections of the workload are redirected to the proxy
// (SPEC 11.5, MeshPassthrough); nil if they are not. A dataplane that has outbounds at
// virtual addresses need not show it: then it has Kuma's default ports.
func transparentProxy(d *resource.Dataplane, targets *targetConfs) *resource.TransparentProxy {
	virtual := targets != nil || d != d.Declared() && len(d.Outbounds) > 0 // has outbounds at virtual addresses
	if d.TransparentProxy != nil || !virtual || !semantics.IsTransparent(d) {
		return d.TransparentProxy
	}
	return &resource.TransparentProxy{RedirectPortInbound: 15006, RedirectPortOutbound: 15001}
}
