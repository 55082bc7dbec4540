package main

import (
	"context"
	"fmt"
	"log"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func main() {
	ctx := context.Background()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(ctx, "mesh.yaml")
	if err != nil {
		log.Fatal(err)
	}
	engine := core.NewEngine(loader.Kinds, core.Options{Semantics: core.Detect(set)}) // as the commands do
	if _, err := engine.Apply(ctx, core.Batch{Upsert: set}); err != nil {
		log.Fatal(err)
	}
	printTimeouts(engine.View())

	// Any change is a batch, which is applied as a whole. The commit reports the
	// dataplanes whose configuration changes, and the policies that cause it.
	commit, err := engine.Apply(ctx, core.Batch{Delete: []resource.ID{{Kind: "MeshTimeout", Mesh: "default", Name: "web"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range commit.Changes() {
		for _, d := range change.Dataplanes() {
			fmt.Println(d.Name, "changes because of", change.Policies[0].Name)
		}
	}
	printTimeouts(engine.View())
}

// printTimeouts reads a view, which is immutable: any goroutine may read it
// while the engine applies changes.
func printTimeouts(view *core.View) {
	d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web-1"})
	outbounds, err := view.Outbounds(d, "MeshTimeout", core.Enforced)
	if err != nil {
		log.Fatal(err)
	}
	for _, outbound := range outbounds { // given by tags, or a port of a MeshService
		timeouts, err := results.ConfOf[meshtimeout.Conf](outbound.Effective)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: connect %v, idle %v\n", outbound, timeouts.ConnectionTimeout, timeouts.IdleTimeout)
		for field, origin := range outbound.Fields() {
			fmt.Printf("  %s is set by %s to[%d]\n", field, origin.Policy.Name, origin.Index)
		}
	}
}
