package snapshot

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/weakcache"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Options are the options of a [Builder].
type Options struct {
	// Audit builds each part again when it is found in a cache. It panics if the content
	// differs, because then the key of the cache lacks an input. It does so with snapshots
	// too, because then a read is not recorded. It is for tests.
	Audit bool
	// Scope selects the policies that shape the snapshots; the zero value is
	// [core.Enforced].
	Scope core.Scope
}

// A Builder builds the snapshots of the views of one engine. It is safe for
// concurrent use.
type Builder struct {
	translators []*xds.Translator
	shape       shape
	seed        maphash.Seed  // of serviceBits
	meshStates  atomic.Uint64 // how many were made

	resources    resources
	destinations weakcache.Cache[string, destination]
	facts        weakcache.Cache[string, endpointFacts]
	confs        pool[confList, *confList]
	inboundConfs pool[inboundConfs, *inboundConfs]
	clusters     faceted[clusterKey]
	endpoints    faceted[endpointsKey]
	routes       faceted[routesKey]
	outbounds    faceted[outboundKey]
	bundles      pool[outboundParts, *outboundParts]
	ports        pool[portConfs, *portConfs]
	contents     pool[extensionContent, *extensionContent]
	secretParts  weakcache.Cache[secretKey, built]
	zoneParts    weakcache.Cache[zoneEndpointsKey, built]
	// snapshots contains the last snapshot of each dataplane: *Snapshot by snapshotKey. Its
	// inputs show whether a state has the same one.
	snapshots sync.Map

	lists resourceRoom

	limits variantLimits
	// locators are the variants of the destinations of each mesh: *locator by locatorKey.
	locators sync.Map
	turns    atomic.Uint64 // how often a locator was made or has left a state

	scope core.Scope // see Options
	audit bool       // see Options

	// semantics is the same for all views of the builder. The first one sets it.
	semantics semantics.Semantics

	mu   sync.Mutex
	last *State
}

// destination is a destination with its name.
type destination struct {
	variant.Destination
	name   string
	target *target // nil: the destination is a service by its tags
	zoned  zonedSet

	once sync.Once
	api  *wire.Resource // see Builder.apiListener
}

// NewBuilder returns a builder with the given translators; see package translators
// for the built-in kinds.
func NewBuilder(translators []xds.Translator, options Options) *Builder {
	b := &Builder{seed: maphash.MakeSeed(), limits: variantLimits{variants: maxVariants, tuples: maxTuples}, scope: options.Scope, audit: options.Audit}
	for _, t := range translators {
		b.translators = append(b.translators, &t)
	}
	b.shape = newShape(b.translators)
	b.clusters.audit = options.Audit
	b.endpoints.audit = options.Audit
	b.routes.audit = options.Audit
	b.outbounds.audit = options.Audit
	return b
}

// destination returns the destination of an outbound.
func (b *Builder) destination(mesh string, tags resource.Tags) *destination {
	d := variant.Destination{Mesh: mesh, Tags: tags}
	name := d.Name()
	return b.destinations.Get(name, func() *destination { return &destination{Destination: d, name: name} })
}

// list returns the one pointer for a list of confs of a snapshot.
func (sb *snapshotBuilder) list(l *confList) *confList {
	l.lacks = sb.client.Lacks & l.asks
	return sb.Builder.confs.get(l, func() *confList {
		kept := *l
		kept.own = slices.Clone(l.own)
		return &kept
	})
}

// finish calls Finish of the translators with the messages of a part, and marshals them.
// Lacks is what the client lacks.
func (b *Builder) finish(p *draft, lacks capability.Set, confs finishConfs) *built {
	return b.finishBy(p, lacks, confs, func(t wire.Type, name string, m proto.Message) *wire.Resource {
		return b.resources.makeWith(p.peers, t, name, m)
	})
}

// finishOwn is finish for a part of one dataplane; before is what the part was in the
// previous snapshot, or nil.
func (b *Builder) finishOwn(p *draft, lacks capability.Set, confs finishConfs, before *built) *built {
	return b.finishBy(p, lacks, confs, func(t wire.Type, name string, m proto.Message) *wire.Resource {
		return b.resources.makeOwn(t, name, m, before)
	})
}

func (b *Builder) finishBy(p *draft, lacks capability.Set, confs finishConfs, marshal func(wire.Type, string, proto.Message) *wire.Resource) *built {
	p.confs, p.Lacks, p.Places, p.OfKuma = append(p.confs, confs.confs...), lacks, confs.places, b.semantics != semantics.TargetRef
	for i, t := range b.shape.finish {
		t.Finish(&p.Part, confs.confs[i])
	}
	done := &built{
		resources: make([]*wire.Resource, len(p.Messages)),
		warnings:  p.Warnings, refers: p.references(), applied: p.Applied, changes: p.Changes, policies: p.shapedBy(),
	}
	for i, m := range p.Messages {
		t, name := nameOf(m)
		done.resources[i] = marshal(t, name, m)
	}
	if p.key != nil && refersTo(done.resources, wire.ClusterType, p.key.Name) { // a patch may have removed the cluster
		done.resources = append(done.resources, p.key)
	}
	return done
}

// nameOf returns the type and the name of a message of a part.
func nameOf(m proto.Message) (wire.Type, string) {
	switch m := m.(type) {
	case *clusterv3.Cluster:
		return wire.ClusterType, m.Name
	case *endpointv3.ClusterLoadAssignment:
		return wire.EndpointType, m.ClusterName
	case *listenerv3.Listener:
		return wire.ListenerType, m.Name
	case *routev3.RouteConfiguration:
		return wire.RouteType, m.Name
	}
	panic("a part cannot have a message of this type")
}

// At returns the state of a view. Its cost is proportional to the difference from the
// previous view, if both are of one engine.
func (b *Builder) At(view *core.View) *State {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.semantics != view.Semantics() {
		b.semantics = view.Semantics()
		for _, reads := range []*tagReading{&b.clusters.reads, &b.endpoints.reads, &b.routes.reads, &b.outbounds.reads} {
			*reads = tagReadingOf(b.semantics)
		}
	}
	if b.last == nil || b.last.view != view {
		b.last = newState(b, view, b.last)
	}
	return b.last
}
