package snapshot

import (
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// proxy returns the resources that belong to no inbound or outbound.
func (b *Builder) proxy(d *resource.Dataplane, tls serverTLS, passthroughOff bool, confs *dataplaneConfs) []*built {
	p := &xds.Proxy{Report: xds.Report{Place: d.KRI("")}, Dataplane: d, Secrets: tls.source, PassthroughOff: passthroughOff,
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
		for _, t := range b.shape.proxy {
			d.confs = append(d.confs, confs.defaultOf(t.Kind))
		}
		list = append(list, b.finish(d, confs.finish))
	}
	return list
}

// isTransparent reports whether connections of the workload are redirected to the
// proxy (SPEC 11.5, MeshPassthrough).
func isTransparent(d *resource.Dataplane) bool { return d.TransparentProxy != nil }
