package cli

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// policies adds what operators and teams write.
func (w *exportedWorld) policies(all []*workload) {
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
func (w *exportedWorld) identities() {
	path := "/workload/{{ .Workload }}"
	if w.Kubernetes {
		path = "/ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}"
	}
	w.add(&meta{kind: "MeshIdentity", name: "identity", namespace: w.namespace(system)}, object{
		"selector": object{"dataplane": object{"matchLabels": object{}}},
		"spiffeID": object{"trustDomain": "{{ .Mesh }}.{{ .Zone }}.mesh.local", "path": path},
		"provider": object{"type": "Bundled", "bundled": object{
			"meshTrustCreation": "Enabled", "insecureAllowSelfSigned": true, "autogenerate": object{"enabled": true},
			"certificateParameters": object{"expiry": "24h"},
		}},
	}, nil)
	for _, zone := range zones {
		w.add(&meta{kind: "MeshTrust", name: "identity", namespace: w.namespace(system), zone: zone}, object{
			"trustDomain": trustDomain(zone),
			"caBundles":   []object{{"type": "Pem", "pem": object{"value": w.authority}}},
			"origin":      object{"kri": "kri_mid_default___identity_"},
		}, nil)
	}
}

// routes adds a canary of a producer, and what consumers write.
func (w *exportedWorld) routes() {
	zone := zones[0]
	if w.Zone != zone && w.Zone != "" {
		return
	}
	to := func(name string) object {
		return object{"kind": "MeshService", "labels": object{"kuma.io/display-name": name, "kuma.io/zone": zone}}
	}
	backend := func(name string, weight int) object {
		return object{"kind": "MeshService", "labels": object{"kuma.io/display-name": name, "kuma.io/zone": zone}, "port": 80, "weight": weight}
	}
	w.add(&meta{kind: "MeshHTTPRoute", name: "canary", namespace: w.namespace("shop"), zone: zone, role: w.role("consumer")}, object{
		"to": []object{{"targetRef": to("shop-0"), "rules": []object{{
			"matches": []object{{"path": object{"type": "PathPrefix", "value": "/"}}},
			"default": object{"backendRefs": []object{backend("shop-0", 90), backend("shop-1", 10)}},
		}}}},
	}, nil)
	w.add(&meta{kind: "MeshTimeout", name: "patient", namespace: w.namespace("pay"), zone: zone, role: w.role("consumer")}, object{
		"targetRef": object{"kind": "Dataplane", "labels": object{"app": "pay-0"}},
		"to":        []object{{"targetRef": object{"kind": "Mesh"}, "default": object{"http": object{"requestTimeout": "20s"}}}},
	}, nil)
	w.add(&meta{kind: "MeshRateLimit", name: "limit", namespace: w.namespace("data"), zone: zone, role: w.role("workload-owner")}, object{
		"targetRef": object{"kind": "Dataplane", "labels": object{"app": "data-1"}},
		"rules": []object{{"default": object{"local": object{"http": object{
			"requestRate": object{"num": 100, "interval": "1s"}, "onRateLimit": object{"status": 429},
		}}}}},
	}, nil)
	w.add(&meta{kind: "MeshHealthCheck", name: "probe", namespace: w.namespace(system), role: "system"}, object{
		"to": []object{{"targetRef": to("data-0"), "default": object{"interval": "10s", "timeout": "2s", "unhealthyThreshold": 3, "healthyThreshold": 1, "tcp": object{}}}},
	}, nil)
	w.add(&meta{kind: "MeshPassthrough", name: "outside", namespace: w.namespace("data"), zone: zone, role: w.role("workload-owner")}, object{
		"targetRef": object{"kind": "Dataplane", "labels": object{"app": "data-2"}},
		"default": object{"passthroughMode": "Matched", "appendMatch": []object{
			{"type": "Domain", "value": "api.example.com", "protocol": "tls", "port": 443}, {"type": "CIDR", "value": "198.51.100.0/24", "protocol": "tcp"},
		}},
	}, nil)
}

// operators adds the policies of the whole mesh.
func (w *exportedWorld) operators() {
	everyone := object{"kind": "Mesh"}
	add := func(kind, name string, spec object) {
		w.add(&meta{kind: kind, name: name, namespace: w.namespace(system), role: "system"}, spec, nil)
	}
	add("MeshMetric", "metrics", object{"default": object{
		"sidecar":  object{"profiles": object{"appendProfiles": []object{{"name": "Basic"}}}},
		"backends": []object{{"type": "Prometheus", "prometheus": object{"port": 5670, "path": "/metrics", "tls": object{"mode": "Disabled"}}}},
	}})
	add("MeshAccessLog", "access-log", object{
		"rules": []object{{"default": object{"backends": []object{{"type": "File", "file": object{"path": "/dev/stdout"}}}}}},
	})
	add("MeshTrace", "traces", object{"default": object{
		"backends": []object{{"type": "OpenTelemetry", "openTelemetry": object{"endpoint": "otel-collector.observability:4317"}}},
		"sampling": object{"overall": 10},
	}})
	add("MeshTLS", "tls", object{"rules": []object{{"default": object{"tlsVersion": object{"min": "TLS12", "max": "TLS13"}}}}})
	add("MeshCircuitBreaker", "outliers", object{"to": []object{{"targetRef": everyone, "default": object{"outlierDetection": object{
		"interval": "5s", "baseEjectionTime": "30s", "maxEjectionPercent": 20,
		"detectors": object{"totalFailures": object{"consecutive": 10}},
	}}}}})
}

// permission lets two workloads call one: those of the same names in each zone.
func (w *exportedWorld) permission(s *workload, all []*workload) {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(s.tag())) // never fails
	random := rand.New(rand.NewPCG(w.seed, seed.Sum64()))
	clients := map[string]bool{}
	for _, i := range random.Perm(len(all) / len(zones))[:2] {
		clients[all[i].tag()] = true
	}
	var allow []object
	for _, client := range all {
		if clients[client.tag()] {
			allow = append(allow, object{"spiffeID": object{"type": "Exact", "value": w.spiffeID(client)}})
		}
	}
	w.add(&meta{kind: "MeshTrafficPermission", name: "clients-of-" + s.name, namespace: w.namespace(s.team), zone: s.zone, role: w.role("workload-owner")}, object{
		"targetRef": object{"kind": "Dataplane", "labels": object{"app": s.name}},
		"rules":     []object{{"default": object{"allow": allow}}},
	}, nil)
}

// produces reports whether the next service has a policy of its producer.
func (w *exportedWorld) produces() bool {
	if w.counted {
		w.produced++
		return w.produced <= produced
	}
	return w.random.IntN(2) == 0
}

// produce adds a policy of the producer of a service, and one of a consumer.
func (w *exportedWorld) produce(s *workload) {
	timeout := fmt.Sprintf("%ds", 1+w.random.IntN(9))
	to := object{"kind": "MeshService", "name": s.name, "sectionName": "main"}
	if !w.Kubernetes {
		to = object{"kind": "MeshService", "labels": object{"kuma.io/display-name": s.name, "kuma.io/zone": s.zone}, "sectionName": "main"}
	}
	w.add(&meta{kind: "MeshTimeout", name: "calls-of-" + s.name, namespace: w.namespace(s.team), zone: s.zone, role: w.role("producer")}, object{
		"to": []object{{"targetRef": to, "default": object{"http": object{"requestTimeout": timeout}}}},
	}, nil)
}

// role returns the role that the webhook gives to a policy of a team.
func (w *exportedWorld) role(team string) string {
	if w.Kubernetes {
		return team
	}
	return "system"
}
