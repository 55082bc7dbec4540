package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/kind/budget"
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

func main() {
	ctx := context.Background()
	all := resource.NewKinds(append(kinds.BuiltIn(), budget.Kind())...)
	set, err := (&resource.Loader{Kinds: all}).Load(ctx, os.Args[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	view, err := core.Options{Semantics: core.Detect(set)}.NewView(ctx, all, set)
	if err != nil {
		log.Fatal(err)
	}
	builder := snapshot.NewBuilder(append(translators.All(), budget.Translator()), snapshot.Options{})
	resources := builder.At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy) // or xds.ProxylessGRPC
	for _, cluster := range resources.Resources(wire.ClusterType) {
		fmt.Println(cluster.Name)
	}
	for _, warning := range resources.Warnings() {
		fmt.Println(warning.Field, warning.Message)
	}
}
