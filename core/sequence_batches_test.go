package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// batchText returns a batch as text: the first batches have the mesh.
func batchText(n int, batch core.Batch) string {
	var text strings.Builder
	fmt.Fprintf(&text, "batch %d:", n)
	for _, id := range batch.Delete {
		fmt.Fprintf(&text, "\n  delete %s", id)
	}
	add := func(id resource.ID, content any) {
		written, err := json.Marshal(content)
		if err != nil {
			written = fmt.Appendf(nil, "%+v", content)
		}
		fmt.Fprintf(&text, "\n  upsert %s %s", id, written)
	}
	if set := batch.Upsert; set != nil {
		for _, m := range set.Meshes {
			add(m.ID, m)
		}
		for _, d := range set.Dataplanes {
			add(d.ID, d)
		}
		for _, p := range set.Policies {
			add(p.ID, p)
		}
		for _, d := range set.Documents {
			add(d.ID, d)
		}
		for _, o := range set.Objects {
			add(o.Identity().ID, o)
		}
	}
	return text.String()
}

func (s *sequence) take(n int) []byte {
	n = min(n, len(s.bytes))
	taken := s.bytes[:n]
	s.bytes = s.bytes[n:]
	return taken
}

func (s *sequence) intn(n int) int {
	if b := s.take(1); len(b) > 0 {
		return int(b[0]) % n
	}
	return 0
}

// step applies one batch: it adds or replaces some resources of a scenario, changes one
// thing of some known resources, and removes some.
func (s *sequence) step() {
	batch := core.Batch{Upsert: new(resource.Set)}
	if len(s.known.policies) > 0 && s.intn(3) == 0 {
		s.replaceConfs(&batch)
		s.apply(batch)
		return
	}
	set, err := s.generator.Scenario(s.take(20 + s.intn(80))).Load()
	if err != nil {
		s.Fatal(err)
	}
	keep := s.intn(4)
	batch.Upsert.Dataplanes = slices.DeleteFunc(set.Dataplanes, func(*resource.Dataplane) bool { return s.intn(4) < keep })
	batch.Upsert.Policies = slices.DeleteFunc(set.Policies, func(*resource.Policy) bool { return s.intn(4) < keep })
	s.addIdentities(&batch)
	batch.Upsert.Documents = slices.DeleteFunc(set.Documents, func(*resource.Document) bool { return s.intn(4) < keep })
	batch.Upsert.Objects = append(batch.Upsert.Objects, slices.DeleteFunc(set.Objects, func(o resource.Object) bool {
		_, is := o.(*resource.MeshIdentity) // those of addIdentities are valid in each mesh
		return is || s.intn(4) < keep
	})...)
	batch.Upsert.Meshes = set.Meshes
	taken := map[resource.ID]bool{}
	for _, m := range batch.Upsert.Meshes {
		taken[m.ID] = true
	}
	for _, o := range batch.Upsert.Objects {
		taken[o.Identity().ID] = true
	}
	for _, mesh := range []string{"default", "other", "another"} {
		if s.intn(8) == 1 {
			m := &resource.Mesh{Meta: resource.Meta{ID: resource.ID{Kind: resource.MeshKind, Mesh: mesh, Name: mesh}}}
			if taken[m.ID] {
				continue
			}
			batch.Upsert.Meshes = append(batch.Upsert.Meshes, m)
			taken[m.ID] = true
		}
	}
	for _, d := range batch.Upsert.Dataplanes {
		taken[d.ID] = true
	}
	for _, p := range batch.Upsert.Policies {
		taken[p.ID] = true
	}
	for _, d := range batch.Upsert.Documents {
		taken[d.ID] = true
	}
	for _, id := range s.known.ids() {
		if taken[id] {
			continue
		}
		switch s.intn(12) {
		case 1:
			batch.Delete = append(batch.Delete, id)
		case 2, 3:
			s.mutate(id, &batch)
		}
	}
	s.apply(batch)
}

// replaceConfs makes new versions of some policies with other confs and otherwise equal.
func (s *sequence) replaceConfs(batch *core.Batch) {
	for _, id := range s.known.ids() {
		p := s.known.policies[id]
		if p == nil || s.intn(6) != 0 {
			continue
		}
		next := *p
		next.Pos.Line++
		next.To, next.From, next.Rules = slices.Clone(p.To), slices.Clone(p.From), slices.Clone(p.Rules)
		for i := range next.To {
			if next.To[i].Conf = p.To[s.intn(len(p.To))].Conf; s.intn(8) == 0 {
				next.To[i].Conf = p.Type.To.Conf.NewMerger().Conf()
			}
		}
		for i := range next.From {
			next.From[i].Conf = p.From[s.intn(len(p.From))].Conf
		}
		for i := range next.Rules {
			next.Rules[i].Conf = p.Rules[s.intn(len(p.Rules))].Conf
		}
		batch.Upsert.Policies = append(batch.Upsert.Policies, &next)
	}
}

// mutate changes one thing of a resource.
func (s *sequence) mutate(id resource.ID, batch *core.Batch) {
	if d := s.known.dataplanes[id]; d != nil {
		next := *d
		next.Outbounds, next.Inbounds = slices.Clone(d.Outbounds), slices.Clone(d.Inbounds)
		switch s.intn(8) {
		case 0:
			next.Address = fmt.Sprintf("10.0.0.%d", s.intn(3))
		case 1:
			next.Labels = resource.NewTags(map[string]string{"app": []string{"x", "y"}[s.intn(2)]})
		case 2:
			if len(next.Outbounds) > 0 {
				next.Outbounds = next.Outbounds[1:]
			}
		case 3:
			slices.Reverse(next.Inbounds)
		case 4:
			slices.Reverse(next.Outbounds)
		case 5:
			next.Pos.Line++ // another version with the same content
		case 6:
			for i := range next.Inbounds {
				next.Inbounds[i].Tags = s.tags()
			}
		case 7:
			next.Inbounds, next.Gateway = nil, &resource.GatewayProxy{Builtin: s.intn(2) == 1, Tags: s.tags()}
		}
		batch.Upsert.Dataplanes = append(batch.Upsert.Dataplanes, &next)
	}
	if p := s.known.policies[id]; p != nil {
		next := *p
		next.To = slices.Clone(p.To)
		switch s.intn(6) {
		case 0: // another version with the same content
			next.Pos.Line++
		case 1:
			labels := map[string]string{}
			if !p.Shadow() {
				labels[resource.EffectLabel] = "shadow"
			}
			next.Labels = resource.NewTags(labels)
		case 2:
			next.TargetRef = resource.TargetRef{Kind: resource.TargetMesh}
		case 3: // the content of another policy
			other := s.known.policies[s.known.ids()[s.intn(len(s.known.ids()))]]
			if other != nil && p.Type.Top.Has(other.TargetRef.Kind) {
				next.TargetRef = other.TargetRef
			}
		case 4:
			slices.Reverse(next.To)
		case 5:
			if len(next.To) > 0 {
				next.To = next.To[1:]
			}
		}
		batch.Upsert.Policies = append(batch.Upsert.Policies, &next)
	}
}

func (s *sequence) tags() resource.Tags {
	return resource.NewTags(map[string]string{
		resource.ServiceTag: []string{"web", "api"}[s.intn(2)],
		"version":           []string{"v1", "v2"}[s.intn(2)],
	})
}

// world contains resources by identity.
type world struct {
	meshes     map[resource.ID]*resource.Mesh
	dataplanes map[resource.ID]*resource.Dataplane
	policies   map[resource.ID]*resource.Policy
	documents  map[resource.ID]*resource.Document // placements and bindings
	objects    map[resource.ID]resource.Object
}

func newWorld() world {
	return world{
		meshes:     map[resource.ID]*resource.Mesh{},
		dataplanes: map[resource.ID]*resource.Dataplane{},
		policies:   map[resource.ID]*resource.Policy{},
		documents:  map[resource.ID]*resource.Document{},
		objects:    map[resource.ID]resource.Object{},
	}
}

func (w *world) apply(b core.Batch) {
	for _, id := range b.Delete {
		delete(w.meshes, id)
		delete(w.dataplanes, id)
		delete(w.policies, id)
		delete(w.documents, id)
		delete(w.objects, id)
	}
	if b.Upsert == nil {
		return
	}
	for _, m := range b.Upsert.Meshes {
		w.meshes[m.ID] = m
	}
	for _, d := range b.Upsert.Dataplanes {
		w.dataplanes[d.ID] = d
	}
	for _, p := range b.Upsert.Policies {
		w.policies[p.ID] = p
	}
	for _, d := range b.Upsert.Documents {
		w.documents[d.ID] = d
	}
	for _, o := range b.Upsert.Objects {
		w.objects[o.Identity().ID] = o
	}
}

// ids returns all identities, sorted.
func (w *world) ids() []resource.ID {
	var ids []resource.ID
	for id := range w.meshes {
		ids = append(ids, id)
	}
	for id := range w.dataplanes {
		ids = append(ids, id)
	}
	for id := range w.policies {
		ids = append(ids, id)
	}
	for id := range w.documents {
		ids = append(ids, id)
	}
	for id := range w.objects {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, resource.ID.Compare)
	return ids
}

// set returns the resources, not sorted.
func (w *world) set() *resource.Set {
	var set resource.Set
	for _, m := range w.meshes {
		set.Meshes = append(set.Meshes, m)
	}
	for _, d := range w.dataplanes {
		set.Dataplanes = append(set.Dataplanes, d)
	}
	for _, p := range w.policies {
		set.Policies = append(set.Policies, p)
	}
	for _, d := range w.documents {
		set.Documents = append(set.Documents, d)
	}
	for _, o := range w.objects {
		set.Objects = append(set.Objects, o)
	}
	return &set
}
