package permission_test

import (
	"context"
	"fmt"
	"log"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

const shop = `
type: Dataplane
mesh: default
name: backend
networking:
  address: 10.0.0.1
  inbound:
    - {port: 8080, name: http, protocol: http, tags: {kuma.io/service: backend}}
---
type: MeshTrafficPermission
mesh: default
name: everybody-but-batch
spec:
  default:
    deny:
      - spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/batch"}
        method: POST
    allow:
      - spiffeId: {type: Prefix, value: "spiffe://shop.mesh"}
`

// This example goes from resources to a decision and its reason.
func ExampleForInbound() {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(context.Background(), resource.Input{Name: "shop.yaml", Data: []byte(shop)})
	if err != nil {
		log.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), loader.Kinds, set)
	if err != nil {
		log.Fatal(err)
	}
	backend := view.Dataplanes("default")[0]
	config, err := view.Config(backend, permission.KindName, core.Enforced)
	if err != nil {
		log.Fatal(err)
	}
	permissions := permission.ForInbound(config, backend, 0)
	for _, method := range []string{"GET", "POST"} {
		answer := permissions.Decide(&request.Request{SpiffeID: "spiffe://shop.mesh/ns/batch/sa/nightly", Method: method, Path: "/orders"})
		by := answer.Decision.By
		fmt.Printf("%s %s by %s rules[%d].%s[%d]\n", method, answer.Decision, by.Policy.ID.Name, by.Rule, by.List, by.Index)
	}
	// Output:
	// GET ALLOW by everybody-but-batch rules[0].allow[0]
	// POST DENY by everybody-but-batch rules[0].deny[0]
}
