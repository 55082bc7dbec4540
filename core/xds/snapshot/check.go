package snapshot

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// Check returns the warnings of the snapshots of all dataplanes (SPEC 11.1), for Envoy and,
// for the given dataplanes, for gRPC too. The warnings are sorted and without duplicates;
// one that many dataplanes have names the place on one of them. Of dataplanes that must
// have the same warnings, only one is built. It leaves out what package inspect reports for
// all dataplanes. If the context ends, Check builds no further snapshot and returns the
// cause.
func (s *State) Check(ctx context.Context, grpc ...*resource.Dataplane) ([]xds.Warning, error) {
	return s.checkFor(ctx, xds.Client{}, grpc...)
}

// checkFor is Check for Envoys like the given one.
func (s *State) checkFor(ctx context.Context, envoy xds.Client, grpc ...*resource.Dataplane) ([]xds.Warning, error) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	found := map[xds.Warning]xds.Warning{} // the key has no place
	seen := map[checkKey]bool{}
	add := func(d *resource.Dataplane, client xds.Client) {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			warnings := s.SnapshotFor(d, client).warnings
			mu.Lock()
			defer mu.Unlock()
			for _, w := range warnings {
				if w.Inspected {
					continue
				}
				key := w
				if w.Policy != nil {
					key.Place = ""
				}
				if known, ok := found[key]; !ok || w.Compare(known) < 0 {
					found[key] = w
				}
			}
			return nil
		})
	}
	for _, mesh := range s.view.Meshes() {
		for _, d := range s.view.Dataplanes(mesh) {
			if ctx.Err() != nil {
				break
			}
			key, needed := s.checkKey(d)
			if !needed || seen[key] {
				continue
			}
			seen[key] = true
			add(d, envoy)
		}
	}
	for _, d := range grpc {
		add(d, xds.Client{Type: xds.ProxylessGRPC})
	}
	_ = group.Wait() // no function fails
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sortWarnings(slices.Collect(maps.Values(found))), nil
}

// checkKey is equal for dataplanes that have the same warnings, apart from places.
type checkKey struct {
	mesh    string
	configs *results.Config
	tls     clientTLS
	shape   string
}

// checkKey returns the key of a dataplane, and false if it has no warnings: nothing
// is configured for it.
func (s *State) checkKey(d *resource.Dataplane) (checkKey, bool) {
	configs := s.view.Configs(d, s.builder.scope)
	id, err := s.meshes[d.Mesh].identities.IdentityOf(d)
	if len(configs) == 0 && id == nil && err == nil && len(d.Listeners) == 0 {
		return checkKey{}, false
	}
	key := checkKey{mesh: d.Mesh, tls: tlsOf(id, xds.Envoy)}
	if len(configs) > 0 {
		key.configs = configs[0]
	}
	var shape strings.Builder
	fmt.Fprintf(&shape, "%v", d.TransparentProxy != nil)
	if s.view.Semantics().Zones().Proxied {
		fmt.Fprintf(&shape, " %s", enforce.ZoneOf(d))
	}
	for i := range d.Inbounds {
		fmt.Fprintf(&shape, " %s:%s", inboundProtocol(&d.Inbounds[i]), d.Inbounds[i].Tags.Value(resource.ServerFirstTag))
	}
	for i := range d.Outbounds {
		fmt.Fprintf(&shape, " %s", d.Outbounds[i].Tags)
		if backend := d.Outbounds[i].Backend; backend != nil {
			fmt.Fprintf(&shape, " %v", *backend)
		}
	}
	if d.TransparentProxy != nil && d.TransparentProxy.ReachableBackends != nil {
		fmt.Fprintf(&shape, " %q %q %v", d.Zone(), d.HomeNamespace(), d.TransparentProxy.ReachableBackends)
	}
	if len(d.Listeners) > 0 {
		fmt.Fprintf(&shape, " %s", d.KRI(""))
	}
	if s.isPatched(d) { // whether a patch leads to the workload depends on its addresses
		fmt.Fprintf(&shape, " %s", d.KRI(""))
	}
	key.shape = shape.String()
	return key, true
}
