package rules

import "github.com/meshmatch/meshmatch/core/resource"

// conf returns the block of what a merger was filled with from some of the
// items, and takes a reference.
func (b *Blocks) conf(section *resource.Section, merger resource.Merger, items []Contribution) *Effective {
	var buffer [8]int
	origins := merger.Origins(buffer[:0])
	hash := uint64(len(origins))
	for _, i := range origins {
		hash = b.hashPolicy(hash, items[i].Policy, items[i].Index)
	}
	same := func(e *Effective) bool {
		if len(e.Origins) != len(origins) {
			return false
		}
		for n, i := range origins {
			if e.Origins[n] != items[i].Origin {
				return false
			}
		}
		return true
	}
	b.mu.Lock()
	known := b.confs.take(section, hash, same)
	b.mu.Unlock()
	if known != nil {
		return known
	}
	// Merged again from its origins alone, so that the block keeps neither the
	// other items nor their policies.
	kept := make([]Contribution, len(origins))
	for n, i := range origins {
		kept[n] = items[i]
	}
	e := merge(section.Conf, kept)
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.confs.take(section, hash, same); known != nil { // somebody was faster
		return known
	}
	b.confs.put(section, hash, e)
	return e
}

// shared returns the block that is equal to e, and takes a reference.
func (b *Blocks) shared(section *resource.Section, e *Effective) *Effective {
	if e == nil {
		return nil
	}
	return b.conf(section, e.merger, e.items)
}

func (b *Blocks) holdConf(e *Effective) {
	if e != nil {
		b.mu.Lock()
		b.confs.hold(e)
		b.mu.Unlock()
	}
}

func (b *Blocks) releaseConf(e *Effective) {
	if e != nil {
		b.mu.Lock()
		b.confs.release(e)
		b.mu.Unlock()
	}
}
