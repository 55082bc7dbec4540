package core_test

import (
	"context"
	"fmt"
	"log"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

const shop = `
type: Dataplane
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, tags: {kuma.io/service: backend}}]
---
type: MeshTimeout
name: slow-backend
spec:
  targetRef: {kind: MeshService, name: web}
  to: [{targetRef: {kind: MeshService, name: backend}, default: {connectionTimeout: 5s}}]
`

// Load resources, apply them, and read a typed conf with the policies that set
// it.
func Example() {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(context.Background(), resource.Input{Name: "shop.yaml", Data: []byte(shop)})
	if err != nil {
		log.Fatal(err)
	}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(context.Background(), core.Batch{Upsert: set}); err != nil {
		log.Fatal(err)
	}

	view := engine.View()
	web := view.Dataplane(resource.ID{Mesh: "default", Name: "web-1"})
	outbounds, err := view.Outbounds(web, "MeshTimeout", core.Enforced)
	if err != nil {
		log.Fatal(err)
	}
	backend := outbounds[0]
	timeout, err := results.ConfOf[meshtimeout.Conf](backend.Effective)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(backend)
	fmt.Println("connection timeout:", *timeout.ConnectionTimeout)
	for _, origin := range backend.Origins {
		fmt.Println("set by:", origin.Policy.Name)
	}
	// Output:
	// kuma.io/service=backend
	// connection timeout: 5s
	// set by: slow-backend
}

// Replace a policy and report which dataplanes change, where, and because of
// which policy.
func ExampleCommit_Changes() {
	loader := resource.Loader{Kinds: kinds.All()}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	for _, text := range []string{shop, `
type: MeshTimeout
name: zz-fast
spec:
  targetRef: {kind: MeshService, name: web}
  to: [{default: {connectionTimeout: 1s}}]
`} {
		set, err := loader.Decode(context.Background(), resource.Input{Name: "example.yaml", Data: []byte(text)})
		if err != nil {
			log.Fatal(err)
		}
		commit, err := engine.Apply(context.Background(), core.Batch{Upsert: set})
		if err != nil {
			log.Fatal(err)
		}
		for _, change := range commit.Changes() {
			fmt.Println(change.Action, change.Dataplanes()[0].Name, change.Places, change.Policies)
			if change.Action == core.Changed {
				fmt.Println("from", timeoutOf(change.Before(core.Enforced)), "to", timeoutOf(change.After(core.Enforced)))
			}
		}
	}
	// Output:
	// joined web-1 [MeshTimeout of outbound 0] []
	// changed web-1 [MeshTimeout of outbound 0] [MeshTimeout "zz-fast" in mesh "default"]
	// from 5s to 1s
}

// timeoutOf returns the connection timeout of the first outbound.
func timeoutOf(configs []*results.Config) *conf.Duration {
	timeout, err := results.ConfOf[meshtimeout.Conf](configs[0].Outbounds[0].Effective)
	if err != nil {
		log.Fatal(err)
	}
	return timeout.ConnectionTimeout
}
