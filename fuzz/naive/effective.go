package naive

import "github.com/meshmatch/meshmatch/core/resource"

// Merged is the result of folding confs.
type Merged struct {
	Conf    any            // as JSON
	Origins []int          // the confs that set a leaf, ascending (SPEC 6)
	Leaves  map[string]int // the conf that set each leaf, by JSON pointer
}

// Merge folds confs of one type, pointers to structs, from the lowest priority
// to the highest (SPEC 6). If there are no confs, Conf is nil.
func Merge(confs ...any) Merged {
	var merged *node
	for i, conf := range confs {
		merged = merge(merged, read(conf, i))
	}
	if merged == nil {
		return Merged{}
	}
	return Merged{Conf: merged.json(), Origins: merged.origins(), Leaves: merged.leaves()}
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
	merged := Merge(confs...)
	origins := []any{}
	for _, i := range merged.Origins {
		origins = append(origins, m.origin(items[i]))
	}
	answer["conf"], answer["origins"] = merged.Conf, origins
	m.addCollectors(answer, merged.Conf)
	if m.explain {
		fields := map[string]any{}
		for pointer, i := range merged.Leaves {
			origin := m.origin(items[i])
			if m.isDefault(items[i].conf, pointer) {
				origin["default"] = true
			}
			fields[pointer] = origin
		}
		answer["fields"] = fields
	}
}
