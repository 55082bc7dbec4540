package snapshot

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core"
	destinations "github.com/meshmatch/meshmatch/core/destination"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
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

	// The inputs, in addition to Dataplane. The confs of the backends of routes depend on
	// what the configs depend on.
	configs  []*rules.Config
	targets  *targetConfs // nil: no outbound leads to a resource
	found    *targetConfs // of backends of routes; nil: there are none
	collects bool         // a conf refers to a collector
	refers   bool         // a route may refer to destinations that are resources
	// collectsOutbound is collects of the outbounds alone, and warned their warnings.
	collectsOutbound bool
	warned           []xds.Warning
	exposed          []exposure // by the listeners of a zone proxy
	view             *core.View // of a dataplane with inbounds and listeners, see hasBoth
	// mesh is the state for which the inputs were compared last. Older states are not
	// kept.
	mesh atomic.Pointer[meshState]

	served atomic.Pointer[served]
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

type destinationSet struct {
	destination *destination
	set         *endpointSet
}

type snapshotKey struct {
	dataplane resource.ID
	client    xds.ClientType
}

// forget removes the snapshots of a dataplane that no longer exists.
func (b *Builder) forget(id resource.ID) {
	b.snapshots.Delete(snapshotKey{id, xds.Envoy})
	b.snapshots.Delete(snapshotKey{id, xds.ProxylessGRPC})
}

// Snapshot returns the snapshot of a dataplane of the view. It is the one of an
// earlier state if nothing changed that it depends on; then the call allocates
// nothing. With grpc it is the snapshot for a gRPC process instead of an Envoy.
func (s *State) Snapshot(d *resource.Dataplane, client xds.ClientType) *Snapshot {
	b := s.builder
	configs := s.view.Configs(d, s.builder.scope)
	key := snapshotKey{d.ID, client}
	known, _ := b.snapshots.Load(key)
	before, _ := known.(*Snapshot)
	if before != nil && before.isOf(s, d, configs) {
		return before
	}
	snapshot := s.build(d, configs, client, before)
	b.snapshots.Store(key, snapshot)
	return snapshot
}

// isOf reports whether the snapshot belongs to a dataplane of a state, with its configs.
func (s *Snapshot) isOf(state *State, d *resource.Dataplane, configs []*rules.Config) bool {
	if s.Dataplane != d || !same(s.configs, configs) {
		return false
	}
	before, mesh := s.mesh.Load(), state.meshes[d.Mesh]
	if hasBoth(d) && s.view != state.view {
		return false
	}
	if before == mesh {
		return true
	}
	if before.open != mesh.open || before.passthroughOff != mesh.passthroughOff || before.identities != mesh.identities || !same(before.trusts, mesh.trusts) {
		return false
	}
	if s.collects && before.collectors != mesh.collectors {
		return false
	}
	if before.destinations != mesh.destinations && (s.refers || !sameOutbounds(s.targets.list(), state.view.DestinationOutbounds(d))) {
		return false
	}
	if len(d.Listeners) > 0 && (before.destinations != mesh.destinations || before.zones != mesh.zones) && !slices.Equal(s.exposed, mesh.exposures(state.builder, d)) {
		return false
	}
	for _, known := range s.shared.sets {
		if before.destinations != mesh.destinations && known.destination.target.hasOtherSecrets(mesh.destinations) {
			return false
		}
		if mesh.endpoints(state.builder, known.destination) != known.set {
			return false
		}
	}
	s.mesh.Store(mesh)
	return true
}

// same reports whether two slices are one.
func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// snapshotBuilder collects the parts of one snapshot.
type snapshotBuilder struct {
	*Builder
	xds.Report // of the dataplane
	mesh       *meshState
	memo       *xds.Memo
	dataplane  *resource.Dataplane
	client     xds.ClientType
	tls        clientTLS
	// transparent is how connections of the workload are redirected; nil: they are not.
	transparent *resource.TransparentProxy
	confs       *dataplaneConfs
	snapshot    *Snapshot
	shared      outboundParts
	// reached are the destinations with a cluster so far.
	reached map[*destination]bool
	// backends are destinations that routes refer to.
	backends  []*destination
	found     []destinations.Outbound         // as backends, to resources
	resources [wire.NumTypes][]*wire.Resource // of all parts
	// badListeners reports that listeners may have one name for a known reason.
	badListeners bool
}

// newSnapshot returns the builder of a snapshot without resources.
func (s *State) newSnapshot(d *resource.Dataplane, configs []*rules.Config, client xds.ClientType) *snapshotBuilder {
	mesh := s.meshes[d.Mesh]
	id, err := mesh.identities.Of(d)
	sb := &snapshotBuilder{
		Builder: s.builder, mesh: mesh, memo: &s.memo, dataplane: d, client: client, tls: tlsOf(id, client), confs: s.builder.confsOf(configs, client),
		reached:  map[*destination]bool{},
		snapshot: &Snapshot{Dataplane: d, Identity: id, configs: configs},
		Report:   xds.Report{Place: d.KRI("")},
	}
	sb.snapshot.mesh.Store(mesh)
	if err != nil {
		sb.Warnings = append(sb.Warnings, xds.Warning{Code: diag.NoSPIFFEID, Place: sb.Place, Message: err.Error(), Inspected: true})
	}
	return sb
}

// build builds the snapshot of a dataplane. Before is an earlier one of it, or nil.
func (s *State) build(d *resource.Dataplane, configs []*rules.Config, client xds.ClientType, before *Snapshot) *Snapshot {
	sb := s.newSnapshot(d, configs, client)
	if outbounds := s.view.DestinationOutbounds(d); len(outbounds) > 0 {
		sb.snapshot.targets = sb.targetConfs(s.view, d, configs, outbounds)
	}
	server := sb.mesh.serverTLS(sb.snapshot.Identity, client)
	server.open = !s.view.PermissionsApply(d)
	sb.refuseListeners()
	sb.transparent = transparentProxy(d, sb.snapshot.targets)
	if server.redirected = sb.transparent != nil; server.redirected {
		server.taken = takenOf(d, sb.snapshot.targets.list())
	}
	for i := range d.Inbounds {
		var was *built
		if before != nil && i < len(before.Dataplane.Inbounds) {
			was = before.own[i]
		}
		if !s.view.Semantics().Listens(&d.Inbounds[i]) {
			sb.addOwn(new(built))
			continue
		}
		sb.addOwn(sb.inbound(i, server, was))
	}
	sb.addOutbounds(s.view, before)
	sb.warnUntranslated()
	if client == xds.ProxylessGRPC {
		sb.warnKindsWithoutGRPC()
		return sb.done()
	}
	for _, part := range sb.proxy(server) {
		sb.addOwn(part)
	}
	sb.addZoneListeners(s.view, server)
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
		if sb.client == xds.Envoy || bad.TwoInbounds {
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
	if before != nil && before.Dataplane == sb.dataplane && sameIdentity(before.Identity, tls.identity) &&
		same(before.mesh.Load().trusts, sb.mesh.trusts) {
		sb.snapshot.secrets = before.secrets
	} else {
		secrets, warnings := sb.secrets(sb.dataplane, tls, sb.mesh.trusts)
		sb.snapshot.secrets = sb.secretPart(secrets, warnings)
	}
	sb.addOwn(sb.snapshot.secrets)
}

func sameIdentity(a, b *identity.Identity) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// originsOf returns the origins of a conf, which may be nil.
func originsOf(e *rules.Effective) []rules.Origin {
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
	s.own = slices.Clone(s.own) // without the room that append left
	if s.shared == nil {
		s.shared = sb.outboundParts()
	}
	for t, list := range sb.resources {
		if slices.Equal(list, s.shared.endpoints) {
			s.byType[t] = s.shared.endpoints
		} else {
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
