package snapshot

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/collector"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// outboundKey is all that the listener of an outbound depends on.
type outboundKey struct {
	address     string
	port        uint32
	virtual     bool // connections are redirected to the proxy: it binds no port
	destination *destination
	spoken      spoken
	confs       *confList
	backends    *destinations.Directory // that confs refer to; nil: they refer to none
	collectors  *collector.Directory    // that confs refer to; nil: they refer to none
}

// outboundListener returns the listener of an outbound, and clusters of collectors.
func (b *Builder) outboundListener(key outboundKey, d *resource.Dataplane) *built {
	return b.outbounds.get(key, d, func(client *client) *built {
		destination, found := key.destination.name, &finder{set: key.backends}
		name := outboundName(key.address, key.port)
		o := &xds.Outbound{
			Report: xds.Report{Place: name, OnlyTCP: key.spoken.onlyTCP}, Facets: client, Lacks: key.confs.lacks,
			Filters: &xds.Filters{}, Backends: xds.Backends{Mesh: key.destination.Mesh, Finder: found},
			Destination: key.destination.Destination,
			Protocol:    key.spoken.protocol,
			Listener: &listenerv3.Listener{
				Name: name, Address: message.SocketAddress(key.address, key.port),
				TrafficDirection: corev3.TrafficDirection_OUTBOUND,
			},
		}
		o.Collectors = key.collectors
		if key.virtual {
			o.Listener.BindToPort = wrapperspb.Bool(false)
		}
		if o.Protocol.IsHTTP() {
			o.Manager = message.NewManager(destination, destination, message.OutboundIdleTimeout, message.OutboundStreamIdleTimeout)
		} else {
			o.TCP = message.NewTCPProxy(destination, destination, message.OutboundIdleTimeout)
		}
		for i, t := range b.shape.outbound {
			conf := key.confs.effectivesOf(o.Policy)[i]
			o.WarnIgnored(t, conf)
			if o.RouteConfs = nil; t.ByRoute && o.TCP == nil {
				o.RouteConfs = key.confs.byRoute(i)
				for _, route := range o.RouteConfs {
					o.WarnIgnored(t, route.Effective)
				}
			}
			t.Outbound(o, conf)
		}
		if o.TCP != nil {
			warnUnused(&o.Report, key.confs, func(p *resource.Policy) bool { return o.Policy != nil && o.Policy.ID == p.ID })
		}
		o.Listener.FilterChains = []*listenerv3.FilterChain{{Filters: o.List()}}
		part := &draft{Part: xds.Part{Report: o.Report, Origin: xds.OutboundOrigin, Tags: key.destination.Tags, Names: named(name, b.semantics.OutboundNames(key.address, key.port, b.kumaNames(key.destination))),
			Messages: []proto.Message{o.Listener}}, backends: o.Backends.Referred, found: found.outbounds, confs: key.confs.all()}
		for _, c := range o.Clusters {
			part.Messages = append(part.Messages, c)
		}
		return b.finish(part, key.confs.lacks, key.confs.finish)
	})
}

func outboundName(address string, port uint32) string {
	return fmt.Sprintf("outbound/%s/%d", address, port)
}

// apiListener returns the listener that gRPC clients ask for: by the name of an HTTP
// destination, with its routes (SPEC 11.4).
func (b *Builder) apiListener(d *destination) *wire.Resource {
	d.once.Do(func() {
		manager := &xds.Filters{Manager: &hcmv3.HttpConnectionManager{
			StatPrefix: d.name,
			RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{
				Rds: &hcmv3.Rds{ConfigSource: message.FromADS(), RouteConfigName: d.name},
			},
		}}
		config := manager.List()[0].GetTypedConfig()
		d.api = b.resources.make(wire.ListenerType, d.name, &listenerv3.Listener{
			Name: d.name, ApiListener: &listenerv3.ApiListener{ApiListener: config},
		})
	})
	return d.api
}
