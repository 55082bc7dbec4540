package shape

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
)

// A Selection is an input for an index of label selectors. Each selector requires labels
// with values. An item matches a selector if it has all of these labels.
type Selection struct {
	Name      string
	Source    string // the repository, the file and the commit that describe the input
	Selectors []map[string]string
	Items     []map[string]string
}

const calicoPresent = "true" // the value of a label that only has to be present

// CalicoIPSets returns the input of felix/labelindex/named_port_bench_test.go: all n
// selectors share one label with all items, and each has one label of its own. Items have the
// label of the second selector.
func CalicoIPSets(n, items int) Selection {
	s := Selection{Name: "ipsets", Source: "projectcalico/calico felix/labelindex/named_port_bench_test.go at 28296aaef873"}
	own := func(i int) map[string]string {
		return map[string]string{"alpha": "beta", fmt.Sprintf("ipset-%d", i): calicoPresent}
	}
	for i := range n {
		s.Selectors = append(s.Selectors, own(i))
	}
	for range items {
		s.Items = append(s.Items, own(1))
	}
	return s
}

// CalicoTags returns the input of felix/calc/calc_graph_bench_test.go: selectors that
// require one of 29 marker labels, and items with one marker and with five labels of 10 to
// 40 values.
func CalicoTags(n, items int) Selection {
	s := Selection{Name: "tags", Source: "projectcalico/calico felix/calc/calc_graph_bench_test.go at 036c024ded8c"}
	for i := range n {
		s.Selectors = append(s.Selectors, map[string]string{calicoMarker(i): calicoPresent})
	}
	for i := range items {
		s.Items = append(s.Items, calicoTags(i+1))
	}
	return s
}

// calicoMarker returns the marker label of a number. Calico's list has 31 labels; the first
// and the second are equal, and so are two others.
func calicoMarker(i int) string {
	i %= 31
	switch i {
	case 0:
		i = 1
	case 30:
		i = 20
	}
	return fmt.Sprintf("marker-%d", i)
}

func calicoTags(i int) map[string]string {
	labels := map[string]string{calicoMarker(i): calicoPresent}
	for _, values := range []int{10, 11, 20, 30, 40} {
		labels[fmt.Sprintf("one-in-%d", values)] = fmt.Sprintf("value-%d", i%values)
	}
	return labels
}

// CalicoDataplane returns dataplane number j of the fleet, whose inbounds also have the
// labels of item number j of [CalicoTags] as tags.
func CalicoDataplane(j, outbounds int) *resource.Dataplane {
	d := Dataplane(j, outbounds)
	for i := range d.Inbounds {
		tags := calicoTags(j + 1)
		for _, tag := range d.Inbounds[i].Tags {
			tags[tag.Key] = tag.Value
		}
		d.Inbounds[i].Tags = resource.NewTags(tags)
	}
	return d
}

// Calico returns n policies with the selectors of [CalicoTags].
func Calico(kind *resource.Kind, n int) []*resource.Policy {
	return policies(kind, n, func(i int) resource.TargetRef {
		return resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.Tags{{Key: calicoMarker(i), Value: calicoPresent}}}
	})
}
