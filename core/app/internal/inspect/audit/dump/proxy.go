package dump

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Proxy is an Envoy as its dump shows it.
type Proxy struct {
	Source    string // the file or URL
	Path      string // in a file of several proxies: the names on the way to it
	Node      string // the id of the node
	Version   string // such as 1.40.0; "" if the dump does not have it
	Listeners []Listener
	Rejected  []Rejected

	routes, extensions map[string]Object
}

// Rejected is a resource that the proxy refused.
type Rejected struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Listener is an active listener.
type Listener struct {
	Name    string
	Address string
	Port    uint32
	Inbound bool // its direction is INBOUND
	Chains  []Chain
}

func proxyOf(path string, dump Object) *Proxy {
	p := &Proxy{Path: path, routes: map[string]Object{}, extensions: map[string]Object{}}
	configs := dump.List("configs")
	for _, config := range configs {
		kind, _ := config.Typed()
		switch kind {
		case "envoy.admin.v3.BootstrapConfigDump":
			p.node(config.Object("bootstrap").Object("node"))
		case "envoy.admin.v3.RoutesConfigDump":
			for _, r := range append(config.List("static_route_configs"), config.List("dynamic_route_configs")...) {
				route := r.Object("route_config")
				p.routes[route.Text("name")] = route
			}
		case "envoy.admin.v3.EcdsConfigDump":
			for _, e := range config.List("ecds_filters") {
				filter := e.Object("ecds_filter")
				p.extensions[filter.Text("name")] = filter
			}
		}
		p.rejected(config)
	}
	for _, config := range configs {
		if kind, _ := config.Typed(); kind != "envoy.admin.v3.ListenersConfigDump" {
			continue
		}
		for _, l := range config.List("static_listeners") {
			p.listener(l.Object("listener"))
		}
		for _, l := range config.List("dynamic_listeners") {
			p.listener(l.Object("active_state").Object("listener"))
		}
	}
	slices.SortStableFunc(p.Listeners, func(a, b Listener) int { return strings.Compare(a.Name, b.Name) })
	return p
}

func (p *Proxy) node(node Object) {
	p.Node = node.Text("id")
	if v := node.Object("user_agent_build_version").Object("version"); v != nil {
		p.Version = fmt.Sprintf("%d.%d.%d", v.Number("major_number"), v.Number("minor_number"), v.Number("patch"))
	} else {
		p.Version = node.Text("user_agent_version")
	}
}

// rejected adds what a part of the dump shows as rejected.
func (p *Proxy) rejected(config Object) {
	kind, _ := config.Typed()
	kind = strings.TrimSuffix(kind[strings.LastIndexByte(kind, '.')+1:], "ConfigDump")
	for _, field := range config.Names() {
		for _, item := range config.List(field) {
			failed := item.Object("error_state")
			if failed == nil {
				continue
			}
			name := item.Text("name")
			for _, inner := range []string{"listener", "cluster", "route_config", "ecds_filter", "secret"} {
				name = cmp.Or(name, item.Object(inner).Text("name"), failed.Object("failed_configuration").Text("name"), item.Object("active_state").Object(inner).Text("name"))
			}
			p.Rejected = append(p.Rejected, Rejected{Type: kind, Name: name, Why: failed.Text("details")})
		}
	}
}

func (p *Proxy) listener(l Object) {
	if l == nil {
		return
	}
	address := l.Object("address").Object("socket_address")
	out := Listener{Name: l.Text("name"), Address: address.Text("address"), Port: uint32(address.Number("port_value")), Inbound: l.Text("traffic_direction") == "INBOUND"}
	for _, chain := range l.List("filter_chains") {
		out.add(p.chain(chain, l.Has("filter_chain_matcher")), portOf(l, chain, out.Port))
	}
	if chain := l.Object("default_filter_chain"); chain != nil {
		c := p.chain(chain, false)
		c.Default = true
		out.add(c, portOf(l, nil, out.Port))
	}
	p.Listeners = append(p.Listeners, out)
}

// To returns the listener as connections to a port of its chains find it; nil if no chain is for the
// port. They get no chain of other connections but the default one.
func (l *Listener) To(port uint32) *Listener {
	out := *l
	out.Chains = nil
	some := false
	for _, c := range l.Chains {
		if is := slices.Contains(c.Match, portMatch); is && c.Port == port || c.Default {
			some = some || is
			c.Match = slices.DeleteFunc(slices.Clone(c.Match), func(field string) bool { return field == portMatch })
			c.Port = port
			out.Chains = append(out.Chains, c)
		}
	}
	if !some {
		return nil
	}
	return &out
}

func (l *Listener) add(c Chain, port uint32) {
	c.Port = port
	l.Chains = append(l.Chains, c)
}

// portOf returns the port of the destination of connections on a chain: the port that the chain
// matches, else the port of the listener, unless the listener may restore another destination.
func portOf(l, chain Object, port uint32) uint32 {
	if by := chain.Object("filter_chain_match"); by.Has(portMatch) {
		return uint32(by.Number(portMatch))
	}
	restores := l.Bool("use_original_dst")
	for _, f := range l.List("listener_filters") {
		kind, _ := f.Object("typed_config").Typed()
		restores = restores || !strings.Contains(kind, ".tls_inspector.") && !strings.Contains(kind, ".http_inspector.") && !strings.Contains(kind, ".original_src.")
	}
	if restores {
		return 0
	}
	return port
}
