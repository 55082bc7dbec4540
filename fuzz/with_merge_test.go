package fuzz

import (
	"iter"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

// limitConf has a limit; the smallest wins.
type limitConf struct {
	Limit *uint32 `json:"limit,omitzero"`
}

func (c *limitConf) Equal(o *limitConf) bool {
	return c == o || c != nil && o != nil && (c.Limit == o.Limit || c.Limit != nil && o.Limit != nil && *c.Limit == *o.Limit)
}

// smallestMerger keeps the smallest limit; of equal ones, that of the highest priority.
type smallestMerger struct {
	conf limitConf
	item int
}

func (m *smallestMerger) Fill(lower *limitConf, item int) bool {
	if lower.Limit != nil && (m.conf.Limit == nil || *lower.Limit < *m.conf.Limit) {
		m.conf.Limit, m.item = lower.Limit, item
	}
	return false // a lower one may be smaller
}

func (m *smallestMerger) Conf() *limitConf { return &m.conf }

func (m *smallestMerger) Origins(dst []int) []int {
	if m.conf.Limit == nil {
		return dst
	}
	return append(dst, m.item)
}

func (m *smallestMerger) Leaves() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if m.conf.Limit != nil {
			yield("/limit", m.item)
		}
	}
}

// smallest is the same in plain Go.
func smallest(confs ...any) (any, []int, map[string]int) {
	least := -1
	for i, c := range confs {
		if limit := c.(*limitConf).Limit; limit != nil && (least < 0 || *limit <= *confs[least].(*limitConf).Limit) {
			least = i
		}
	}
	switch {
	case len(confs) == 0:
		return nil, nil, nil
	case least < 0:
		return &limitConf{}, nil, map[string]int{}
	}
	return confs[least], []int{least}, map[string]int{"/limit": least}
}

// A merge of its own is compared with that of WithMerge, in merges and in meshes.
func TestWithMerge(t *testing.T) {
	sequential(t)
	kind := &resource.Kind{
		Name: "Limit", Short: "lim", Top: resource.TopTargets,
		To: &resource.Section{Targets: resource.ToTargets, Conf: resource.ConfOf[limitConf, smallestMerger]()},
	}
	CheckKind(t, kind, WithMerge(smallest))

	seen := &recorder{TB: t}
	CheckKind(seen, kind)
	if text := strings.Join(seen.lines, "\n"); !strings.Contains(text, "agreement with the reference") {
		t.Errorf("the reference agrees with another merge:\n%s", text)
	}
	seen = &recorder{TB: t}
	CheckKind(seen, kind, WithMerge(func(confs ...any) (any, []int, map[string]int) { return smallest(confs[:len(confs)-len(confs)/3]...) }))
	if text := strings.Join(seen.lines, "\n"); !strings.Contains(text, "agreement with the reference") {
		t.Errorf("another merge than that of WithMerge is not found:\n%s", text)
	}
}
