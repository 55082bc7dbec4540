package cli

import "fmt"

// trustDomain is Kuma's default for the identities of a zone.
func trustDomain(zone string) string { return mesh + "." + zone + ".mesh.local" }

// spiffeID returns the ID that a workload's pods have.
func (w *exportedWorld) spiffeID(s *workload) string {
	if w.Kubernetes {
		return "spiffe://" + trustDomain(s.zone) + "/ns/" + s.team + "/sa/" + s.name
	}
	return "spiffe://" + trustDomain(s.zone) + "/workload/" + s.name
}

// service adds the MeshService that the control plane makes of a workload.
func (w *exportedWorld) service(s *workload) {
	labels := map[string]string{"app": s.name, "kuma.io/managed-by": "k8s-controller"}
	hostname := fmt.Sprintf("%s.%s.svc.mesh.local", s.name, s.team)
	vip := object{"ip": fmt.Sprintf("241.%d.0.%d", s.number/200, 1+s.number%200)}
	w.add(&meta{kind: "MeshService", name: s.name, namespace: w.namespace(s.team), zone: s.zone, labels: labels}, object{
		"selector":   object{"dataplaneTags": object{"app": s.name, "kuma.io/zone": s.zone}},
		"ports":      []object{{"name": "main", "port": 80, "targetPort": 8080, "appProtocol": s.protocol}},
		"identities": []object{{"type": "ServiceTag", "value": s.tag()}, {"type": "SpiffeID", "value": w.spiffeID(s)}},
		"state":      "Available",
	}, object{
		"addresses":          []object{{"hostname": hostname, "origin": "HostnameGenerator", "hostnameGeneratorRef": object{"coreName": "local-mesh-service"}}},
		"vips":               []object{vip},
		"tls":                object{"status": "Ready"},
		"dataplaneProxies":   object{"connected": s.pods, "healthy": s.pods, "total": s.pods},
		"hostnameGenerators": []object{{"hostnameGeneratorRef": object{"coreName": "local-mesh-service"}, "conditions": []object{{"type": "Generated", "status": "True", "reason": "Generated", "message": ""}}}},
	})
}

func (w *exportedWorld) dataplane(s *workload, pod int) {
	tags := object{
		"app": s.name, "kuma.io/service": s.tag(), "kuma.io/protocol": s.protocol, "kuma.io/zone": s.zone, "pod-template-hash": "6d4b75cb6d",
	}
	labels := map[string]string{
		"app": s.name, "team": s.team, "kuma.io/proxy-type": "sidecar", "kuma.io/env": "universal", "kuma.io/workload": s.name,
		"pod-template-hash": "6d4b75cb6d",
	}
	networking := object{
		"address": fmt.Sprintf("10.%d.%d.%d", 1+pod, s.number/200, 1+s.number%200), "admin": object{"port": 9901},
		"inbound":             []object{{"port": 8080, "name": "main", "health": object{"ready": true}, "tags": tags}},
		"transparentProxying": object{"redirectPortInbound": 15006, "redirectPortOutbound": 15001, "ipFamilyMode": "DualStack"},
	}
	spec := object{"networking": networking}
	if w.Kubernetes {
		labels["kuma.io/env"], labels["k8s.kuma.io/service-account"] = "kubernetes", s.name
		tags["k8s.kuma.io/namespace"], tags["k8s.kuma.io/service-name"], tags["k8s.kuma.io/service-port"] = s.team, s.name, "80"
		spec["probes"] = object{"port": 9000, "endpoints": []object{{"inboundPort": 8080, "inboundPath": "/healthz", "path": "/8080/healthz"}}}
	}
	name := fmt.Sprintf("%s-6d4b75cb6d-%05d", s.name, 10000+pod)
	w.add(&meta{kind: "Dataplane", name: name, namespace: w.namespace(s.team), zone: s.zone, labels: labels, top: true}, spec, nil)
}

// others adds what is no usual sidecar: a delegated gateway, and a job without a port.
func (w *exportedWorld) others(zone string) {
	for i, name := range []string{"edge", "nightly"} {
		labels := map[string]string{"app": name, "kuma.io/proxy-type": "sidecar", "kuma.io/workload": name}
		tags := object{"kuma.io/service": name + "_shop_svc", "kuma.io/zone": zone, "app": name}
		if w.Kubernetes {
			labels["k8s.kuma.io/service-account"] = name
		}
		networking := object{
			"address": fmt.Sprintf("10.80.%d.%d", len(w.documents)/200, 1+len(w.documents)%200), "admin": object{"port": 9901},
			"transparentProxying": object{"redirectPortInbound": 15006, "redirectPortOutbound": 15001},
		}
		if i == 0 {
			labels["kuma.io/proxy-type"] = "gateway"
			networking["gateway"] = object{"type": "DELEGATED", "tags": tags}
		} else {
			tags["kuma.io/protocol"] = "tcp"
			networking["inbound"] = []object{{"port": 49151, "health": object{"ready": true}, "tags": tags}}
		}
		w.add(&meta{kind: "Dataplane", name: name, namespace: w.namespace("shop"), zone: zone, labels: labels, top: true}, object{"networking": networking}, nil)
	}
}

// destinations adds an external service and a service of both zones, which the global control
// plane has.
func (w *exportedWorld) destinations() {
	w.add(&meta{kind: "MeshExternalService", name: "bank", namespace: w.namespace(system)}, object{
		"match":     object{"type": "HostnameGenerator", "port": 443, "protocol": "http"},
		"endpoints": []object{{"address": "bank.example.com", "port": 443}},
		"tls":       object{"enabled": true, "verification": object{"serverName": "bank.example.com"}},
	}, object{"vip": object{"ip": "242.0.0.1"}, "addresses": []object{{"hostname": "bank.extsvc.mesh.local"}}})
	var both []object
	for _, zone := range zones {
		both = append(both, object{"name": "shop-0", "namespace": w.namespace("shop"), "zone": zone, "mesh": mesh})
	}
	w.add(&meta{kind: "MeshMultiZoneService", name: "shop", namespace: w.namespace(system)}, object{
		"selector": object{"meshService": object{"matchLabels": object{"app": "shop-0"}}},
		"ports":    []object{{"name": "main", "port": 80, "appProtocol": "http"}},
	}, object{"meshServices": both, "vips": []object{{"ip": "243.0.0.1"}}, "addresses": []object{{"hostname": "shop.mzsvc.mesh.local"}}})
}
