package core

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// admit checks what an engine relies on, for resources that were built in code
// as well as for decoded ones (SPEC 1.2). The error is a [strict.Errors] with
// every complaint; a resource without a position is called by its identity.
func admit(kinds *resource.Kinds, b *Batch) error {
	a := admission{kinds: kinds, seen: make(map[resource.ID]strict.Position, len(b.Upsert.Dataplanes)+len(b.Upsert.Policies)+len(b.Delete))}
	for _, m := range b.Upsert.Meshes {
		if a.present(m != nil, resource.MeshKind) && a.named(&m.Meta, resource.MeshKind) {
			a.mesh(&m.Meta)
		}
	}
	for _, d := range b.Upsert.Dataplanes {
		if a.present(d != nil, resource.DataplaneKind) && a.named(&d.Meta, resource.DataplaneKind) {
			a.dataplane(d)
		}
	}
	for _, p := range b.Upsert.Policies {
		if a.present(p != nil, "policy") {
			a.policy(p)
		}
	}
	for _, id := range b.Delete {
		a.deletion(id)
	}
	return a.sink.Err()
}

type admission struct {
	kinds *resource.Kinds
	seen  map[resource.ID]strict.Position
	sink  strict.Sink
}

func (a *admission) errorf(m *resource.Meta, path, hint, format string, args ...any) {
	a.sink.Error(strict.Diagnostic{Pos: placeOf(m), Path: path, What: fmt.Sprintf(format, args...), Hint: hint})
}

func placeOf(m *resource.Meta) strict.Position {
	if m.Pos != (strict.Position{}) {
		return m.Pos
	}
	return strict.Position{File: describe(m.ID)}
}

func describe(id resource.ID) string {
	text := fmt.Sprintf("%s %q", id.Kind, id.Name)
	if id.Namespace != "" {
		text += fmt.Sprintf(" of namespace %q", id.Namespace)
	}
	return text + fmt.Sprintf(" in mesh %q", id.Mesh)
}

func (a *admission) present(ok bool, what string) bool {
	if !ok {
		a.sink.Error(strict.Diagnostic{Pos: strict.Position{File: "batch"}, What: "a " + what + " is nil"})
	}
	return ok
}

// named checks a resource's identity, and that it is the only one of it.
func (a *admission) named(m *resource.Meta, kind string) bool {
	switch {
	case m.Kind != kind:
		a.errorf(m, "type", "", "must be %s, not %q", kind, m.Kind)
	case m.Name == "":
		a.errorf(m, "name", "", "a resource's name must not be empty")
	case m.Mesh == "":
		a.errorf(m, "mesh", "", "must not be empty")
	default:
		if first, twice := a.seen[m.ID]; twice {
			a.errorf(m, "name", "it stands at "+first.String()+" already", "duplicate %s", describe(m.ID))
			return false
		}
		a.seen[m.ID] = placeOf(m)
		a.tags(m, "labels", m.Labels)
		return true
	}
	return false
}

func (a *admission) deletion(id resource.ID) {
	m := resource.Meta{ID: id}
	if id.Kind != resource.MeshKind && id.Kind != resource.DataplaneKind && a.kinds.Lookup(id.Kind) == nil {
		a.errorf(&m, "", strict.DidYouMean(id.Kind, a.kinds.Names()), "unknown kind %q", id.Kind)
		return
	}
	if id.Kind == resource.MeshKind {
		a.mesh(&m)
	}
	if _, twice := a.seen[id]; twice {
		a.errorf(&m, "", "one batch does one thing with a resource", "it is deleted, and upserted or deleted again")
	}
	a.seen[id] = placeOf(&m)
}

// mesh checks what the identity of a Mesh has beside its name.
func (a *admission) mesh(m *resource.Meta) {
	switch {
	case m.Mesh != m.Name:
		a.errorf(m, "name", "", "a Mesh is in the mesh of its own name, not in %q", m.Mesh)
	case m.Namespace != "":
		a.errorf(m, "namespace", "", "a Mesh has no namespace")
	}
}

func (a *admission) tags(m *resource.Meta, path string, tags resource.Tags) {
	for i := 1; i < len(tags); i++ {
		if tags[i-1].Key >= tags[i].Key {
			a.errorf(m, path, "make them with resource.NewTags", "are not sorted by key, or have %q twice", tags[i].Key)
			return
		}
	}
}

func (a *admission) dataplane(d *resource.Dataplane) {
	if d.Gateway != nil {
		if len(d.Inbounds) > 0 {
			a.errorf(&d.Meta, "networking.gateway", "a gateway has no inbounds", "gateway and inbound are both present")
		}
		a.tags(&d.Meta, "networking.gateway.tags", d.Gateway.Tags)
	}
	for i := range d.Inbounds {
		a.tags(&d.Meta, "networking.inbound.tags", d.Inbounds[i].Tags)
	}
	for i := range d.Outbounds {
		a.tags(&d.Meta, "networking.outbound.tags", d.Outbounds[i].Tags)
	}
}
