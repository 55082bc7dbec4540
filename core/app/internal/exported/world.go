package exported

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/resource"
)

const (
	mesh    = "default"
	created = "2026-06-01T08:00:00Z"
	system  = "kuma-system"
)

// World is a mesh as one control plane has it.
type World struct {
	Kubernetes bool
	// Zone is the zone of the control plane; "" is the global one, which has the resources of all zones.
	Zone string

	seed      uint64
	random    *rand.Rand // chooses what teams write
	documents []Object
	counted   bool   // the numbers of [Global]
	produced  int    // policies of producers
	authority string // a certificate in PEM
}

// zones of the mesh.
var zones = []string{"east", "west"}

// teams have a namespace each.
var teams = []string{"shop", "pay", "data"}

// workload is a service with its pods.
type workload struct {
	team, name, zone string
	number           int
	protocol         string
	pods             int
}

func (s *workload) tag() string { return s.name + "_" + s.team + "_svc_80" }

// New returns a world with some services of each team.
func New(kubernetes bool, zone string, services int, seed uint64) *World {
	return build(&World{Kubernetes: kubernetes, Zone: zone, seed: seed, random: rand.New(rand.NewPCG(seed, 1))}, func(string) int { return services })
}

// The numbers of the world of [Global].
const (
	Dataplanes = 126
	Services   = 93
	Policies   = 131
)

// Global returns the world of a global control plane with two zones, and the numbers of the
// constants above.
func Global(kubernetes bool) *World {
	w := &World{Kubernetes: kubernetes, random: rand.New(rand.NewPCG(1, 1)), seed: 1, counted: true}
	return build(w, func(zone string) int { return map[string]int{"east": 16, "west": 15}[zone] })
}

// In a world of numbers, the first services have two pods, and policies of their producers.
const (
	withTwoPods = Dataplanes - Services - 4 // each zone has a gateway and a job
	produced    = Policies - Services - 14  // a permission each, and policies of the mesh
)

func build(w *World, services func(zone string) int) *World {
	authority, err := ca.Generate(mesh, time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC))
	must(err)
	w.authority = string(authority.Bundle())
	w.controlPlane()
	var all []*workload
	for _, z := range zones {
		w.zoneProxies(z)
		if z == w.Zone || w.Zone == "" {
			w.others(z)
		}
		for _, team := range teams {
			for i := range services(z) {
				s := &workload{team: team, name: fmt.Sprintf("%s-%d", team, i), zone: z, number: len(all), protocol: "http", pods: 1 + w.random.IntN(2)}
				if w.counted {
					s.pods = 1
					if s.number < withTwoPods {
						s.pods = 2
					}
				}
				if i%5 == 4 {
					s.protocol = "tcp"
				}
				all = append(all, s)
			}
		}
	}
	for _, s := range all {
		w.service(s)
		if s.zone == w.Zone || w.Zone == "" {
			for pod := range s.pods {
				w.dataplane(s, pod)
			}
		}
	}
	w.destinations()
	w.policies(all)
	return w
}

// storedName returns the name under which the control plane has stored a resource.
func (w *World) storedName(m *meta) string {
	name := m.name
	switch {
	case m.global && m.kind != "HostnameGenerator", m.kind == "Mesh":
		return name
	case w.isCopy(m):
		name = resource.SyncedName(map[bool]string{true: "", false: mesh}[m.global], m.name, m.zone, m.namespace)
	}
	if !w.Kubernetes && m.namespace != "" {
		name += "." + m.namespace
	}
	return name
}

func (w *World) namespace(team string) string {
	if w.Kubernetes {
		return team
	}
	return ""
}

// controlPlane adds what a control plane makes with a mesh.
func (w *World) controlPlane() {
	w.documents = append(w.documents, w.meshDocument())
	for _, kind := range []struct{ name, kind, template string }{
		{"local-mesh-service", "meshService", "{{ .DisplayName }}.{{ .Namespace }}.svc.mesh.local"},
		{"synced-mesh-service", "meshService", "{{ .DisplayName }}.{{ .Namespace }}.svc.{{ .Zone }}.mesh.local"},
		{"synced-mesh-multi-zone-service", "meshMultiZoneService", "{{ .DisplayName }}.mzsvc.mesh.local"},
		{"synced-mesh-external-service", "meshExternalService", "{{ .DisplayName }}.extsvc.mesh.local"},
	} {
		match := Object{"matchLabels": Object{"kuma.io/origin": "global"}}
		w.add(&meta{kind: "HostnameGenerator", name: kind.name, namespace: w.namespace(system), global: true}, Object{
			"selector": Object{kind.kind: match}, "template": kind.template,
		}, nil)
	}
	add := func(kind, name string, spec Object) {
		w.add(&meta{kind: kind, name: name + "-" + mesh, namespace: w.namespace(system), role: "system"}, spec, nil)
	}
	everyone := Object{"kind": "Mesh"}
	add("MeshTimeout", "mesh-timeout-all", Object{
		"targetRef": Object{"kind": "Mesh", "proxyTypes": []string{"Sidecar"}},
		"from": []Object{{"targetRef": everyone, "default": Object{
			"connectionTimeout": "10s", "idleTimeout": "2h",
			"http": Object{"requestTimeout": "0s", "streamIdleTimeout": "1h", "maxStreamDuration": "0s"},
		}}},
		"to": []Object{{"targetRef": everyone, "default": Object{
			"connectionTimeout": "5s", "idleTimeout": "1h", "http": Object{"requestTimeout": "15s", "streamIdleTimeout": "30m"},
		}}},
	})
	add("MeshTimeout", "mesh-gateways-timeout-all", Object{
		"targetRef": Object{"kind": "Mesh", "proxyTypes": []string{"Gateway"}},
		"from": []Object{{"targetRef": everyone, "default": Object{
			"idleTimeout": "5m", "http": Object{"streamIdleTimeout": "5s", "requestHeadersTimeout": "500ms"},
		}}},
		"to": []Object{{"targetRef": everyone, "default": Object{"idleTimeout": "1h", "http": Object{"streamIdleTimeout": "5s"}}}},
	})
	add("MeshCircuitBreaker", "mesh-circuit-breaker-all", Object{"to": []Object{{"targetRef": everyone, "default": Object{
		"connectionLimits": Object{"maxConnections": 1024, "maxPendingRequests": 1024, "maxRequests": 1024, "maxRetries": 3},
	}}}})
	retries := Object{"numRetries": 5, "perTryTimeout": "16s", "backOff": Object{"baseInterval": "25ms", "maxInterval": "250ms"}}
	add("MeshRetry", "mesh-retry-all", Object{"to": []Object{{"targetRef": everyone, "default": Object{
		"tcp": Object{"maxConnectAttempt": 5}, "http": retries, "grpc": retries,
	}}}})
}

func (w *World) meshDocument() Object {
	spec := Object{"meshServices": Object{"mode": "Exclusive"}}
	if w.Kubernetes {
		return Object{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "spec": spec, "metadata": Object{
			"name": mesh, "uid": "5f2f8f9e-4d3e-4f6a-9d5e-0123456789ab", "resourceVersion": "9", "generation": 1,
			"creationTimestamp": created, "finalizers": []string{"kuma.io/mesh"},
		}}
	}
	spec["type"], spec["name"], spec["creationTime"], spec["modificationTime"] = "Mesh", mesh, created, created
	return spec
}

// zoneProxies adds an ingress, an egress, the zone and its address.
func (w *World) zoneProxies(zone string) {
	number := len(w.documents) % 200
	w.add(&meta{kind: "ZoneIngress", name: "ingress-" + zone, namespace: w.namespace(system), zone: zone, global: true, top: true}, Object{
		"zone": zone, "networking": Object{
			"address": fmt.Sprintf("10.90.0.%d", number), "port": 10001, "advertisedAddress": fmt.Sprintf("192.0.2.%d", number),
			"advertisedPort": 10001, "admin": Object{"port": 9901},
		},
	}, nil)
	if zone == w.Zone || w.Zone == "" {
		w.add(&meta{kind: "ZoneEgress", name: "egress-" + zone, namespace: w.namespace(system), zone: zone, global: true, top: true}, Object{
			"zone": zone, "networking": Object{"address": fmt.Sprintf("10.91.0.%d", number), "port": 10002, "admin": Object{"port": 9901}},
		}, nil)
	}
	if w.Zone == "" {
		w.add(&meta{kind: "Zone", name: zone, global: true, top: true}, Object{"enabled": true}, nil)
	}
}
