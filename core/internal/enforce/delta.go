package enforce

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Delta describes what an edit changes for the policies of meshes. Its size is
// proportional to the change.
type Delta struct {
	// Moved contains the placements whose selection of dataplanes changed,
	// sorted.
	Moved    []Moved
	subjects []name
}

// Moved is a placement that overrides a mesh policy and whose selection of dataplanes
// changed.
type Moved struct {
	Placement Placement
	// Regions contain every dataplane that entered or left the placement. They may
	// contain other dataplanes.
	Regions []Region
}

// Region is the set of the dataplanes that are in some zones and have some
// labels.
type Region struct {
	Anywhere bool     // every zone, and without a zone
	Every    bool     // every zone; a dataplane must still have a zone
	Zones    []string // sorted
	Labels   resource.Tags
	Names    []string // the only names of dataplanes, sorted; nil: any
}

// Policies yields the identities, in a mesh, of the mesh policies whose bindings
// changed, or whose bindings have changed clusters. Such a policy may not exist.
func (d *Delta) Policies(mesh string) iter.Seq[resource.ID] {
	return func(yield func(resource.ID) bool) {
		for _, n := range d.subjects {
			kind := strings.TrimPrefix(n.kind, meshPolicySpace)
			if !yield(resource.ID{Kind: kind, Mesh: mesh, Namespace: n.namespace, Name: n.name}) {
				return
			}
		}
	}
}

func (d *Delta) sort() {
	slices.SortFunc(d.Moved, func(a, b Moved) int { return a.Placement.compare(b.Placement) })
	slices.SortFunc(d.subjects, name.compare)
}

func (n name) compare(o name) int {
	return cmp.Or(strings.Compare(n.kind, o.kind), strings.Compare(n.namespace, o.namespace), strings.Compare(n.name, o.name))
}

// move returns the change of a placement's selection. A nil selection is empty.
func (c *consequences) move(placement Placement, before, after *selection) Moved {
	m := Moved{Placement: placement}
	if before != nil && after != nil && before.every == after.every && before.anywhere == after.anywhere && before.sameDataplanes(after) {
		changed := before.clusters.AndNot(after.clusters).Or(after.clusters.AndNot(before.clusters))
		m.Regions = regions(c.node, after, changed, false) // either both selections are every zone, or neither is
		return m
	}
	for _, s := range []*selection{before, after} {
		if s != nil {
			m.Regions = append(m.Regions, regions(c.node, s, s.clusters, s.every)...)
		}
	}
	return m
}

// maxRegions limits the regions of a selection with several values of a label.
const maxRegions = 16

// regions returns regions for the dataplanes of a selection in some clusters:
// one region for each value of a label that the selector lists.
func regions(node func(uint32) *node, s *selection, clusters index.Set, every bool) []Region {
	var zones []string
	for id := range clusters.All() {
		zones = append(zones, node(id).name.name)
	}
	slices.Sort(zones)
	var names []string
	if s.listed != nil {
		names = []string{}
		for named := range s.listed {
			names = append(names, named.Name)
		}
		slices.Sort(names)
		names = slices.Compact(names)
	}
	alternatives := []resource.Tags{nil}
	if s.dataplanes != nil {
		alternatives = requiredLabels(s.dataplanes)
	}
	var all []Region
	for _, labels := range alternatives {
		all = append(all, Region{Anywhere: s.anywhere, Every: every, Zones: zones, Labels: labels, Names: names})
	}
	return all
}

// requiredLabels returns lists of labels: every object that a selector selects has all
// labels of one of the lists.
func requiredLabels(selector *ocm.LabelSelector) []resource.Tags {
	required := map[string]string{}
	var key string
	var values []string // of key: the shortest list of several values
	for _, r := range selector.Requirements() {
		if r.Operator != ocm.In {
			continue
		}
		switch listed := r.Values; {
		case len(listed) == 1:
			required[r.Key] = listed[0]
		case len(listed) <= maxRegions && (values == nil || len(listed) < len(values)):
			key, values = r.Key, listed
		}
	}
	if values == nil {
		return []resource.Tags{resource.NewTags(required)}
	}
	var all []resource.Tags
	for _, value := range values {
		labels := maps.Clone(required)
		labels[key] = value
		all = append(all, resource.NewTags(labels))
	}
	return all
}
