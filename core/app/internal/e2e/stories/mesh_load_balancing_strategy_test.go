package stories

import (
	"fmt"
	"strings"
	"time"
)

var meshLoadBalancingStrategyStories = []story{{
	kind: "MeshLoadBalancingStrategy", name: "hash policies", mesh: shop + `
type: MeshLoadBalancingStrategy
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: backend}
    default:
      loadBalancer: {type: RingHash}
      hashPolicies: [{type: Header, header: {name: x-user}}]
  - targetRef: {kind: MeshService, name: store}
    default:
      loadBalancer: {type: Maglev}
      hashPolicies: [{type: Connection, connection: {sourceIP: true}}]
`,
	proxies: []string{"web"},
	steps: []step{
		{"hosts of one user", hosts(8, get("127.0.0.1:10001/", header("x-user", "ann"))), "1", "2"},
		{"hosts of one source", hosts(8, line("127.0.0.1:10002")), "1", "2"},
	},
}, {
	kind: "MeshLoadBalancingStrategy", name: "own zone", mesh: shop + `
type: MeshLoadBalancingStrategy
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {localityAwareness: {}}
`,
	proxies: []string{"web"},
	down:    []string{"store-1"},
	steps: []step{
		{"hosts", each(8, get("127.0.0.1:10001/")), "200 backend-1", "200 backend-1, 200 backend-2"},
		{"the only host of the zone is down", each(8, line("127.0.0.1:10002")), "closed", "closed, store-2: ping"},
	},
}, {
	kind: "MeshLoadBalancingStrategy", name: "failover by health", mesh: shop + `
type: MeshHealthCheck
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {interval: 100ms, timeout: 500ms, unhealthyThreshold: 1, healthyThreshold: 1, noTrafficInterval: 100ms, tcp: {}}
---
type: MeshLoadBalancingStrategy
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - default: {localityAwareness: {crossZone: {failover: [{to: {type: Any}}]}}}
`,
	proxies: []string{"web"},
	down:    []string{"store-1"},
	steps: []step{
		{"the zone has a healthy host", each(8, get("127.0.0.1:10001/")), "200 backend-1", "200 backend-1, 200 backend-2"},
		{"the zone has none", after(pause(500*time.Millisecond), each(8, line("127.0.0.1:10002"))), "store-2: ping", "store-2: ping"},
	},
}}

// hosts returns a step that repeats another and returns how many different results there
// are.
func hosts(times int, do func(*world) string) func(*world) string {
	return func(w *world) string { return fmt.Sprint(len(strings.Split(each(times, do)(w), ", "))) }
}
