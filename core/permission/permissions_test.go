package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// The config of another kind allows no request, whether the kind has rules, `from` items,
// only `to` items, or no array.
func TestConfigOfAnotherKind(t *testing.T) {
	const mesh = shop + `
---
{type: MeshTimeout, mesh: default, name: rules, spec: {rules: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshRateLimit, mesh: default, name: from, spec: {from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: 1, interval: 1s}}}}}]}}
---
{type: MeshRetry, mesh: default, name: to, spec: {to: [{targetRef: {kind: Mesh}, default: {tcp: {maxConnectAttempt: 2}}}]}}
---
{type: MeshTrace, mesh: default, name: default, spec: {default: {backends: [{type: Zipkin, zipkin: {url: "http://zipkin:9411"}}]}}}
`
	view := coretest.View(t, mesh)
	backend := view.Dataplanes("default")[0]
	request := &request.Request{SpiffeID: "spiffe://shop.mesh/ns/web/sa/web", Method: "GET", Path: "/"}
	configs := view.Configs(backend, core.Enforced)
	if len(configs) != 5 {
		t.Fatalf("%d kinds select the dataplane, want 5", len(configs))
	}
	for _, config := range configs {
		allowed := permission.ForInbound(config, backend, 0).Decide(request).Decision.Allow
		if want := config.Kind.Name == permission.KindName; allowed != want {
			t.Errorf("the config of %s allows a request: %t, want %t", config.Kind.Name, allowed, want)
		}
	}
}
