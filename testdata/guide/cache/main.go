package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

func main() {
	ctx := context.Background()
	set := must((&resource.Loader{Kinds: kinds.All()}).Load(ctx, os.Args[1:]...))
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.Detect(set)})
	p := newPusher(cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil))
	report(p.push(ctx, must(engine.Apply(ctx, core.Batch{Upsert: set})).After, time.Now()))
	fmt.Println("without the policy web:")
	edit := core.Batch{Delete: []resource.ID{{Kind: "MeshTimeout", Mesh: "default", Name: "web"}}}
	report(p.push(ctx, must(engine.Apply(ctx, edit)).After, time.Now()))
}

func report(pushed []string, err error) {
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range pushed {
		fmt.Println("  push", name)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
