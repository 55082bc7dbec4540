package core

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// View is an immutable state of all meshes: resources, and the effective
// configuration of each dataplane. It is safe for concurrent use.
type View struct {
	kinds      *resource.Kinds
	reading    semantics.Reading
	meshes     []*mesh.State // sorted by name
	globals    mesh.Objects  // the objects that belong to no mesh
	superseded chan struct{} // closed when there is a newer view

	enforcement *enforce.Hub
}

// NewView returns a view of the resources, as the first commit of a new engine with these
// options publishes it. The caller must not change the resources afterwards. It returns the
// errors of [Engine.Apply].
func (o Options) NewView(ctx context.Context, kinds *resource.Kinds, set *resource.Set) (*View, error) {
	commit, err := NewEngine(kinds, o).Apply(ctx, Batch{Upsert: set})
	return commit.After, err
}

// Options returns the options of the engine, with its order.
func (v *View) Options() Options { return Options(v.reading) }

// Superseded returns a channel that is closed when the engine has a newer view.
func (v *View) Superseded() <-chan struct{} { return v.superseded }

// Enforcement returns the placements and bindings, and where they enforce policies
// (SPEC 8).
func (v *View) Enforcement() *enforce.Hub { return v.enforcement }

// Kinds returns the policy kinds of the engine.
func (v *View) Kinds() *resource.Kinds { return v.kinds }

// Semantics returns how the view reads policies (SPEC 17.1).
func (v *View) Semantics() Semantics { return v.reading.Semantics }

// states returns the states of the meshes, sorted by name. A nil view has none.
func (v *View) states() []*mesh.State {
	if v == nil {
		return nil
	}
	return v.meshes
}

// objects returns the objects that belong to no mesh. A nil view has none.
func (v *View) objects() mesh.Objects {
	if v == nil {
		return nil
	}
	return v.globals
}

// Meshes returns the names of the meshes, sorted.
func (v *View) Meshes() []string {
	names := make([]string, len(v.meshes))
	for i, m := range v.meshes {
		names[i] = m.Name()
	}
	return names
}

// meshOf returns the state of a dataplane's mesh, or nil.
func (v *View) meshOf(d *resource.Dataplane) *mesh.State {
	if d == nil {
		return nil
	}
	return v.mesh(d.Mesh)
}

// mesh returns the state of a mesh, or nil.
func (v *View) mesh(name string) *mesh.State {
	if at, found := v.find(name); found {
		return v.meshes[at]
	}
	return nil
}

// inMesh returns what a mesh has, or zero if there is no mesh.
func inMesh[T any](m *mesh.State, get func(*mesh.State) T) (t T) {
	if m != nil {
		t = get(m)
	}
	return t
}

// find returns the index of a mesh, or the index at which to insert it.
func (v *View) find(name string) (at int, found bool) {
	return slices.BinarySearchFunc(v.meshes, name, func(m *mesh.State, name string) int { return strings.Compare(m.Name(), name) })
}

// put sets the state of a mesh; nil removes the mesh.
func (v *View) put(name string, m *mesh.State) {
	at, found := v.find(name)
	switch {
	case m == nil && found:
		v.meshes = slices.Delete(v.meshes, at, at+1)
	case found:
		v.meshes[at] = m
	case m != nil:
		v.meshes = slices.Insert(v.meshes, at, m)
	}
}

// Dataplanes returns the dataplanes of a mesh, sorted by identity. The caller must not
// change the slice. The first call after a dataplane was added, changed or removed sorts
// them; [View.Dataplane] does not.
func (v *View) Dataplanes(name string) []*resource.Dataplane {
	return inMesh(v.mesh(name), (*mesh.State).Dataplanes)
}

// Dataplane returns the dataplane with the mesh, namespace and name of id, or
// nil.
func (v *View) Dataplane(id resource.ID) *resource.Dataplane {
	if m := v.mesh(id.Mesh); m != nil {
		return m.Dataplane(id)
	}
	return nil
}

// DataplaneOf returns the dataplane with a KRI (SPEC 10), such as the id of an Envoy node, or
// nil.
func (v *View) DataplaneOf(kri string) *resource.Dataplane {
	id, zone, ok := resource.ParseDataplaneKRI(kri)
	if !ok {
		return nil
	}
	if d := v.Dataplane(id); d != nil && d.Zone() == zone {
		return d
	}
	return nil
}

// Policies returns the policies of a mesh, of all kinds, sorted by identity.
func (v *View) Policies(name string) []*resource.Policy {
	return inMesh(v.mesh(name), (*mesh.State).Policies)
}

// Policy returns the policy with the identity, or nil.
func (v *View) Policy(id resource.ID) *resource.Policy {
	if m := v.mesh(id.Mesh); m != nil {
		return m.Policy(id)
	}
	return nil
}

// Mesh returns the Mesh resource with the name, or nil. A mesh with other resources need
// not have one (SPEC 1.2).
func (v *View) Mesh(name string) *resource.Mesh { return inMesh(v.mesh(name), (*mesh.State).Document) }

// Objects returns the objects of a mesh, such as its MeshServices, sorted by identity
// (SPEC 17.2). For the empty name it returns the objects without a mesh, such as zones.
// [resource.ObjectsOf] selects one type. The caller must not change the slice.
// Views return the same slice until an object of the mesh is added, changed, removed, or
// moved in its file.
func (v *View) Objects(name string) []resource.Object {
	if name == "" {
		return v.globals
	}
	return inMesh(v.mesh(name), (*mesh.State).Objects)
}

// Object returns the object with the identity, or nil.
func (v *View) Object(id resource.ID) resource.Object {
	if resource.IsGlobal(id.Kind) {
		return v.globals.Get(id)
	}
	return inMesh(v.mesh(id.Mesh), (*mesh.State).Objects).Get(id)
}

// Identities returns the MeshIdentities of a mesh, ready to be evaluated for its
// dataplanes (SPEC 11.6). Nil gives no dataplane an identity. Views return the same
// pointer until a MeshIdentity of the mesh is added, changed, removed, or moved in its
// file.
func (v *View) Identities(name string) *identity.Identities {
	return inMesh(v.mesh(name), (*mesh.State).Identities)
}

// PermissionsApply reports whether the MeshTrafficPermissions of a dataplane are applied:
// if not, every client may call it (SPEC 17.1). They apply to a dataplane that a
// MeshIdentity selects, even if the MeshIdentity cannot give it a SPIFFE ID.
func (v *View) PermissionsApply(d *resource.Dataplane) bool {
	mesh := v.Mesh(d.Mesh)
	if v.reading.Semantics.PermissionsApply(mesh, false) {
		return true
	}
	id, err := v.Identities(d.Mesh).IdentityOf(d)
	return v.reading.Semantics.PermissionsApply(mesh, id != nil || err != nil)
}

// Trusts returns the MeshTrusts of a mesh, sorted by identity (SPEC 11.6). The caller
// must not change the slice. Views return the same slice until one of them is added,
// changed, removed, or moved in its file.
func (v *View) Trusts(name string) []*resource.MeshTrust {
	return inMesh(v.mesh(name), (*mesh.State).Trusts)
}

// Configs returns the configs of a dataplane, sorted by kind, for the kinds with policies
// that select it. The caller must not change the slice. For a dataplane of the view the
// slice is shared with other dataplanes and the call allocates nothing. For any other
// dataplane, such as one that is about to join its mesh, it is computed. A nil dataplane,
// as [View.Dataplane] may return it, has no configs.
func (v *View) Configs(d *resource.Dataplane, scope Scope) []*results.Config {
	if m := v.meshOf(d); m != nil {
		return m.Configs(d, scope)
	}
	return nil
}

// Config returns the config of a dataplane by the policies of one kind. If none
// of them selects the dataplane, its outbounds and their routes have no confs. The
// error is an [ErrUnknownKind], an [ErrUnknownMesh], or an [ErrUnknownResource] if the
// dataplane is nil.
func (v *View) Config(d *resource.Dataplane, kind string, scope Scope) (*results.Config, error) {
	k := v.kinds.Lookup(kind)
	if k == nil {
		return nil, v.unknownKind(kind)
	}
	if d == nil {
		return nil, fmt.Errorf("%w: the dataplane is nil", ErrUnknownResource)
	}
	m := v.mesh(d.Mesh)
	if m == nil {
		return nil, fmt.Errorf("%w %q", ErrUnknownMesh, d.Mesh)
	}
	return m.Config(d, k, scope), nil
}

func (v *View) unknownKind(name string) error {
	err := fmt.Errorf("%w %q", ErrUnknownKind, name)
	if hint := diag.DidYouMean(name, v.kinds.Names()); hint != "" {
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// Destinations returns the destinations of a mesh, by which references are resolved (SPEC
// 17.3). It returns nil for an unknown mesh.
func (v *View) Destinations(name string) *destination.Directory {
	return inMesh(v.mesh(name), (*mesh.State).Destinations)
}

// Collectors returns the MeshOpenTelemetryBackends of a mesh, by which references of
// policies are resolved (SPEC 17.3); nil if it has none. Views return the same pointer until
// one of them is added, changed, removed, or moved in its file.
func (v *View) Collectors(name string) *collector.Directory {
	return inMesh(v.mesh(name), (*mesh.State).Collectors)
}

// DestinationOutbounds returns the outbounds of a dataplane whose destinations are
// resources: those that it lists by reference, or those that it reaches as a transparent
// proxy (SPEC 17.3). The caller must not change the slice.
func (v *View) DestinationOutbounds(d *resource.Dataplane) []destination.Outbound {
	if m := v.meshOf(d); m != nil {
		return m.Destinations().Outbounds(d)
	}
	return nil
}

// DestinationConfs returns the confs of the [View.DestinationOutbounds] of a dataplane by
// the policies of one kind, or nil for an unknown kind or one without `to`. The confs are
// computed on demand and are in no [Change]; [CompareDestinations] names what changes
// them. Equal items give one pointer for all dataplanes of the view.
func (v *View) DestinationConfs(d *resource.Dataplane, kind string, scope Scope) *destination.Confs {
	if m := v.meshOf(d); m != nil && v.kinds.Lookup(kind) != nil {
		return m.DestinationConfs(d, kind, scope)
	}
	return nil
}

// PassthroughConf returns the conf of the connections of a dataplane to addresses that are no
// outbounds, by the policies of one kind. It is the conf of the `to` items for the whole mesh
// (SPEC 11.5, MeshAccessLog). It is nil if there are none, or for an unknown kind.
func (v *View) PassthroughConf(d *resource.Dataplane, kind string, scope Scope) *results.Effective {
	if m := v.meshOf(d); m != nil && v.kinds.Lookup(kind) != nil {
		return m.PassthroughConf(d, kind, scope)
	}
	return nil
}

// ListenerConfigs returns the configs of the listeners of a builtin gateway or of a zone
// proxy by the policies of one kind (SPEC 17.3). They are parallel to
// [resource.Dataplane.GatewayListeners] or [semantics.Semantics.ZoneListeners]. It
// returns nil for an unknown kind and for one that has no confs for listeners. They are
// computed at each call, and are in no [Change].
func (v *View) ListenerConfigs(d *resource.Dataplane, kind string, scope Scope) []*results.ListenerConfig {
	if m := v.meshOf(d); m != nil && v.kinds.Lookup(kind) != nil {
		return m.ListenerConfigs(d, v.kinds.Lookup(kind), scope)
	}
	return nil
}

// Selection is a dataplane that a policy selects.
type Selection struct {
	Dataplane *resource.Dataplane
	// Inbounds are the inbounds that the policy selects and, as the next indexes, the
	// listeners of a zone proxy or of a builtin gateway; empty on a dataplane without any.
	Inbounds results.InboundSet
	// Enforced reports whether the policy is enforced on the dataplane. If not, it
	// only informs (SPEC 8.3).
	Enforced bool
}

// SelectedBy returns the dataplanes that a policy selects, sorted by identity. Its cost
// is proportional to the number of profiles and of dataplanes returned. The error is an
// [ErrUnknownKind] or an [ErrUnknownResource].
func (v *View) SelectedBy(policy resource.ID) ([]Selection, error) {
	p := v.Policy(policy)
	switch {
	case v.kinds.Lookup(policy.Kind) == nil:
		return nil, v.unknownKind(policy.Kind)
	case p == nil:
		return nil, fmt.Errorf("%w: %s", ErrUnknownResource, policy)
	}
	var out []Selection
	for s := range v.mesh(policy.Mesh).SelectedBy(p) {
		out = append(out, Selection(s))
	}
	slices.SortFunc(out, func(a, b Selection) int { return a.Dataplane.ID.Compare(b.Dataplane.ID) })
	return out, nil
}

// has reports whether there is a resource with the identity.
func (v *View) has(id resource.ID) bool {
	if ocm.IsKind(id.Kind) && id.Mesh == "" {
		return v.enforcement.Resource(id) != nil
	}
	if resource.IsGlobal(id.Kind) {
		return v.globals.Get(id) != nil
	}
	m := v.mesh(id.Mesh)
	return m != nil && m.Has(id)
}

// Count returns the number of resources by kind, without placements, bindings and
// other documents.
func (v *View) Count() map[string]int {
	counts := map[string]int{}
	for _, m := range v.meshes {
		m.Count(counts)
	}
	v.globals.Count(counts)
	maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
	return counts
}
