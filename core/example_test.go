package core_test

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
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

const hurry = `
type: MeshTimeout
name: zz-hurry
spec:
  targetRef: {kind: MeshService, name: web}
  to: [{default: {connectionTimeout: 1s}}]
`

// Load a world once, change it, and be told what that does to whom, and why.
func Example() {
	loader := resource.Loader{Kinds: kinds.All()}
	world, err := loader.Decode(resource.Input{Name: "shop.yaml", Data: []byte(shop)})
	if err != nil {
		panic(err)
	}
	engine := core.NewEngine(loader.Kinds, core.Options{})
	if _, err := engine.Apply(core.Batch{Upsert: *world}); err != nil {
		panic(err)
	}

	news, err := loader.Decode(resource.Input{Name: "hurry.yaml", Data: []byte(hurry)})
	if err != nil {
		panic(err)
	}
	commit, err := engine.Apply(core.Batch{Upsert: *news})
	if err != nil {
		panic(err)
	}
	for _, change := range commit.Changes() {
		fmt.Println(change.Action, change.Dataplanes()[0].Name, change.Places, "because of", change.Policies[0].Name)
		config := change.After(core.Scope{Kind: "MeshTimeout"})[0]
		for _, origin := range config.Outbounds[0].Origins {
			fmt.Println("set by", origin.Policy.Name)
		}
	}
	// Output:
	// changed web-1 [MeshTimeout of outbound 0] because of zz-hurry
	// set by zz-hurry
}
