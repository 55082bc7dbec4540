package snapshot

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// routesKey is all that the routes of a destination depend on.
type routesKey struct {
	destination *destination
	spoken      spoken
	client      xds.ClientType
	confs       *confList
	backends    *destinations.Directory // that confs refer to; nil: they refer to none
}

// routeConfiguration returns the routes of an HTTP destination.
func (b *Builder) routeConfiguration(key routesKey, d *resource.Dataplane) *built {
	return b.routes.get(key, d, func(client *client) *built {
		name, found := key.destination.name, &finder{set: key.backends}
		r := &xds.Routes{Report: xds.Report{Place: name}, Facets: client, Destination: key.destination.Destination,
			Client: key.client, Protocol: key.spoken.protocol, HostNames: key.spoken.hostNames, LongerRegexFirst: b.semantics != semantics.TargetRef, External: key.destination.target.isDirect(), Backends: xds.Backends{Mesh: key.destination.Mesh, Finder: found}}
		r.Message = &routev3.RouteConfiguration{
			Name:         name,
			VirtualHosts: []*routev3.VirtualHost{{Name: name, Domains: []string{"*"}}},
		}
		r.List = []*xds.Route{r.NewRoute()}
		if key.client == xds.ProxylessGRPC {
			warnIgnoredByRoutes(&r.Report, b.shape.routes, key.confs)
		}
		for i, t := range b.shape.routes {
			if t.Outbound == nil { // else the draft of the listener reports it
				r.WarnIgnored(t, key.confs.own[i])
			}
			for _, route := range key.confs.routes {
				r.WarnIgnored(t, route.confs[i])
			}
			if t.Routes != nil {
				t.Routes(r, key.confs.own[i])
			}
		}
		for _, route := range r.List {
			confs := key.confs.effectivesOf(route.Policy)
			for i, t := range b.shape.routes {
				if t.Route != nil {
					t.Route(route, confs[i])
				}
			}
		}
		warnUnused(&r.Report, key.confs, func(p *resource.Policy) bool {
			return slices.ContainsFunc(r.List, func(route *xds.Route) bool { return route.Policy != nil && route.Policy.ID == p.ID })
		})
		for _, route := range r.List {
			r.VirtualHost().Routes = append(r.VirtualHost().Routes, route.Messages()...)
		}
		return b.finish(&draft{Part: xds.Part{Report: r.Report, Origin: xds.OutboundOrigin, Tags: key.destination.Tags, Names: named(name, b.kumaNames(key.destination)),
			Messages: []proto.Message{r.Message}}, backends: r.Backends.Referred, found: found.outbounds, confs: key.confs.all()}, key.confs.lacks, key.confs.finish)
	})
}

// warnIgnoredByRoutes reports what gRPC ignores of the confs of an outbound and of its
// routes.
func warnIgnoredByRoutes(r *xds.Report, translators []*xds.Translator, confs *confList) {
	for i, t := range translators {
		r.WarnIgnoredByGRPC(t, confs.own[i])
		for _, route := range confs.routes {
			r.WarnIgnoredByGRPC(t, route.confs[i])
		}
	}
}
