package dump

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Chain is a filter chain of a listener.
type Chain struct {
	Name string
	TLS  TLS
	// Match has the fields by which a connection gets this chain and no other, besides TLS.
	Match   []string
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
	Missing    string // why its config is not in the dump; "": it is
	Disabled   bool   // unless an override enables it
	Overrides  []Override
}

// Override is the config of a filter for some requests.
type Override struct {
	Where    string
	Disabled bool
	Type     string
	Config   Object
}

const (
	managerType = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"
	tlsType     = "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext"
	rawType     = "envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer"
)

func (p *Proxy) chain(c Object, matched bool) Chain {
	out := Chain{Name: c.Text("name"), TLS: transportOf(c.Object("transport_socket"))}
	match := c.Object("filter_chain_match")
	for _, field := range []string{"server_names", "prefix_ranges", "address_suffix", "suffix_len", "direct_source_prefix_ranges", "source_type", "source_prefix_ranges", "source_ports", "destination_port"} {
		if match.Has(field) {
			out.Match = append(out.Match, field)
		}
	}
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
	var out []Filter
	for _, f := range manager.List("http_filters") {
		filter := p.filter(f)
		filter.HTTP = true
		filter.Disabled, filter.Overrides = f.Bool("disabled"), append(overridesOf(filter.Name, route), upgradesOf(manager)...)
		if missing != "" && filter.Missing == "" {
			filter.Missing = missing
		}
		out = append(out, filter)
	}
	return out
}

// upgradesOf returns the overrides of a filter by upgrades that have filters of their own: their
// requests do not come to it.
func upgradesOf(manager Object) []Override {
	var out []Override
	for _, u := range manager.List("upgrade_configs") {
		if u.Has("filters") {
			out = append(out, Override{Where: "the upgrade " + u.Text("upgrade_type") + ", which has filters of its own", Disabled: true})
		}
	}
	return out
}

// overridesOf returns the configs that parts of a route configuration give to a filter. Later ones
// are of narrower parts.
func overridesOf(filter string, route Object) []Override {
	var out []Override
	add := func(where string, part Object) {
		configs := part.Object("typed_per_filter_config")
		config := objectOf(configs[filter])
		if config == nil {
			return
		}
		o := Override{Where: where}
		o.Type, o.Config = config.Typed()
		if o.Type == "envoy.config.route.v3.FilterConfig" {
			o.Disabled = o.Config.Bool("disabled")
			o.Type, o.Config = o.Config.Object("config").Typed()
		}
		out = append(out, o)
	}
	add("route configuration "+route.Text("name"), route)
	for _, host := range route.List("virtual_hosts") {
		add("virtual host "+host.Text("name"), host)
		for i, r := range host.List("routes") {
			name := r.Text("name")
			if name == "" {
				name = strconv.Itoa(i)
			}
			name = "route " + name + " of virtual host " + host.Text("name")
			add(name, r)
			for _, c := range r.Object("route").Object("weighted_clusters").List("clusters") {
				add("the cluster "+c.Text("name")+" of "+name, c)
			}
		}
		if names(host.Object("matcher"), filter) {
			out = append(out, Override{Where: "a route that the matcher of virtual host " + host.Text("name") + " finds"})
		}
	}
	return out
}

// names reports whether a message has a part with the name of a filter, such as a config for it.
func names(o Object, filter string) bool {
	text, _ := json.Marshal(o)      // it was JSON
	name, _ := json.Marshal(filter) // a text
	return bytes.Contains(text, append(name, ':'))
}
