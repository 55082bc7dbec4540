package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/diag"
	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Snapshot is the resources of one dataplane (SPEC 11.1). It is immutable.
type Snapshot struct {
	// Dataplane is the version of the dataplane that the snapshot was built from.
	Dataplane *resource.Dataplane
	// Identity is the identity of the dataplane; nil if it has none. Certificates of provider
	// Bundled are not in the snapshot: the xDS server signs them.
	Identity *identity.Identity
	byType   [wire.NumTypes][]*wire.Resource
	warnings []xds.Warning
	silent   []xds.Warning // about the proxy as a whole; a part has its own
	own      []*built      // inbounds first, in their order
	shared   *outboundParts
	secrets  *built // one of own

	client xds.Client
	// The inputs, in addition to Dataplane and client.
	basis  atomic.Pointer[basis]
	inputs inputSet      // that own was built from; see also shared
	zone   *zoneReads    // what the listeners of a zone proxy were built from; nil: there are none
	warned []xds.Warning // of the outbounds
	// mesh is the state for which the inputs were compared last. Older states are not
	// kept.
	mesh atomic.Pointer[meshState]

	served  atomic.Pointer[served]
	keyless atomic.Pointer[wire.Snapshot]
}

// API returns the listeners that gRPC clients ask for by name, sorted by name; they are
// not a part of what a wildcard selects (SPEC 11.4). The caller must not change the
// slice.
func (s *Snapshot) API() []*wire.Resource { return s.shared.api }

// Resources returns the resources of a type, sorted by name. The caller must not
// change the slice.
func (s *Snapshot) Resources(t wire.Type) []*wire.Resource { return s.byType[t] }

// Warnings returns what policies and the dataplane ask for and do not get, sorted.
// The caller must not change the slice.
func (s *Snapshot) Warnings() []xds.Warning { return s.warnings }

// ShapedBy returns the policies that shaped a resource of the snapshot, together with
// the resources that were built with it, sorted by kind and identity.
func (s *Snapshot) ShapedBy(r *wire.Resource) []*resource.Policy {
	for _, part := range slices.Concat(s.own, s.shared.parts) {
		if slices.Contains(part.resources, r) {
			return part.policies
		}
	}
	return nil
}

// snapshotKey identifies what is kept of a dataplane: a snapshot for the newest release, one
// for an older one, and one for gRPC. A dataplane has usually one proxy. If there are several
// of different older releases, only the last snapshot is kept.
type snapshotKey struct {
	dataplane resource.ID
	client    xds.ClientType
	older     bool // the client lacks capabilities
}

// forget removes the snapshots of a dataplane that no longer exists.
func (b *Builder) forget(id resource.ID) {
	for _, client := range []xds.ClientType{xds.Envoy, xds.ProxylessGRPC} {
		b.snapshots.Delete(snapshotKey{id, client, false})
		b.snapshots.Delete(snapshotKey{id, client, true})
	}
}

// Snapshot returns the snapshot of a dataplane of the view. It is the one of an
// earlier state if nothing changed that it depends on; then the call allocates
// nothing. It is for the newest release of the type; see SnapshotFor.
func (s *State) Snapshot(d *resource.Dataplane, client xds.ClientType) *Snapshot {
	return s.SnapshotFor(d, xds.Client{Type: client})
}

// SnapshotFor is Snapshot for a client of any release (SPEC 18.2). Snapshots of one dataplane
// share the resources whose form does not depend on the release.
func (s *State) SnapshotFor(d *resource.Dataplane, client xds.Client) *Snapshot {
	b := s.builder
	configs := s.view.Configs(d, s.builder.scope)
	key := snapshotKey{d.ID, client.Type, client.Lacks != 0}
	known, _ := b.snapshots.Load(key)
	before, _ := known.(*Snapshot)
	if before != nil && before.client != client {
		before = nil
	}
	if before != nil && before.Dataplane == d && before.holds(s) && before.follow(s, configs) {
		if b.audit {
			before.mustEqual(s.build(d, configs, client, nil))
		}
		return before
	}
	snapshot := s.build(d, configs, client, before)
	if before != nil && before.repeats(snapshot) {
		before.basis.Store(snapshot.basis.Load())
		before.mesh.Store(snapshot.mesh.Load())
		return before
	}
	b.snapshots.Store(key, snapshot)
	return snapshot
}

// mustEqual panics if a snapshot whose reads hold differs from a new one, because then a build
// reads something that it does not record.
func (s *Snapshot) mustEqual(o *Snapshot) {
	sameWarnings := slices.EqualFunc(s.warnings, o.warnings, func(a, b xds.Warning) bool { return a.Compare(b) == 0 })
	if !sameIdentity(s.Identity, o.Identity) || !sameWarnings || !sameResources(s.API(), o.API()) {
		panic(fmt.Sprintf("an input of the snapshot of %s is not recorded: warnings %v and %v", s.Dataplane.ID, s.warnings, o.warnings))
	}
	for t := range s.byType {
		if !sameResources(s.byType[t], o.byType[t]) {
			panic(fmt.Sprintf("an input of the %s of %s is not recorded: %s and %s", wire.Type(t), s.Dataplane.ID, names(s.byType[t]), names(o.byType[t])))
		}
	}
}

// sameResources reports whether two lists have the same names and contents.
func sameResources(a, b []*wire.Resource) bool {
	return slices.EqualFunc(a, b, func(x, y *wire.Resource) bool { return x == y || x.Name == y.Name && x.Version == y.Version })
}

// same reports whether two slices are one.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// snapshotBuilder collects the parts of one snapshot.
type snapshotBuilder struct {
	*Builder
	xds.Report // of the dataplane
	in         reader
	memo       *memo.Memo
	dataplane  *resource.Dataplane
	client     xds.Client
	tls        clientTLS
	// transparent is how connections of the workload are redirected; nil: they are not.
	transparent *resource.TransparentProxy
	confs       *dataplaneConfs
	places      int // see xds.Part
	snapshot    *Snapshot
	basis       *basis // of the snapshot
	own         reads  // of the parts of snapshot.own
	shared      outboundParts
	// reached are the destinations with a cluster so far.
	reached map[*destination]bool
	// backends are destinations that routes refer to.
	backends  []*destination
	found     []destinations.Outbound // as backends, to resources
	resources *resourceLists          // of all parts
	before    *Snapshot               // an earlier one of the dataplane, or nil
	// badListeners reports that listeners may have one name for a known reason.
	badListeners bool
}

// resourceLists are resources by type. A build has them until the snapshot is done.
type resourceLists [wire.NumTypes][]*wire.Resource

// resourceRoom is the room of lists that no build has.
type resourceRoom struct{ free sync.Pool }

func (r *resourceRoom) get() *resourceLists {
	if lists, ok := r.free.Get().(*resourceLists); ok {
		return lists
	}
	return new(resourceLists)
}

func (r *resourceRoom) put(lists *resourceLists) {
	for t := range lists {
		clear(lists[t][:cap(lists[t])])
		lists[t] = lists[t][:0]
	}
	r.free.Put(lists)
}

// newSnapshot returns the builder of a snapshot without resources.
func (s *State) newSnapshot(d *resource.Dataplane, configs []*results.Config, client xds.Client) *snapshotBuilder {
	sb := &snapshotBuilder{
		Builder: s.builder, memo: &s.memo, dataplane: d, client: client,
		reached:   map[*destination]bool{},
		resources: s.builder.lists.get(),
		snapshot:  &Snapshot{Dataplane: d, client: client}, basis: &basis{configs: configs},
		Report: xds.Report{Place: d.KRI("")},
	}
	sb.in = reader{state: s, mesh: s.meshes[d.Mesh], dataplane: d, reads: &sb.own}
	sb.places = placesOf(d, len(sb.in.outbounds()))
	sb.confs = s.builder.confsOf(configs, client.Type, sb.places)
	sb.snapshot.mesh.Store(sb.in.mesh)
	sb.snapshot.basis.Store(sb.basis)
	id, err := sb.in.identity()
	sb.snapshot.Identity, sb.tls = id, tlsOf(id, client.Type)
	if err != nil {
		sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.NoSPIFFEID, Place: sb.Place, Message: err.Error(), Inspected: true})
	}
	return sb
}

// build builds the snapshot of a dataplane. Before is an earlier one of it, or nil.
func (s *State) build(d *resource.Dataplane, configs []*results.Config, client xds.Client, before *Snapshot) *Snapshot {
	sb := s.newSnapshot(d, configs, client)
	sb.before = before
	defer s.builder.lists.put(sb.resources)
	if outbounds := sb.in.outbounds(); len(outbounds) > 0 {
		sb.basis.targets = s.kindConfs(d, configs).targetsOf(outbounds)
	}
	server := sb.serverTLS()
	sb.refuseListeners()
	sb.transparent = transparentProxy(d, sb.basis.targets)
	if server.redirected = sb.transparent != nil; server.redirected {
		server.taken = takenOf(d, sb.basis.targets.list())
	}
	for i := range d.Inbounds {
		var was *built
		if before != nil && i < len(before.Dataplane.Inbounds) {
			was = before.own[i]
		}
		if !sb.semantics.Listens(d, i) {
			sb.addOwn(new(built))
			continue
		}
		sb.addOwn(sb.inbound(i, server, was))
	}
	sb.addOutbounds(before)
	sb.warnUntranslated()
	if client.Type == xds.ProxylessGRPC {
		sb.warnKindsWithoutGRPC()
		return sb.done()
	}
	for _, part := range sb.proxy(server) {
		sb.addOwn(part)
	}
	sb.addZoneListeners(server)
	sb.addSecrets(server, before)
	sb.warnRequired()
	sb.warnReached()
	return sb.done()
}

// refuseListeners reports listeners that the proxy cannot have. The loader has only warned
// of them.
func (sb *snapshotBuilder) refuseListeners() {
	for _, bad := range sb.dataplane.BadListeners() {
		sb.badListeners = true
		if sb.client.Type == xds.Envoy {
			sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.UnusableListener, Place: sb.Place, Message: bad.String(), Inspected: true, Error: true, Unusable: true})
		}
	}
}

// addOwn adds a part of the dataplane alone.
func (sb *snapshotBuilder) addOwn(part *built) {
	sb.snapshot.own = append(sb.snapshot.own, part)
	sb.add(part)
}

// addShared adds a part that other dataplanes may have too.
func (sb *snapshotBuilder) addShared(part *built) {
	sb.shared.parts = append(sb.shared.parts, part)
	sb.add(part)
}

// add adds the resources of a part, and what they refer to.
func (sb *snapshotBuilder) add(part *built) {
	sb.Warnings = append(sb.Warnings, part.warnings...)
	for _, r := range part.resources {
		sb.resources[r.Type] = append(sb.resources[r.Type], r)
	}
	if part.refers != nil {
		for _, backend := range part.refers.backends {
			sb.backends = append(sb.backends, sb.destination(backend.Mesh, backend.Tags))
		}
		sb.found = append(sb.found, part.refers.found...)
	}
}

// addSecrets adds the secrets. They are shared with the previous snapshot if they depend on
// the same.
func (sb *snapshotBuilder) addSecrets(tls serverTLS, before *Snapshot) {
	if tls.identity == nil || tls.identity.Source.Spec.Provider.Type != spiffe.Extension {
		sb.snapshot.secrets = &noSecrets
	} else if trusts := sb.in.trusts(); before != nil && before.Dataplane == sb.dataplane && sameIdentity(before.Identity, tls.identity) &&
		same(before.mesh.Load().trusts, trusts) {
		sb.snapshot.secrets = before.secrets
	} else {
		secrets, warnings := sb.secrets(sb.dataplane, tls, trusts)
		sb.snapshot.secrets = sb.secretPart(secrets, warnings)
	}
	sb.addOwn(sb.snapshot.secrets)
}

// originsOf returns the origins of a conf, which may be nil.
func originsOf(e *results.Effective) []results.Origin {
	if e == nil {
		return nil
	}
	return e.Origins
}

// done sorts the resources. Of several with one type and name the first is kept; usually
// they are the same pointer, such as a collector that several listeners use. Otherwise
// there is a warning.
func (sb *snapshotBuilder) done() *Snapshot {
	s := sb.snapshot
	for t, list := range sb.resources {
		slices.SortStableFunc(list, func(a, b *wire.Resource) int { return cmp.Compare(a.Name, b.Name) })
		list = slices.CompactFunc(list, func(a, b *wire.Resource) bool {
			if a.Name == b.Name && a != b && !sb.badListeners {
				sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.SameName, Place: a.Name, Message: "another resource of that name is left out"})
			}
			return a.Name == b.Name
		})
		sb.resources[t] = list
	}
	s.own, s.inputs = slices.Clone(s.own), sb.own.inputs // without the room that append left
	if len(sb.own.sets) > 0 {
		s.zone.sets = slices.Clone(sb.own.sets)
	}
	if s.shared == nil {
		s.shared = sb.outboundParts()
	}
	for t, list := range sb.resources {
		switch {
		case slices.Equal(list, s.shared.endpoints):
			s.byType[t] = s.shared.endpoints
		case sb.before != nil && slices.Equal(list, sb.before.byType[t]):
			s.byType[t] = sb.before.byType[t]
		default:
			s.byType[t] = slices.Clone(list)
		}
	}
	for _, w := range sb.Warnings {
		if w.Silent && w.Place == sb.Place {
			s.silent = append(s.silent, w)
		}
	}
	s.warnings = sortWarnings(slices.DeleteFunc(sb.Warnings, func(w xds.Warning) bool { return w.Silent }))
	return s
}
