package enforce

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// selection is the selection of a placement: clusters, and dataplanes in them.
// It is immutable.
type selection struct {
	clusters index.Set
	// every reports whether the clusterSelector is empty and restricts nothing. If so,
	// clusters contains the clusters with a ManagedCluster, and every zone of dataplanes
	// is selected.
	every bool
	// anywhere reports whether the dataplanes of every zone, and those without a zone, are
	// selected. If so, there are no clusters.
	anywhere bool
	// dataplanes restricts the dataplanes within the clusters; nil: all.
	dataplanes *ocm.LabelSelector
	// listed restricts them by name; nil: all.
	listed map[ocm.DataplaneName]bool
}

func (s *selection) equal(o *selection) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.every == o.every && s.anywhere == o.anywhere && s.clusters.Equal(o.clusters) && s.sameDataplanes(o)
}

// sameDataplanes reports whether both select the same dataplanes within their clusters.
func (s *selection) sameDataplanes(o *selection) bool {
	return (s.listed == nil) == (o.listed == nil) && maps.Equal(s.listed, o.listed) && s.dataplanes.Equal(o.dataplanes)
}

// admits reports whether a dataplane of a selected cluster is selected.
func (s *selection) admits(d *resource.Dataplane) bool {
	if s.listed != nil && !s.listed[ocm.DataplaneName{Mesh: d.Mesh, Namespace: d.Namespace, Name: d.Name}] {
		return false
	}
	return s.dataplanes == nil || s.dataplanes.Matches(d.Labels)
}

// selectionOf evaluates a placement.
func (c *consequences) selectionOf(n *node) *selection {
	switch r := n.resource.(type) {
	case *ocm.PlacementRule:
		return c.ruleSelection(r)
	case *ocm.Placement:
		var clusters index.SetEditor
		for _, id := range n.users {
			if d, is := c.node(id).resource.(*ocm.PlacementDecision); is {
				c.addClusters(&clusters, d.Clusters)
			}
		}
		return &selection{clusters: clusters.Commit()}
	}
	return nil
}

func (c *consequences) ruleSelection(r *ocm.PlacementRule) *selection {
	s := &selection{anywhere: r.SelectsAnywhere(), dataplanes: r.DataplaneSelector}
	if r.Dataplanes != nil {
		s.listed = make(map[ocm.DataplaneName]bool, len(r.Dataplanes))
		for _, name := range r.Dataplanes {
			s.listed[name] = true
		}
	}
	var clusters index.SetEditor
	switch {
	case r.Decided:
		c.addClusters(&clusters, r.Decisions)
	case r.ClusterSelector == nil:
		c.addClusters(&clusters, r.Clusters)
	case r.Clusters == nil:
		s.every = r.ClusterSelector.Empty()
		c.addSelected(&clusters, r, c.sets[managed].AppendTo(nil))
	default:
		var listed index.SetEditor
		c.addClusters(&listed, r.Clusters)
		c.addSelected(&clusters, r, listed.AppendTo(nil))
	}
	s.clusters = clusters.Commit()
	return s
}

func (c *consequences) addClusters(set *index.SetEditor, clusters []string) {
	for _, cluster := range clusters {
		id, _ := c.names.Lookup(clusterName(cluster)) // the resource holds a reference to it
		set.Add(id)
	}
}

// addSelected adds the given clusters whose labels a rule's selector selects, and
// removes the others.
func (c *consequences) addSelected(set *index.SetEditor, r *ocm.PlacementRule, clusters []uint32) {
	for _, id := range clusters {
		cluster, managed := c.node(id).resource.(*ocm.ManagedCluster)
		if r.ClusterSelector.Empty() && r.Clusters != nil || managed && r.ClusterSelector.Matches(cluster.Labels) {
			set.Add(id)
		} else {
			set.Remove(id)
		}
	}
}

// reselected returns the selection of a rule after the labels of some clusters changed,
// or some clusters were added or removed.
func (c *consequences) reselected(n *node, clusters []uint32) *selection {
	r := n.resource.(*ocm.PlacementRule)
	set := n.selection.clusters.Edit()
	if r.Clusters == nil {
		c.addSelected(&set, r, clusters)
	} else {
		var listed []uint32
		for _, id := range clusters {
			if slices.Contains(r.Clusters, c.node(id).name.name) {
				listed = append(listed, id)
			}
		}
		c.addSelected(&set, r, listed)
	}
	next := *n.selection
	next.clusters = set.Commit()
	return &next
}

// ids returns the clusters of a selection; s may be nil.
func (s *selection) ids() index.Set {
	if s == nil {
		return index.Set{}
	}
	return s.clusters
}
