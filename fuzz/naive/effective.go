package naive

import "github.com/meshmatch/meshmatch/core/resource"

// Merge folds confs of one type, pointers to structs, from the lowest priority to the
// highest (SPEC 6). It returns the conf as JSON, nil if there are no confs. It also returns
// the confs that set a leaf, ascending, and the conf that set each leaf, by JSON pointer.
func Merge(confs ...any) (conf any, origins []int, leaves map[string]int) {
	var merged *node
	for i, conf := range confs {
		merged = merge(merged, read(conf, i))
	}
	if merged == nil {
		return nil, nil, nil
	}
	return merged.json(), merged.origins(), merged.leaves()
}

// item is one conf in a concatenation (SPEC 4.1).
type item struct {
	policy *resource.Policy
	index  int // in its array; 0 for a default
	conf   any
}

func (i item) origin() map[string]any {
	return map[string]any{"kri": policyKRI(i.policy), "index": i.index}
}

// origin returns the origin in the form of answers.
func (m *mesh) origin(i item) map[string]any {
	return map[string]any{"kri": m.policyKRI(i.policy), "index": i.index}
}

// addConf adds the C of SPEC 10 to an answer: the merged conf of the items and its
// origins. If there are no items, it adds nothing.
func (m *mesh) addConf(answer map[string]any, items []item) {
	if len(items) == 0 {
		return
	}
	var confs []any
	for _, item := range items {
		confs = append(confs, m.asStored(item.conf))
	}
	conf, set, leaves := m.merge(confs...)
	origins := []any{}
	for _, i := range set {
		origins = append(origins, m.origin(items[i]))
	}
	answer["conf"], answer["origins"] = conf, origins
	m.addCollectors(answer, conf)
	if m.explain {
		fields := map[string]any{}
		for pointer, i := range leaves {
			origin := m.origin(items[i])
			if m.isDefault(items[i].conf, pointer) {
				origin["default"] = true
			}
			fields[pointer] = origin
		}
		answer["fields"] = fields
	}
}
