package snapshot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// proxy returns the resources that belong to no inbound or outbound.
func (sb *snapshotBuilder) proxy(tls serverTLS) []*built {
	b, d, confs := sb.Builder, sb.dataplane, sb.confs
	p := &xds.Proxy{Lacks: sb.client.Lacks, Report: xds.Report{Place: d.KRI("")}, Dataplane: d, Service: tagOf(d, resource.ServiceTag), TransparentProxy: sb.transparent, Secrets: tls.source, PassthroughOff: sb.in.passthroughOff(), ClosedPorts: closedPorts(d, tls.open),
		UndeclaredPass: permission.PassesUndeclared(confs.ofKind(permission.KindName), tls.enabled(), !tls.open)}
	if sb.transparent != nil && sb.transparent.RedirectPortOutbound != 0 {
		sb.basis.passing = sb.in.passthroughConfs(sb.basis.configs)
		p.Collectors = sb.collectors(refers(slices.Collect(maps.Values(sb.basis.passing))))
	}
	for _, t := range b.shape.proxy {
		conf := cmp.Or(confs.defaultOf(t.Kind), sb.basis.passing[t.Kind])
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
			d.confs = slices.AppendSeq(d.confs, maps.Values(sb.basis.passing))
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

// passthroughConfs returns the confs of the connections to addresses that are no outbounds, of a
// dataplane with the given configs: by kind, of the kinds whose translators shape the proxy. Nil:
// there are none. Dataplanes with the same configs share it.
func (s *State) passthroughConfs(d *resource.Dataplane, configs []*results.Config) (confs map[string]*results.Effective) {
	if len(configs) == 0 {
		return nil
	}
	if known, ok := s.passing.Load(&configs[0]); ok {
		return known.(map[string]*results.Effective)
	}
	for _, t := range s.builder.shape.proxy {
		selected := func(c *results.Config) bool { return c.Kind.Name == t.Kind && c.Kind.To != nil && c.Matched.Len() > 0 }
		if !slices.ContainsFunc(configs, selected) {
			continue
		}
		if e := s.view.PassthroughConf(d, t.Kind, s.builder.scope); e != nil {
			if confs == nil {
				confs = map[string]*results.Effective{}
			}
			confs[t.Kind] = e
		}
	}
	s.passing.Store(&configs[0], confs)
	return confs
}
