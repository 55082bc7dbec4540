package fuzz

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
	"github.com/meshmatch/meshmatch/gen/laws"
)

type law = laws.Law[resource.Conf]

// lawsOf returns the laws of a Conf type: the laws of package laws, and the law that a
// merge agrees with the reference, or with a merge in its place; nil: none.
func lawsOf(c resource.ConfType, merge mergeFunc) []law {
	reference := merge
	if reference == nil {
		reference = naive.Merge
	}
	typ := laws.Type[resource.Conf]{
		NewMerger: func() laws.Merger[resource.Conf] { return c.NewMerger() },
		Equal:     c.Equal,
		Union:     c.HasUnion(),
	}
	agreement := law{Name: "agreement with the reference", Holds: func(confs []resource.Conf) error { return agrees(c, reference, confs) }}
	all := append([]law{agreement}, typ.Laws()...)
	if merge != nil {
		all = slices.DeleteFunc(all, func(l law) bool { return l.Name == "priority" })
	}
	return all
}

// agrees compares the merge of confs, lowest priority first, with the reference.
func agrees(c resource.ConfType, merge mergeFunc, confs []resource.Conf) error {
	inputs := make([]any, len(confs))
	for i, conf := range confs {
		inputs[i] = conf
	}
	conf, origins, set := merge(inputs...)
	m := c.NewMerger()
	for i := len(confs) - 1; i >= 0; i-- {
		if m.Fill(confs[i], i) {
			break
		}
	}
	if diff := Difference(conf, m.Conf()); diff != "" {
		return fmt.Errorf("the conf differs %s", diff)
	}
	if diff := Difference(append([]int{}, origins...), m.Origins([]int{})); diff != "" {
		return fmt.Errorf("the origins differ %s", diff)
	}
	leaves := map[string]int{}
	for pointer, item := range m.Leaves() {
		if _, twice := leaves[pointer]; twice {
			return fmt.Errorf("the leaf %s is reported twice", pointer)
		}
		leaves[pointer] = item
	}
	if diff := Difference(set, leaves); diff != "" {
		return fmt.Errorf("the leaves differ %s", diff)
	}
	return nil
}
