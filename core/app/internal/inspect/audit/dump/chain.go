package dump

import (
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// Chain is a filter chain of a listener.
type Chain struct {
	Name    string
	Default bool // for connections that get no other chain
	TLS     TLS
	// Match has the fields by which a connection gets this chain and no other, besides TLS.
	Match []string
	// Port is the port of the destination that a connection has on the chain; 0: not known.
	Port    uint32
	Filters []Filter
	HTTP    bool // the connection manager is among the filters
	// Normalizes reports whether the connection manager puts paths into normal form.
	Normalizes bool
}

// TLS is what a chain asks of the certificate of a client.
type TLS uint8

// The ways. An UnknownTransport may show certificates or not.
const (
	PlainText TLS = iota
	WithoutClientCertificate
	WithClientCertificate
	UnknownTransport
)

// Filter is a network filter, or an HTTP filter of the connection manager.
type Filter struct {
	Name, Type string
	HTTP       bool
	Config     Object
	Missing    string     // why its config is not in the dump; "": it is
	Disabled   bool       // unless an override enables it
	Overrides  []Override // the first one that applies to a request decides
}

const (
	managerType = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	tlsType     = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
	rawType     = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
)

// portMatch is the field of a chain for connections to one port.
const portMatch = "destination_port"

func (p *Proxy) chain(c Object, matched bool) Chain {
	out := Chain{Name: c.Text("name"), TLS: transportOf(c.Object("transport_socket"))}
	match := c.Object("filter_chain_match")
	fields := []string{"server_names", "prefix_ranges", "address_suffix", "suffix_len", "direct_source_prefix_ranges", "source_type", "source_prefix_ranges", "source_ports", portMatch}
	out.Match = lists.Filter(fields, match.Has)
	if matched {
		out.Match = append(out.Match, "filter_chain_matcher")
	}
	for _, f := range c.List("filters") {
		filter := p.filter(f)
		if filter.Type == managerType {
			out.HTTP = true
			out.Normalizes = filter.Config.Bool("normalize_path") && filter.Config.Bool("merge_slashes")
			out.Filters = append(out.Filters, p.managed(filter.Config)...)
			continue
		}
		out.Filters = append(out.Filters, filter)
	}
	return out
}

func transportOf(socket Object) TLS {
	if socket == nil {
		return PlainText
	}
	kind, config := socket.Object("typed_config").Typed()
	switch {
	case kind == tlsType && config.Bool("require_client_certificate"):
		return WithClientCertificate
	case kind == tlsType:
		return WithoutClientCertificate
	case kind == rawType:
		return PlainText
	}
	return UnknownTransport
}

// filter returns a filter with its config, which may be another resource of the dump.
func (p *Proxy) filter(f Object) Filter {
	out := Filter{Name: f.Text("name")}
	config := f.Object("typed_config")
	if discovery := f.Object("config_discovery"); discovery != nil {
		switch found := p.extensions[out.Name]; {
		case found != nil:
			config = found.Object("typed_config")
		default:
			out.Missing = "its extension config is not in the dump"
			config = discovery.Object("default_config")
		}
	}
	out.Type, out.Config = config.Typed()
	return out
}

// managed returns the HTTP filters of a connection manager.
func (p *Proxy) managed(manager Object) []Filter {
	route, missing := manager.Object("route_config"), ""
	if rds := manager.Object("rds"); rds != nil {
		name := rds.Text("route_config_name")
		if route = p.routes[name]; route == nil {
			missing = "the route configuration " + name + " is not in the dump"
		}
	} else if manager.Has("scoped_routes") {
		missing = "its routes are scoped"
	}
	if route.Has("vhds") && missing == "" {
		missing = "the virtual hosts of the route configuration " + route.Text("name") + " are discovered on demand"
	}
	return lists.Map(manager.List("http_filters"), func(f Object) Filter {
		filter := p.filter(f)
		filter.HTTP = true
		filter.Disabled, filter.Overrides = f.Bool("disabled"), append(upgradesOf(manager), overridesOf(filter.Name, route)...)
		if missing != "" && filter.Missing == "" {
			filter.Missing = missing
		}
		return filter
	})
}
