package cli

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

// exportedWorld is a sound mesh of Kuma 2.14 as one control plane has it, in the forms in which
// operators have it: what `kubectl get -A -o yaml` prints of a zone or of a global control plane,
// and what `kumactl get -o yaml` prints of universal ones.
//
// It has what a control plane adds by itself (default policies, HostnameGenerators, labels,
// status, `networking.admin`, probes), the zone proxies, and what teams write: policies of each
// role, permissions by SPIFFE IDs, an external service, a service of two zones. It is sound:
// each policy has an effect, each reference finds something, and no client is denied that a team
// did not want to deny. So each finding about it is false or unimportant.
type exportedWorld struct {
	Kubernetes bool
	// Zone is the zone of the control plane; "" is the global one, which has the resources of all zones.
	Zone string

	seed      uint64
	random    *rand.Rand // chooses what teams write
	documents []object
	counted   bool   // the numbers of [newGlobal]
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
func newExported(kubernetes bool, zone string, services int, seed uint64) *exportedWorld {
	return build(&exportedWorld{Kubernetes: kubernetes, Zone: zone, seed: seed, random: rand.New(rand.NewPCG(seed, 1))}, func(string) int { return services })
}

// The numbers of the world of [newGlobal].
const (
	exportedDataplanes = 126
	exportedServices   = 93
	exportedPolicies   = 131
)

// Global returns the world of a global control plane with two zones, and the numbers of the
// constants above.
func newGlobal(kubernetes bool) *exportedWorld {
	w := &exportedWorld{Kubernetes: kubernetes, random: rand.New(rand.NewPCG(1, 1)), seed: 1, counted: true}
	return build(w, func(zone string) int { return map[string]int{"east": 16, "west": 15}[zone] })
}

// In a world of numbers, the first services have two pods, and policies of their producers.
const (
	withTwoPods = exportedDataplanes - exportedServices - 4 // each zone has a gateway and a job
	produced    = exportedPolicies - exportedServices - 14  // a permission each, and policies of the mesh
)

func build(w *exportedWorld, services func(zone string) int) *exportedWorld {
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
func (w *exportedWorld) storedName(m *meta) string {
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

func (w *exportedWorld) namespace(team string) string {
	if w.Kubernetes {
		return team
	}
	return ""
}

// controlPlane adds what a control plane makes with a mesh.
func (w *exportedWorld) controlPlane() {
	w.documents = append(w.documents, w.meshDocument())
	for _, kind := range []struct{ name, kind, template string }{
		{"local-mesh-service", "meshService", "{{ .DisplayName }}.{{ .Namespace }}.svc.mesh.local"},
		{"synced-mesh-service", "meshService", "{{ .DisplayName }}.{{ .Namespace }}.svc.{{ .Zone }}.mesh.local"},
		{"synced-mesh-multi-zone-service", "meshMultiZoneService", "{{ .DisplayName }}.mzsvc.mesh.local"},
		{"synced-mesh-external-service", "meshExternalService", "{{ .DisplayName }}.extsvc.mesh.local"},
	} {
		match := object{"matchLabels": object{"kuma.io/origin": "global"}}
		w.add(&meta{kind: "HostnameGenerator", name: kind.name, namespace: w.namespace(system), global: true}, object{
			"selector": object{kind.kind: match}, "template": kind.template,
		}, nil)
	}
	add := func(kind, name string, spec object) {
		w.add(&meta{kind: kind, name: name + "-" + mesh, namespace: w.namespace(system), role: "system"}, spec, nil)
	}
	everyone := object{"kind": "Mesh"}
	add("MeshTimeout", "mesh-timeout-all", object{
		"targetRef": object{"kind": "Mesh", "proxyTypes": []string{"Sidecar"}},
		"from": []object{{"targetRef": everyone, "default": object{
			"connectionTimeout": "10s", "idleTimeout": "2h",
			"http": object{"requestTimeout": "0s", "streamIdleTimeout": "1h", "maxStreamDuration": "0s"},
		}}},
		"to": []object{{"targetRef": everyone, "default": object{
			"connectionTimeout": "5s", "idleTimeout": "1h", "http": object{"requestTimeout": "15s", "streamIdleTimeout": "30m"},
		}}},
	})
	add("MeshTimeout", "mesh-gateways-timeout-all", object{
		"targetRef": object{"kind": "Mesh", "proxyTypes": []string{"Gateway"}},
		"from": []object{{"targetRef": everyone, "default": object{
			"idleTimeout": "5m", "http": object{"streamIdleTimeout": "5s", "requestHeadersTimeout": "500ms"},
		}}},
		"to": []object{{"targetRef": everyone, "default": object{"idleTimeout": "1h", "http": object{"streamIdleTimeout": "5s"}}}},
	})
	add("MeshCircuitBreaker", "mesh-circuit-breaker-all", object{"to": []object{{"targetRef": everyone, "default": object{
		"connectionLimits": object{"maxConnections": 1024, "maxPendingRequests": 1024, "maxRequests": 1024, "maxRetries": 3},
	}}}})
	retries := object{"numRetries": 5, "perTryTimeout": "16s", "backOff": object{"baseInterval": "25ms", "maxInterval": "250ms"}}
	add("MeshRetry", "mesh-retry-all", object{"to": []object{{"targetRef": everyone, "default": object{
		"tcp": object{"maxConnectAttempt": 5}, "http": retries, "grpc": retries,
	}}}})
}

func (w *exportedWorld) meshDocument() object {
	spec := object{"meshServices": object{"mode": "Exclusive"}}
	if w.Kubernetes {
		return object{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "spec": spec, "metadata": object{
			"name": mesh, "uid": "5f2f8f9e-4d3e-4f6a-9d5e-0123456789ab", "resourceVersion": "9", "generation": 1,
			"creationTimestamp": created, "finalizers": []string{"kuma.io/mesh"},
		}}
	}
	spec["type"], spec["name"], spec["creationTime"], spec["modificationTime"] = "Mesh", mesh, created, created
	return spec
}

// zoneProxies adds an ingress, an egress, the zone and its address.
func (w *exportedWorld) zoneProxies(zone string) {
	number := len(w.documents) % 200
	w.add(&meta{kind: "ZoneIngress", name: "ingress-" + zone, namespace: w.namespace(system), zone: zone, global: true, top: true}, object{
		"zone": zone, "networking": object{
			"address": fmt.Sprintf("10.90.0.%d", number), "port": 10001, "advertisedAddress": fmt.Sprintf("192.0.2.%d", number),
			"advertisedPort": 10001, "admin": object{"port": 9901},
		},
	}, nil)
	if zone == w.Zone || w.Zone == "" {
		w.add(&meta{kind: "ZoneEgress", name: "egress-" + zone, namespace: w.namespace(system), zone: zone, global: true, top: true}, object{
			"zone": zone, "networking": object{"address": fmt.Sprintf("10.91.0.%d", number), "port": 10002, "admin": object{"port": 9901}},
		}, nil)
	}
	if w.Zone == "" {
		w.add(&meta{kind: "Zone", name: zone, global: true, top: true}, object{"enabled": true}, nil)
	}
}
