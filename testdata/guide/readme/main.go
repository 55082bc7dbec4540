package main

import (
	"context"
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func main() {
	set := must((&resource.Loader{Kinds: kinds.All()}).Load(context.Background(), "mesh.yaml"))
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.Detect(set)})
	view := must(engine.Apply(context.Background(), core.Batch{Upsert: set})).After
	for _, dataplane := range view.Dataplanes("default") {
		for _, outbound := range must(view.Outbounds(dataplane, "MeshTimeout", core.Enforced)) {
			timeouts := must(results.ConfOf[meshtimeout.Conf](outbound.Effective))
			fmt.Println(dataplane.Name, outbound, *timeouts.ConnectionTimeout)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // all errors of the input, each with its position and a hint
	}
	return value
}
