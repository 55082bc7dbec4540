package main

import (
	"context"
	_ "embed"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:embed identity.yaml
var identities string

// load returns the mesh of a directory on loopback. Its certificates are in dir.
func load(ctx context.Context, mesh, dir string) (*core.View, error) {
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Load(ctx, mesh)
	if err != nil {
		return nil, err
	}
	further, err := loader.Decode(ctx, resource.Input{Name: "identity.yaml", Data: []byte(strings.ReplaceAll(identities, "DIRECTORY", dir))})
	if err != nil {
		return nil, err
	}
	set.Objects = append(set.Objects, further.Objects...)
	for _, d := range set.Dataplanes {
		toLoopback(d)
	}
	return core.Options{Semantics: core.TargetRef}.NewView(ctx, loader.Kinds, set)
}

// toLoopback gives a dataplane of the network 10.0.0.0/16 the address with the same end
// in 127.10.0.0/16, so that several run on one machine. Its outbounds, which are on
// 127.0.0.1 of each machine, get this address too, and its workload the one in
// 127.11.0.0/16.
func toLoopback(d *resource.Dataplane) {
	host, ok := strings.CutPrefix(d.Address, "10.0.")
	if !ok {
		return
	}
	d.Address = "127.10." + host
	for i := range d.Inbounds {
		d.Inbounds[i].ServiceAddress = "127.11." + host
	}
	for i := range d.Outbounds {
		d.Outbounds[i].Address = d.Address
	}
}

// dataplane returns the dataplane of a name, which may be NAMESPACE/NAME.
func dataplane(view *core.View, name string) (*resource.Dataplane, error) {
	return find.Dataplane(view, "default", find.Name{Name: name})
}
