package exported

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// policies adds what operators and teams write.
func (w *World) policies(all []*workload) {
	w.identities()
	w.operators()
	w.routes()
	for _, team := range teams {
		var own []*workload
		for _, s := range all {
			if s.team == team && (s.zone == w.Zone || w.Zone == "") {
				own = append(own, s)
			}
		}
		for _, s := range own {
			w.permission(s, all)
			if s.protocol == "http" && w.produces() {
				w.produce(s)
			}
		}
	}
}

// identities adds a MeshIdentity for each zone, and the MeshTrusts that zones make of them.
func (w *World) identities() {
	path := "/workload/{{ .Workload }}"
	if w.Kubernetes {
		path = "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}"
	}
	w.add(&meta{kind: "MeshIdentity", name: "identity", namespace: w.namespace(system)}, Object{
		"selector": Object{"dataplane": Object{"matchLabels": Object{}}},
		"spiffeID": Object{"trustDomain": "{{ .Mesh }}.{{ .Zone }}.mesh.local", "path": path},
		"provider": Object{"type": "Bundled", "bundled": Object{
			"meshTrustCreation": "Enabled", "insecureAllowSelfSigned": true, "autogenerate": Object{"enabled": true},
			"certificateParameters": Object{"expiry": "24h"},
		}},
	}, nil)
	for _, zone := range zones {
		w.add(&meta{kind: "MeshTrust", name: "identity", namespace: w.namespace(system), zone: zone}, Object{
			"trustDomain": trustDomain(zone),
			"caBundles":   []Object{{"type": "Pem", "pem": Object{"value": w.authority}}},
			"origin":      Object{"kri": "kri_mid_default___identity_"},
		}, nil)
	}
}

// routes adds a canary of a producer, and what consumers write.
func (w *World) routes() {
	zone := zones[0]
	if w.Zone != zone && w.Zone != "" {
		return
	}
	to := func(name string) Object {
		return Object{"kind": "MeshService", "labels": Object{"kuma.io/display-name": name, "kuma.io/zone": zone}}
	}
	backend := func(name string, weight int) Object {
		return Object{"kind": "MeshService", "labels": Object{"kuma.io/display-name": name, "kuma.io/zone": zone}, "port": 80, "weight": weight}
	}
	w.add(&meta{kind: "MeshHTTPRoute", name: "canary", namespace: w.namespace("shop"), zone: zone, role: w.role("consumer")}, Object{
		"to": []Object{{"targetRef": to("shop-0"), "rules": []Object{{
			"matches": []Object{{"path": Object{"type": "PathPrefix", "value": "/"}}},
			"default": Object{"backendRefs": []Object{backend("shop-0", 90), backend("shop-1", 10)}},
		}}}},
	}, nil)
	w.add(&meta{kind: "MeshTimeout", name: "patient", namespace: w.namespace("pay"), zone: zone, role: w.role("consumer")}, Object{
		"targetRef": Object{"kind": "Dataplane", "labels": Object{"app": "pay-0"}},
		"to":        []Object{{"targetRef": Object{"kind": "Mesh"}, "default": Object{"http": Object{"requestTimeout": "20s"}}}},
	}, nil)
	w.add(&meta{kind: "MeshRateLimit", name: "limit", namespace: w.namespace("data"), zone: zone, role: w.role("workload-owner")}, Object{
		"targetRef": Object{"kind": "Dataplane", "labels": Object{"app": "data-1"}},
		"rules": []Object{{"default": Object{"local": Object{"http": Object{
			"requestRate": Object{"num": 100, "interval": "1s"}, "onRateLimit": Object{"status": 429},
		}}}}},
	}, nil)
	w.add(&meta{kind: "MeshHealthCheck", name: "probe", namespace: w.namespace(system), role: "system"}, Object{
		"to": []Object{{"targetRef": to("data-0"), "default": Object{"interval": "10s", "timeout": "2s", "unhealthyThreshold": 3, "healthyThreshold": 1, "tcp": Object{}}}},
	}, nil)
	w.add(&meta{kind: "MeshPassthrough", name: "outside", namespace: w.namespace("data"), zone: zone, role: w.role("workload-owner")}, Object{
		"targetRef": Object{"kind": "Dataplane", "labels": Object{"app": "data-2"}},
		"default": Object{"passthroughMode": "Matched", "appendMatch": []Object{
			{"type": "Domain", "value": "api.example.com", "protocol": "tls", "port": 443}, {"type": "CIDR", "value": "198.51.100.0/24", "protocol": "tcp"},
		}},
	}, nil)
}

// operators adds the policies of the whole mesh.
func (w *World) operators() {
	everyone := Object{"kind": "Mesh"}
	add := func(kind, name string, spec Object) {
		w.add(&meta{kind: kind, name: name, namespace: w.namespace(system), role: "system"}, spec, nil)
	}
	add("MeshMetric", "metrics", Object{"default": Object{
		"sidecar":  Object{"profiles": Object{"appendProfiles": []Object{{"name": "Basic"}}}},
		"backends": []Object{{"type": "Prometheus", "prometheus": Object{"port": 5670, "path": "/metrics", "tls": Object{"mode": "Disabled"}}}},
	}})
	add("MeshAccessLog", "access-log", Object{
		"rules": []Object{{"default": Object{"backends": []Object{{"type": "File", "file": Object{"path": "/dev/stdout"}}}}}},
	})
	add("MeshTrace", "traces", Object{"default": Object{
		"backends": []Object{{"type": "OpenTelemetry", "openTelemetry": Object{"endpoint": "otel-collector.observability:4317"}}},
		"sampling": Object{"overall": 10},
	}})
	add("MeshTLS", "tls", Object{"rules": []Object{{"default": Object{"tlsVersion": Object{"min": "TLS12", "max": "TLS13"}}}}})
	add("MeshCircuitBreaker", "outliers", Object{"to": []Object{{"targetRef": everyone, "default": Object{"outlierDetection": Object{
		"interval": "5s", "baseEjectionTime": "30s", "maxEjectionPercent": 20,
		"detectors": Object{"totalFailures": Object{"consecutive": 10}},
	}}}}})
}

// permission lets two workloads call one: those of the same names in each zone.
func (w *World) permission(s *workload, all []*workload) {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(s.tag())) // never fails
	random := rand.New(rand.NewPCG(w.seed, seed.Sum64()))
	clients := map[string]bool{}
	for _, i := range random.Perm(len(all) / len(zones))[:2] {
		clients[all[i].tag()] = true
	}
	var allow []Object
	for _, client := range all {
		if clients[client.tag()] {
			allow = append(allow, Object{"spiffeID": Object{"type": "Exact", "value": w.spiffeID(client)}})
		}
	}
	w.add(&meta{kind: "MeshTrafficPermission", name: "clients-of-" + s.name, namespace: w.namespace(s.team), zone: s.zone, role: w.role("workload-owner")}, Object{
		"targetRef": Object{"kind": "Dataplane", "labels": Object{"app": s.name}},
		"rules":     []Object{{"default": Object{"allow": allow}}},
	}, nil)
}

// produces reports whether the next service has a policy of its producer.
func (w *World) produces() bool {
	if w.counted {
		w.produced++
		return w.produced <= produced
	}
	return w.random.IntN(2) == 0
}

// produce adds a policy of the producer of a service, and one of a consumer.
func (w *World) produce(s *workload) {
	timeout := fmt.Sprintf("%ds", 1+w.random.IntN(9))
	to := Object{"kind": "MeshService", "name": s.name, "sectionName": "main"}
	if !w.Kubernetes {
		to = Object{"kind": "MeshService", "labels": Object{"kuma.io/display-name": s.name, "kuma.io/zone": s.zone}, "sectionName": "main"}
	}
	w.add(&meta{kind: "MeshTimeout", name: "calls-of-" + s.name, namespace: w.namespace(s.team), zone: s.zone, role: w.role("producer")}, Object{
		"to": []Object{{"targetRef": to, "default": Object{"http": Object{"requestTimeout": timeout}}}},
	}, nil)
}

// role returns the role that the webhook gives to a policy of a team.
func (w *World) role(team string) string {
	if w.Kubernetes {
		return team
	}
	return "system"
}
