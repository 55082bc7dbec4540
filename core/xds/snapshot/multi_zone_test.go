package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// zoneWorld is a random world of a MeshMultiZoneService, as the test that wrote it sees it.
type zoneWorld struct {
	semantics  semantics.Semantics
	client     string // zone
	dataplanes []zoneDataplane
	services   []zoneService
	listed     []int // services that the status lists
	port       zonePort
	disabled   bool // localityAwareness
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

func randomZones(random *rand.Rand) *zoneWorld {
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	zone := func() string { return pick("east", "west", "north", "") }
	w := &zoneWorld{
		semantics: []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}[random.IntN(3)], client: zone(),
		port: zonePort{80 + random.IntN(2), pick("", "main")}, disabled: random.IntN(3) == 0,
	}
	for range 1 + random.IntN(5) {
		w.dataplanes = append(w.dataplanes, zoneDataplane{pick("a", "b"), zone()})
	}
	for i := range 1 + random.IntN(4) {
		s := zoneService{pick("a", "b"), zone(), pick("x", "x", "y"), random.IntN(3) > 0, []zonePort{{80, "main"}, {81, "other"}}}
		if random.IntN(2) == 0 {
			s.ports = []zonePort{{81, "main"}}
		}
		w.services = append(w.services, s)
		if random.IntN(3) == 0 {
			w.listed = append(w.listed, i)
		}
	}
	return w
}

func (w *zoneWorld) documents() string {
	zone := func(zone string) string {
		if zone == "" {
			return ""
		}
		return ", kuma.io/zone: " + zone
	}
	var docs []string
	add := func(format string, args ...any) { docs = append(docs, fmt.Sprintf(format, args...)) }
	add("{type: Dataplane, name: web, labels: {app: web%s}, networking: {address: 10.0.0.9, transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}", zone(w.client))
	for i, d := range w.dataplanes {
		add("{type: Dataplane, name: d%d, labels: {app: %s%s}, networking: {address: 10.0.1.%d, inbound: [{port: 80, tags: {kuma.io/service: s}}, {port: 81, tags: {kuma.io/service: s}}]}}", i, d.app, zone(d.zone), i)
	}
	var status []string
	for i, s := range w.services {
		state := map[bool]string{true: "Available", false: "Unavailable"}[s.available]
		var ports []string
		for _, p := range s.ports {
			ports = append(ports, fmt.Sprintf("{port: %d, name: %s}", p.number, p.name))
		}
		add("{type: MeshService, name: s%d, labels: {team: %s%s}, spec: {state: %s, selector: {dataplaneLabels: {matchLabels: {app: %s}}}, ports: [%s]}}", i, s.team, zone(s.zone), state, s.app, strings.Join(ports, ", "))
		if slices.Contains(w.listed, i) {
			status = append(status, fmt.Sprintf("{name: s%d, zone: %q}", i, s.zone))
		}
	}
	add("{type: MeshMultiZoneService, name: all, labels: {of: all}, spec: {selector: {meshService: {matchLabels: {team: x}}}, ports: [{port: %d, name: %q}]}, status: {vips: [{ip: 243.0.0.1}], meshServices: [%s]}}", w.port.number, w.port.name, strings.Join(status, ", "))
	if w.disabled {
		add("{type: MeshLoadBalancingStrategy, name: flat, spec: {to: [{targetRef: {kind: MeshMultiZoneService, labels: {of: all}}, default: {localityAwareness: {disabled: true}}}]}}")
	}
	return strings.Join(docs, "\n---\n")
}

// endpoints are those of rule 17.4, as lines of priority, address and port.
func (w *zoneWorld) endpoints() (lines []string) {
	kuma := w.semantics != semantics.TargetRef
	zones := map[string]string{} // by address and port
	for i, s := range w.services {
		joins := s.team == "x"
		if kuma && len(w.listed) > 0 {
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
		for j, d := range w.dataplanes {
			selected := d.app == s.app && (d.zone == s.zone || d.zone == "" || s.zone == "")
			reached := !kuma || s.available || d.zone == w.client
			if joins && number != 0 && selected && reached {
				zones[fmt.Sprintf("10.0.1.%d:%d", j, number)] = d.zone
			}
		}
	}
	own := false
	for _, zone := range zones {
		own = own || zone == w.client
	}
	for address, zone := range zones {
		priority := 0
		if own && zone != w.client && !w.disabled {
			priority = 1
		}
		lines = append(lines, fmt.Sprintf("%d %s", priority, address))
	}
	slices.Sort(lines)
	return lines
}

// The endpoints of random MeshMultiZoneServices are those of rule 17.4.
func TestMultiZoneServices(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 44))
	found := 0
	for range 300 {
		w := randomZones(random)
		documents := w.documents()
		var got []string
		for _, r := range web(follow(t, w.semantics).apply(documents)).Resources(wire.EndpointType) {
			m := new(endpointv3.ClusterLoadAssignment)
			if err := proto.Unmarshal(r.Body, m); err != nil {
				t.Fatal(err)
			}
			for _, l := range m.Endpoints {
				for _, e := range l.LbEndpoints {
					address := e.GetEndpoint().Address.GetSocketAddress()
					got = append(got, fmt.Sprintf("%d %s:%d", l.Priority, address.Address, address.GetPortValue()))
				}
			}
		}
		slices.Sort(got)
		if want := w.endpoints(); !slices.Equal(got, want) {
			t.Fatalf("%s\n%s\ngot  %q\nwant %q", w.semantics, documents, got, want)
		}
		found += len(got)
	}
	if found < 100 {
		t.Errorf("there are %d endpoints", found)
	}
}
