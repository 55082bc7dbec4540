package blocks

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// conf returns the block of a merged conf with its origins, and adds a
// reference. If there is no such block, conf makes it from the contributions
// that the conf was merged from. The function all returns them, lowest priority
// first.
func (t *Table) conf(section *resource.Section, conf resource.Conf, origins []results.Origin, all func() []results.Contribution) *results.Effective {
	hash := uint64(len(origins))
	for _, o := range origins {
		hash = t.hashPolicy(hash, o.Policy, o.Index)
	}
	same := func(e *results.Effective) bool {
		return slices.Equal(e.Origins, origins) && section.Conf.Equal(e.Conf, conf)
	}
	if known := t.confOrAdd(section, hash, same, nil); known != nil {
		return known
	}
	return t.confOrAdd(section, hash, same, mergeOrigins(section, conf, origins, all()))
}

// confOrAdd returns the block for which same is true, and adds a reference to
// it. If there is no such block, it adds made and returns it.
func (t *Table) confOrAdd(section *resource.Section, hash uint64, same func(*results.Effective) bool, made *results.Effective) *results.Effective {
	t.mu.Lock()
	defer t.mu.Unlock() // same is code of the kind, and may panic
	known := t.confs.take(section, hash, same)
	if known == nil && made != nil {
		t.confs.put(section, hash, made)
		return made
	}
	return known
}

// mergeOrigins merges the origins alone, so that the block refers neither to the
// other contributions nor to their policies. If an item that is not an origin
// changes the result (a union of another type hides a lower one), it merges all
// contributions.
func mergeOrigins(section *resource.Section, conf resource.Conf, origins []results.Origin, all []results.Contribution) *results.Effective {
	kept := make([]results.Contribution, 0, len(origins))
	for _, item := range all {
		if len(kept) < len(origins) && item.Origin == origins[len(kept)] {
			kept = append(kept, item)
		}
	}
	if len(kept) == 0 {
		kept = all[:1] // no item sets anything, so one gives the same empty conf
	}
	if e := results.Merge(section.Conf, kept); slices.Equal(e.Origins, origins) && section.Conf.Equal(e.Conf, conf) {
		return e
	}
	return results.Merge(section.Conf, all)
}

// intern returns the block that is equal to e, and adds a reference to it. e
// was merged from the items. If e is nil, it returns nil.
func (t *Table) intern(section *resource.Section, e *results.Effective, items []results.Contribution) *results.Effective {
	if e == nil {
		return nil
	}
	return t.conf(section, e.Conf, e.Origins, func() []results.Contribution { return items })
}

func (t *Table) holdConf(e *results.Effective) {
	if e != nil {
		t.mu.Lock()
		t.confs.hold(e)
		t.mu.Unlock()
	}
}

func (t *Table) releaseConf(e *results.Effective) {
	if e != nil {
		t.mu.Lock()
		t.confs.release(e)
		t.mu.Unlock()
	}
}
