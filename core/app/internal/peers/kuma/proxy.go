package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	config_manager "github.com/kumahq/kuma/pkg/core/config/manager"
	core_mesh "github.com/kumahq/kuma/pkg/core/resources/apis/mesh"
	core_system "github.com/kumahq/kuma/pkg/core/resources/apis/system"
	"github.com/kumahq/kuma/pkg/core/resources/model"
	"github.com/kumahq/kuma/pkg/core/resources/store"
	"github.com/kumahq/kuma/pkg/core/xds"
	"github.com/kumahq/kuma/pkg/dns/vips"
	"github.com/kumahq/kuma/pkg/metrics"
	"github.com/kumahq/kuma/pkg/plugins/resources/memory"
	"github.com/kumahq/kuma/pkg/xds/cache/cla"
	xds_context "github.com/kumahq/kuma/pkg/xds/context"
	"github.com/kumahq/kuma/pkg/xds/envoy"
	"github.com/kumahq/kuma/pkg/xds/generator"
	xds_sync "github.com/kumahq/kuma/pkg/xds/sync"
)

// A meshStore has decoded resources, by their types. It implements Kuma's
// manager.ReadOnlyResourceManager as favourably as possible: nothing is decoded or copied.
type meshStore map[model.ResourceType]model.ResourceList

// Get implements manager.ReadOnlyResourceManager.
func (s meshStore) Get(_ context.Context, r model.Resource, options ...store.GetOptionsFunc) error {
	o := store.NewGetOptions(options...)
	if list := s[r.Descriptor().Name]; list != nil {
		for _, item := range list.GetItems() {
			if item.GetMeta().GetName() == o.Name {
				r.SetMeta(item.GetMeta())
				return r.SetSpec(item.GetSpec())
			}
		}
	}
	return store.ErrorResourceNotFound(r.Descriptor().Name, o.Name, o.Mesh)
}

// List implements manager.ReadOnlyResourceManager. All resources are of one mesh.
func (s meshStore) List(_ context.Context, to model.ResourceList, _ ...store.ListOptionsFunc) error {
	list := s[to.GetItemType()]
	if list == nil {
		return nil
	}
	for _, item := range list.GetItems() {
		if err := to.AddItem(item); err != nil {
			return err
		}
	}
	return nil
}

// add adds a resource, as the first version of it.
func (s meshStore) add(r model.Resource) error {
	r.SetMeta(meta{r.GetMeta(), 1})
	name := r.Descriptor().Name
	if s[name] == nil {
		s[name] = r.Descriptor().NewList()
	}
	return s[name].AddItem(r)
}

// replace replaces the resource of the same name.
func (s meshStore) replace(r model.Resource, version int) error {
	for _, item := range s[r.Descriptor().Name].GetItems() {
		if item.GetMeta().GetName() == r.GetMeta().GetName() {
			item.SetMeta(meta{r.GetMeta(), version})
			return item.SetSpec(r.GetSpec())
		}
	}
	return fmt.Errorf("there is no %s %s", r.Descriptor().Name, r.GetMeta().GetName())
}

// meta adds a version, by which Kuma notices a change.
type meta struct {
	model.ResourceMeta
	version int
}

// GetVersion implements model.ResourceMeta.
func (m meta) GetVersion() string { return strconv.Itoa(m.version) }

// zone is the zone of the control plane: none, as all resources are local.
const zone = ""

// A proxyBuilder makes the xDS resources of dataplanes as Kuma's DataplaneWatchdog does: the
// context of the mesh, which all its proxies share, the proxy, and the resources of the default
// profile, which has the plugins of all policies. What follows in Kuma is not done: it compares
// the resources with the previous ones, validates them, and gives them to its cache.
type proxyBuilder struct {
	resources    meshStore
	contexts     xds_context.MeshContextBuilder
	proxies      *xds_sync.DataplaneProxyBuilder
	controlPlane *xds_context.ControlPlaneContext
	versions     int                      // of resources that were edited
	mesh         *xds_context.MeshContext // the previous one
	made         []*xds.ResourceSet       // for each dataplane
}

func newProxyBuilder(resources meshStore) (*proxyBuilder, error) {
	// The time that Kuma's control plane has by default. Each version of a mesh has its own
	// entries in it.
	registry, err := metrics.NewMetrics(zone)
	if err != nil {
		return nil, err
	}
	endpoints, err := cla.NewCache(time.Second, registry)
	if err != nil {
		return nil, err
	}
	configs := config_manager.NewConfigManager(memory.NewStore())
	return &proxyBuilder{
		resources: resources,
		contexts: xds_context.NewMeshContextBuilder(resources, meshTypes(), net.LookupIP, zone,
			vips.NewPersistence(resources, configs, false), "mesh", 80, xds_context.AnyToAnyReachableServicesGraphBuilder),
		proxies:      &xds_sync.DataplaneProxyBuilder{Zone: zone, APIVersion: envoy.APIV3},
		versions:     1,
		controlPlane: &xds_context.ControlPlaneContext{CLACache: endpoints, Zone: zone},
	}, nil
}

// meshTypes are the types of resources that Kuma's server reads to make xDS resources.
func meshTypes() []model.ResourceType {
	types := map[model.ResourceType]bool{
		core_system.ConfigType: true, core_system.GlobalSecretType: true,
		core_mesh.ZoneIngressType: true, core_mesh.ZoneEgressType: true, core_mesh.MeshType: true,
	}
	for _, d := range descriptors() {
		if d.Scope == model.ScopeMesh && d.Name != core_mesh.DataplaneInsightType && d.Name != core_mesh.DataplaneOverviewType {
			types[d.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(types))
}

// A request is for the resources of some dataplanes of a mesh.
type request struct {
	mesh       string
	dataplanes []string
}

// build makes the resources of dataplanes, on all processors. It makes the context of the mesh
// if there is none yet, or if a resource has another version.
func (b *proxyBuilder) build(r request) error {
	var err error
	if b.mesh, err = b.contexts.BuildIfChanged(context.Background(), r.mesh, b.mesh); err != nil {
		return err
	}
	b.made = make([]*xds.ResourceSet, len(r.dataplanes))
	errs := make([]error, len(r.dataplanes))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < len(r.dataplanes); i += workers {
				b.made[i], errs[i] = b.proxy(model.ResourceKey{Mesh: r.mesh, Name: r.dataplanes[i]})
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// proxy makes the resources of one dataplane.
func (b *proxyBuilder) proxy(key model.ResourceKey) (*xds.ResourceSet, error) {
	ctx := context.Background()
	proxy, err := b.proxies.Build(ctx, key, *b.mesh)
	if err != nil {
		return nil, err
	}
	g := generator.ProxyTemplateGenerator{ProxyTemplate: generator.DefaultTemplateResolver.GetTemplate(proxy)}
	return g.Generate(ctx, xds_context.Context{ControlPlane: b.controlPlane, Mesh: *b.mesh}, proxy)
}

// fromNothing makes the resources of dataplanes when nothing is kept from before.
func (b *proxyBuilder) fromNothing(r request) error {
	b.mesh = nil
	return b.build(r)
}

// afterEdit replaces a resource of the mesh, and then makes the resources of dataplanes.
func (b *proxyBuilder) afterEdit(edited model.Resource, r request) error {
	b.versions++
	if err := b.resources.replace(edited, b.versions); err != nil {
		return err
	}
	return b.build(r)
}

// encoded returns the resources of the last work: for each dataplane, a list of messages of
// type Any.
func (b *proxyBuilder) encoded() ([]json.RawMessage, error) {
	var all []json.RawMessage
	for _, made := range b.made {
		var list [][]byte
		for _, r := range made.List() {
			wrapped, err := anypb.New(r.Resource)
			if err != nil {
				return nil, err
			}
			body, err := proto.Marshal(wrapped)
			if err != nil {
				return nil, err
			}
			list = append(list, body)
		}
		text, err := json.Marshal(list)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, nil
}
