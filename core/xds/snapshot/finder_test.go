package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// backendObject is a destination of a world with a route to one of them, as the test that
// wrote it sees it. The names of objects are in the order of their list.
type backendObject struct {
	kind, name, zone, team string
	day                    int // of the creation
	ports                  []int
}

// kri is the name of the cluster of a port.
func (o *backendObject) kri(port int) string {
	short := map[string]string{"MeshService": "msvc", "MeshExternalService": "extsvc", "MeshMultiZoneService": "mzsvc"}[o.kind]
	return fmt.Sprintf("kri_%s_default_%s__%s_%d", short, o.zone, o.name, port)
}

// naiveBackend is the cluster of a reference by rules 17.3 and 17.4, "" if there is none.
func naiveBackend(s semantics.Semantics, objects []backendObject, policyZone, kind, name, team string, port int) string {
	var oldest *backendObject
	for i := range objects {
		o := &objects[i]
		found := o.kind == kind && o.team == team
		if name != "" {
			found = o.kind == kind && o.name == name && (s == semantics.TargetRef || s == semantics.Kuma && o.zone == policyZone)
		}
		if found && (oldest == nil || o.day < oldest.day) {
			oldest = o
		}
	}
	switch {
	case oldest == nil:
		return ""
	case port == 0 && len(oldest.ports) == 1:
		return oldest.kri(oldest.ports[0])
	case slices.Contains(oldest.ports, port):
		return oldest.kri(port)
	}
	return ""
}

// The clusters of random backends of a route are the destinations that rule 17.3 finds, and
// each has endpoints, as the cluster of an outbound has.
func TestBackendsFindDestinations(t *testing.T) {
	random := rand.New(rand.NewPCG(17, 3))
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	kinds := []string{"MeshService", "MeshExternalService", "MeshMultiZoneService"}
	found := 0
	for range 300 {
		s := []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3}[random.IntN(3)]
		var objects []backendObject
		outbound, parent, routes := "tags: {kuma.io/service: parent, kuma.io/protocol: http}", "name: parent", "default/parent?kuma.io/protocol=http"
		docs := []string{"{type: MeshService, name: parent, spec: {ports: [{port: 1, appProtocol: http}]}}"}
		if s == semantics.Kuma3 { // which has no outbounds by tags
			parent = "labels: {kuma.io/display-name: parent}"
			outbound, routes = "backendRef: {kind: MeshService, "+parent+"}", "kri_msvc_default___parent_1"
		}
		docs = append(docs, fmt.Sprintf("{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 1, %s}]}}", outbound))
		for i := range 5 {
			o := backendObject{pick(kinds...), fmt.Sprint("d", i), pick("", "east", "west"), pick("a", "b"), random.IntN(3) + 1, []int{80}}
			if o.kind != "MeshExternalService" && random.IntN(2) == 0 {
				o.ports = append(o.ports, 81)
			}
			zone := ""
			if o.zone != "" {
				zone = ", kuma.io/zone: " + o.zone
			}
			spec := "match: {port: 80}, endpoints: [{address: 192.0.2.1, port: 1}]"
			if o.kind != "MeshExternalService" {
				var ports []string
				for _, p := range o.ports {
					ports = append(ports, fmt.Sprintf("{port: %d, appProtocol: http}", p))
				}
				selector := "dataplaneTags: {kuma.io/service: api}"
				if o.kind == "MeshMultiZoneService" {
					selector = "meshService: {matchLabels: {team: a}}"
				}
				spec = fmt.Sprintf("selector: {%s}, ports: [%s]", selector, strings.Join(ports, ", "))
			}
			docs = append(docs, fmt.Sprintf("{type: %s, name: %s, labels: {team: %s%s}, creationTime: 2026-01-0%dT00:00:00Z, spec: {%s}}", o.kind, o.name, o.team, zone, o.day, spec))
			objects = append(objects, o)
		}
		slices.SortStableFunc(objects, func(a, b backendObject) int { return strings.Compare(a.kind, b.kind) })
		kind, name, team, port, policyZone := pick(kinds...), "", pick("a", "b"), []int{0, 80, 81}[random.IntN(3)], pick("", "east")
		if random.IntN(2) == 0 {
			name, team = fmt.Sprint("d", random.IntN(5)), ""
			if kind == "MeshService" && port == 0 {
				port = 80 // without a port it is a service by its tag
			}
		}
		if kind == "MeshMultiZoneService" && s != semantics.TargetRef && port == 0 {
			port = 80 // Kuma requires it
		}
		ref := fmt.Sprintf("kind: %s", kind)
		if name != "" {
			ref += ", name: " + name
		} else {
			ref += fmt.Sprintf(", labels: {team: %s}", team)
		}
		if port != 0 {
			ref += fmt.Sprintf(", port: %d", port)
		}
		labels := ""
		if policyZone != "" {
			labels = "labels: {kuma.io/zone: " + policyZone + ", kuma.io/origin: zone}, "
		}
		filters := fmt.Sprintf(", filters: [{type: RequestMirror, requestMirror: {backendRef: {%s}}}]", ref)
		mirrored := s != semantics.Kuma || kind != "MeshMultiZoneService" // which Kuma 2 refuses
		if !mirrored {
			filters = ""
		}
		docs = append(docs, fmt.Sprintf("{type: MeshHTTPRoute, name: r, %sspec: {to: [{targetRef: {kind: MeshService, %s}, rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {backendRefs: [{%s}]%s}}]}]}}", labels, parent, ref, filters))
		text := strings.Join(docs, "\n---\n")
		f := follow(t, s)
		snapshot := web(f.apply(text))
		got, mirror := routedTo(t, snapshot, routes)
		if !mirrored && mirror == "" {
			mirror = got
		}
		want := naiveBackend(s, objects, policyZone, kind, name, team, port)
		if want == "" {
			if strings.HasPrefix(got, "kri_") || got != mirror {
				t.Fatalf("%s, %s\n%s\ngot %s and %s, want no destination", s, ref, text, got, mirror)
			}
		} else if got != want || mirror != want {
			t.Fatalf("%s, %s\n%s\ngot %s and %s, want %s", s, ref, text, got, mirror, want)
		} else {
			found++
		}
		if !slices.Contains(names(snapshot, wire.ClusterType), got) || !slices.Contains(names(snapshot, wire.EndpointType), got) {
			t.Fatalf("%s, %s\n%s\nthere are no endpoints or no cluster %s", s, ref, text, got)
		}
	}
	if found < 60 {
		t.Errorf("%d backends were found", found)
	}
}

// routedTo returns the clusters of the only route of a destination and of its mirror, "" if it
// has none.
func routedTo(t *testing.T, s *snapshot.Snapshot, destination string) (cluster, mirror string) {
	t.Helper()
	for _, r := range s.Resources(wire.RouteType) {
		if r.Name == destination {
			m := new(routev3.RouteConfiguration)
			if err := proto.Unmarshal(r.Body, m); err != nil {
				t.Fatal(err)
			}
			action := m.VirtualHosts[0].Routes[0].GetRoute()
			if mirrors := action.RequestMirrorPolicies; len(mirrors) > 0 {
				mirror = mirrors[0].Cluster
			}
			return action.GetCluster(), mirror
		}
	}
	t.Fatalf("there are no routes of %s", destination)
	return "", ""
}
