package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// NotCompared is a resource that an edit changes, and for which no dataplane shows the effect
// of the edit (SPEC 10).
type NotCompared struct {
	Kind      string `json:"kind"`
	Mesh      string `json:"mesh"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Why       string `json:"why"`

	noDataplanes bool          // the reason is the mesh, not the targetRef of a policy
	pos          diag.Position // in the view that has the resource, the later one first
}

// String returns "KIND [NAMESPACE/]NAME: why".
func (n *NotCompared) String() string {
	return n.Kind + " " + strings.TrimPrefix(n.Namespace+"/"+n.Name, "/") + ": " + n.Why
}

// notCompared returns the resources of a mesh that differ and are not compared. In a mesh
// without dataplanes in the later view, or in both views, that is each resource that differs.
// Otherwise it is each policy that selects no dataplane in either view.
func notCompared(before, after *core.View, mesh, kind string) []NotCompared {
	var list []NotCompared
	add := func(meta *resource.Meta, why string, noDataplanes bool) {
		list = append(list, NotCompared{Kind: meta.Kind, Mesh: mesh, Namespace: meta.Namespace, Name: meta.Name, Why: why, noDataplanes: noDataplanes, pos: meta.Pos})
	}
	is, was := len(after.Dataplanes(mesh)) > 0, len(before.Dataplanes(mesh)) > 0
	for old, next := range changes(before.Policies(mesh), after.Policies(mesh)) {
		switch {
		case kind != "" && kind != cmp.Or(next, old).Type.Name:
		case !is && was:
			add(&cmp.Or(next, old).Meta, "the mesh has dataplanes in the old input alone", true)
		case !is:
			add(&cmp.Or(next, old).Meta, "the mesh has no dataplanes", true)
		case !selects(before, old) && !selects(after, next):
			add(&cmp.Or(next, old).Meta, "it selects no dataplane", false)
		}
	}
	if is || was || kind != "" {
		return list
	}
	const why = "the mesh has no dataplanes"
	for old, next := range changes(before.Identities(mesh).All(), after.Identities(mesh).All()) {
		add(&cmp.Or(next, old).Meta, why, true)
	}
	for old, next := range changes(before.Trusts(mesh), after.Trusts(mesh)) {
		add(&cmp.Or(next, old).Meta, why, true)
	}
	if old, next := before.Mesh(mesh), after.Mesh(mesh); old != next && (old == nil || next == nil || content.Differ(old, next)) {
		add(&cmp.Or(next, old).Meta, why, true)
	}
	return list
}

// identified is a resource with an identity.
type identified interface {
	comparable
	Identity() *resource.Meta
}

// changes yields the resources that are added, removed or changed; the zero value is an
// absent resource.
func changes[T identified](before, after []T) func(func(old, next T) bool) {
	byID := func(a, b T) int { return a.Identity().ID.Compare(b.Identity().ID) }
	return func(yield func(old, next T) bool) {
		var none T
		for old, next := range sorted.Join(slices.SortedFunc(slices.Values(before), byID), slices.SortedFunc(slices.Values(after), byID), byID) {
			if old == next || old != none && next != none && !content.Differ(old, next) {
				continue
			}
			if !yield(old, next) {
				return
			}
		}
	}
}

// selects reports whether a policy, which may be nil, selects a dataplane.
func selects(view *core.View, p *resource.Policy) bool {
	if p == nil {
		return false
	}
	selected, err := view.SelectedBy(p.ID)
	return err != nil || len(selected) > 0
}

// HasMeshWithoutDataplanes reports whether a resource was not compared because its mesh has no
// dataplanes. A gate that asks what opens or closes has no answer then.
func (d *Diff) HasMeshWithoutDataplanes() bool {
	return slices.ContainsFunc(d.NotCompared, func(n NotCompared) bool { return n.noDataplanes })
}

func (d *Diff) notComparedFindings() []diag.Diagnostic {
	return lists.MapPointers(d.NotCompared, func(n *NotCompared) diag.Diagnostic {
		finding := diag.Diagnostic{Code: diag.SelectsNothingNew, Pos: n.pos, What: "nothing was compared: " + n.String(), Hint: "check its targetRef, or give the files of the dataplanes that it is for"}
		if n.noDataplanes {
			finding.Code, finding.Hint = diag.NothingCompared, "give the dataplanes of mesh "+n.Mesh+" in both inputs too"
		}
		return finding
	})
}
