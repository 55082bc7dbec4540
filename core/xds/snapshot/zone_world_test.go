package snapshot_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
)

// zoneWorld is a random world with destinations in several zones, as the test that wrote it
// sees it. It has MeshServices, the MeshMultiZoneService all and the MeshExternalService out.
type zoneWorld struct {
	semantics  semantics.Semantics
	client     string // zone
	identified bool   // the client and half of the egresses have an identity
	others     bool   // the mesh has a MeshIdentity that selects no client
	mtls       bool
	dataplanes []zoneDataplane
	services   []zoneService
	listed     []int // services that the status lists
	port       zonePort
	disabled   bool                // localityAwareness
	addresses  map[string][]string // MeshZoneAddresses by zone
	ingresses  map[string]string   // ZoneIngresses by zone
	egresses   []zoneEgress        // listeners
	own        map[string]string   // ZoneEgresses by zone
	dotted     bool                // the names of all and out are no DNS labels
}

type zoneDataplane struct{ app, zone string }

type zoneService struct {
	app, zone, team string
	available       bool
	ports           []zonePort
}

type zonePort struct {
	number int
	name   string
}

type zoneEgress struct {
	zone              string
	ready, identified bool
}

func randomZones(random *rand.Rand) *zoneWorld {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	one := func(in int) bool { return random.IntN(in) == 0 }
	zone := func() string { return pick("east", "west", "north", "") }
	w := &zoneWorld{
		semantics: []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}[random.IntN(3)], client: zone(),
		identified: !one(3), others: one(2), mtls: one(4), dotted: one(6),
		port: zonePort{80 + random.IntN(2), pick("", "main")}, disabled: one(3),
		addresses: map[string][]string{}, ingresses: map[string]string{}, own: map[string]string{},
	}
	for range 1 + random.IntN(5) {
		w.dataplanes = append(w.dataplanes, zoneDataplane{pick("a", "b"), zone()})
	}
	for i := range 1 + random.IntN(4) {
		s := zoneService{pick("a", "b"), zone(), pick("x", "x", "y"), !one(3), []zonePort{{80, "main"}, {81, "other"}}}
		if one(2) {
			s.ports = []zonePort{{81, "main"}}
		}
		w.services = append(w.services, s)
		if one(3) {
			w.listed = append(w.listed, i)
		}
	}
	for i, z := range []string{"east", "west", "north"} {
		for j := range random.IntN(3) {
			w.addresses[z] = append(w.addresses[z], fmt.Sprintf("10.1.%d.%d", i, j))
		}
		if one(2) {
			w.ingresses[z] = fmt.Sprintf("10.2.%d.1", i)
		}
		if one(2) {
			w.own[z] = fmt.Sprintf("10.3.%d.1", i)
		}
	}
	for range random.IntN(3) {
		w.egresses = append(w.egresses, zoneEgress{zone(), !one(3), one(2)})
	}
	return w
}

// name returns the name of the MeshMultiZoneService or of the MeshExternalService.
func (w *zoneWorld) name(of string) string {
	if w.dotted {
		return of + ".x"
	}
	return of
}

func (w *zoneWorld) documents() string {
	labels := func(zone string, more ...string) string {
		if zone != "" {
			more = append(more, "kuma.io/zone: "+zone)
		}
		return strings.Join(more, ", ")
	}
	var docs []string
	add := func(format string, args ...any) { docs = append(docs, fmt.Sprintf(format, args...)) }
	has := map[bool]string{true: "yes", false: "no"}
	add("{type: Dataplane, name: web, labels: {%s}, networking: {address: 10.0.0.9, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}",
		labels(w.client, "app: web", "identified: "+fmt.Sprintf("%q", has[w.identified])))
	for i, d := range w.dataplanes {
		add("{type: Dataplane, name: d%d, labels: {%s}, networking: {address: 10.0.1.%d, inbound: [{port: 80, tags: {kuma.io/service: s}}, {port: 81, tags: {kuma.io/service: s}}]}}", i, labels(d.zone, "app: "+d.app), i)
	}
	for i, e := range w.egresses {
		add("{type: Dataplane, name: e%d, labels: {%s}, networking: {address: 10.0.2.%d, listeners: [{address: 10.0.2.%d, type: ZoneEgress, port: 10002, state: %s}]}}",
			i, labels(e.zone, "identified: "+fmt.Sprintf("%q", has[e.identified && w.identified])), i, i, map[bool]string{true: "Ready", false: "NotReady"}[e.ready])
	}
	if w.identified || w.others {
		add("{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {identified: 'yes'}}}, provider: {type: Spire, spire: {}}}}")
	}
	if w.mtls {
		add("{type: Mesh, name: default, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}")
	}
	for zone, list := range w.addresses {
		for _, address := range list {
			add("{type: MeshZoneAddress, name: a%s, labels: {kuma.io/zone: %s}, spec: {address: %s, port: 10001}}", address, zone, address)
		}
	}
	for zone, address := range w.ingresses {
		add("{type: ZoneIngress, name: %s, zone: %s, networking: {address: 10.9.9.9, port: 1, advertisedAddress: %s, advertisedPort: 10001}}", zone, zone, address)
	}
	for zone, address := range w.own {
		add("{type: ZoneEgress, name: %s, zone: %s, networking: {address: %s, port: 10002}}", zone, zone, address)
	}
	var status []string
	for i, s := range w.services {
		state := map[bool]string{true: "Available", false: "Unavailable"}[s.available]
		var ports []string
		for _, p := range s.ports {
			ports = append(ports, fmt.Sprintf("{port: %d, name: %s}", p.number, p.name))
		}
		add("{type: MeshService, name: s%d, labels: {%s}, spec: {state: %s, selector: {dataplaneLabels: {matchLabels: {app: %s}}}, ports: [%s], identities: [{type: SpiffeID, value: 'spiffe://default/s%d'}]}, status: {vips: [{ip: 241.0.0.%d}], tls: {status: Ready}}}",
			i, labels(s.zone, "team: "+s.team), state, s.app, strings.Join(ports, ", "), i, i)
		if slices.Contains(w.listed, i) {
			status = append(status, fmt.Sprintf("{name: s%d, zone: %q}", i, s.zone))
		}
	}
	add("{type: MeshMultiZoneService, name: %s, labels: {of: all}, spec: {selector: {meshService: {matchLabels: {team: x}}}, ports: [{port: %d, name: %q}]}, status: {vips: [{ip: 243.0.0.1}], meshServices: [%s]}}", w.name("all"), w.port.number, w.port.name, strings.Join(status, ", "))
	add("{type: MeshExternalService, name: %s, spec: {match: {port: 9000, protocol: http}, endpoints: [{address: 192.0.2.1, port: 443}]}, status: {vip: {ip: 242.0.0.1}}}", w.name("out"))
	if w.disabled {
		add("{type: MeshLoadBalancingStrategy, name: flat, spec: {to: [{targetRef: {kind: MeshMultiZoneService, labels: {of: all}}, default: {localityAwareness: {disabled: true}}}]}}")
	}
	return strings.Join(docs, "\n---\n")
}

// naiveEndpoint is an endpoint by rule 17.4.
type naiveEndpoint struct{ zone, address, serverName string }

// kuma reports whether other zones are reached through zone proxies.
func (w *zoneWorld) kuma() bool { return w.semantics != semantics.TargetRef }

func (w *zoneWorld) isRemote(zone string) bool {
	return w.kuma() && zone != "" && w.client != "" && zone != w.client
}

// ingress returns the endpoints of a zone for the clients of other zones. Parts are the
// parts of the readable server name; the other form has name, port and kind.
func (w *zoneWorld) ingress(zone string, readable []string, name string, port int, kind string) (list []naiveEndpoint) {
	addresses := w.addresses[zone]
	hashed := false
	if w.semantics == semantics.Kuma {
		hashed = w.mtls || len(addresses) == 0
		if len(addresses) == 0 && w.ingresses[zone] != "" {
			addresses = []string{w.ingresses[zone]}
		}
	}
	if !w.identified && !w.others && !(w.mtls && w.semantics == semantics.Kuma) {
		return nil
	}
	for _, address := range addresses {
		list = append(list, naiveEndpoint{zone, address + ":10001", serverNameOf(hashed, readable, name, port, kind)})
	}
	return list
}

// serverNameOf returns a server name; "?" if there is none.
func serverNameOf(hashed bool, readable []string, name string, port int, kind string) string {
	if !hashed {
		for _, part := range readable {
			if strings.Contains(part, ".") {
				return "?"
			}
		}
		return "sni." + strings.Join(readable, ".")
	}
	hash := fnv.New64a()
	hash.Write([]byte(name + ";default;"))
	return fmt.Sprintf("a%016x.%s.%d.default.%s", hash.Sum64(), name, port, kind)
}

// served returns the dataplanes of a service at a port.
func (w *zoneWorld) served(s *zoneService, port int) (list []naiveEndpoint) {
	for j, d := range w.dataplanes {
		if d.app == s.app && (d.zone == s.zone || d.zone == "" || s.zone == "") {
			list = append(list, naiveEndpoint{d.zone, fmt.Sprintf("10.0.1.%d:%d", j, port), ""})
		}
	}
	return list
}

// endpoints returns the endpoints by the display name and the section of their port. A
// destination that has no cluster is missing.
func (w *zoneWorld) endpoints() map[string][]naiveEndpoint {
	all := map[string][]naiveEndpoint{}
	for i := range w.services {
		s := &w.services[i]
		for _, p := range s.ports {
			name := fmt.Sprintf("s%d", i)
			if w.isRemote(s.zone) {
				all[name+"/"+p.name] = w.ingress(s.zone, []string{"msvc", "default", s.zone, name, p.name}, name, p.number, "ms")
			} else {
				all[name+"/"+p.name] = w.served(s, p.number)
			}
		}
	}
	section := w.port.name
	if section == "" {
		section = fmt.Sprint(w.port.number)
	}
	all[w.name("all")+"/"+section] = w.joined(section)
	all[w.name("out")+"/9000"] = w.egress()
	for key, list := range all {
		if slices.ContainsFunc(list, func(e naiveEndpoint) bool { return e.serverName == "?" }) {
			delete(all, key)
		}
	}
	return all
}

func (w *zoneWorld) joined(section string) []naiveEndpoint {
	distinct := map[naiveEndpoint]bool{}
	for i := range w.services {
		s := &w.services[i]
		joins := s.team == "x"
		if w.kuma() && len(w.listed) > 0 {
			joins = slices.Contains(w.listed, i)
		}
		number := 0
		for _, p := range s.ports {
			if p.number == w.port.number {
				number = p.number
			}
		}
		for _, p := range s.ports {
			if w.semantics != semantics.Kuma && w.port.name != "" && p.name == w.port.name {
				number = p.number
			}
		}
		var list []naiveEndpoint
		switch {
		case !joins || number == 0:
		case !w.isRemote(s.zone):
			list = w.served(s, number)
		case s.available:
			list = w.ingress(s.zone, []string{"mzsvc", "default", w.name("all"), section}, w.name("all"), w.port.number, "mzms")
		}
		for _, e := range list {
			distinct[e] = true
		}
	}
	return slices.Collect(maps.Keys(distinct))
}

func (w *zoneWorld) egress() (list []naiveEndpoint) {
	if !w.kuma() {
		return []naiveEndpoint{{"", "192.0.2.1:443", ""}}
	}
	here := func(zone string) bool { return zone == "" || w.client == "" || zone == w.client }
	readable := []string{"extsvc", "default", w.name("out"), "9000"}
	for i, e := range w.egresses {
		if e.ready && here(e.zone) {
			list = append(list, naiveEndpoint{e.zone, fmt.Sprintf("10.0.2.%d:10002", i), serverNameOf(w.mtls && w.semantics == semantics.Kuma, readable, w.name("out"), 9000, "mes")})
		}
	}
	if len(list) > 0 || w.semantics == semantics.Kuma3 {
		return list
	}
	for zone, address := range w.own {
		if here(zone) {
			list = append(list, naiveEndpoint{zone, address + ":10002", serverNameOf(true, readable, w.name("out"), 9000, "mes")})
		}
	}
	return list
}

// names returns the SPIFFE IDs that a certificate of a destination may have; nil if it is not
// called by TLS.
func (w *zoneWorld) names(of string, list []naiveEndpoint) (ids []string) {
	if !w.identified || w.semantics == semantics.TargetRef {
		return nil
	}
	switch {
	case strings.HasPrefix(of, "s"):
		return []string{"spiffe://default/" + strings.Split(of, "/")[0]}
	case strings.HasPrefix(of, "out"):
		for i, e := range w.egresses {
			if e.identified && slices.ContainsFunc(list, func(n naiveEndpoint) bool { return n.address == fmt.Sprintf("10.0.2.%d:10002", i) }) {
				domain := "default.mesh.local"
				if e.zone != "" {
					domain = "default." + e.zone + ".mesh.local"
				}
				ids = append(ids, fmt.Sprintf("spiffe://%s/dataplane/e%d", domain, i))
			}
		}
	}
	return ids
}
