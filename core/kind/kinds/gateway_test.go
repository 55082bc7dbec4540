package kinds_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The `to` of a policy for a MeshGateway whose items are of kind Mesh is for the listeners
// of the gateway (SPEC 2.4). Such a policy prints as a document that loads as the same
// policy, and a policy that is made in Go is checked like a policy from a file.
func TestItemsForTheListenersOfGateways(t *testing.T) {
	for kind, item := range map[string]string{
		"MeshHTTPRoute":      `{targetRef: {kind: Mesh}, hostnames: [a.example], rules: [{matches: [{}], default: {}}]}`,
		"MeshTCPRoute":       `{rules: [{default: {backendRefs: [{kind: MeshService, name: a}]}}]}`,
		"MeshRateLimit":      `{targetRef: {kind: Mesh}, default: {local: {http: {disabled: true}}}}`,
		"MeshFaultInjection": `{default: {http: [{abort: {httpStatus: 503, percentage: 1}}]}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			loader := resource.Loader{Kinds: kinds.All()}
			decode := func(text string) *resource.Policy {
				t.Helper()
				set, err := loader.Decode(context.Background(), resource.Input{Name: "p.yaml", Data: []byte(text)})
				if err != nil {
					t.Fatal(err)
				}
				return set.Policies[0]
			}
			p := decode(`{type: ` + kind + `, name: p, spec: {targetRef: {kind: MeshGateway, name: g}, to: [` + item + `]}}`)
			if len(p.Gateway) != 1 || p.To != nil {
				t.Fatalf("the policy has %d items for listeners and %d for outbounds", len(p.Gateway), len(p.To))
			}
			if role, ok := semantics.RoleOf(p, false); role != semantics.SystemRole || !ok {
				t.Errorf("the role is %s", role)
			}
			p.Namespace = "ns"
			if role, ok := semantics.RoleOf(p, false); role != semantics.ConsumerRole || !ok {
				t.Errorf("with a namespace the role is %s, not consumer", role)
			}
			p.Namespace = ""
			text, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(decode(string(text)))
			if err != nil || string(again) != string(text) {
				t.Errorf("printed %s\nand again %s, %v", text, again, err)
			}
			validate := func() error {
				var sink diag.Sink
				p.Validate(p.Place(&sink))
				return sink.Err()
			}
			if err := validate(); err != nil {
				t.Error(err)
			}
			p.TargetRef = resource.TargetRef{Kind: resource.TargetMeshService, Name: "g"}
			if err := validate(); err == nil {
				t.Error("a policy for a service has items for the listeners of a gateway")
			}
		})
	}
}
