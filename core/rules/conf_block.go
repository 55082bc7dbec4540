package rules

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// conf returns the block of a merged conf with its origins, and takes a
// reference. If there is none it is made: all gives the contributions that the
// conf was merged from, lowest priority first.
func (b *Blocks) conf(section *resource.Section, conf resource.Conf, origins []Origin, all func() []Contribution) *Effective {
	hash := uint64(len(origins))
	for _, o := range origins {
		hash = b.hashPolicy(hash, o.Policy, o.Index)
	}
	same := func(e *Effective) bool {
		return slices.Equal(e.Origins, origins) && section.Conf.Equal(e.Conf, conf)
	}
	if known := b.knownConf(section, hash, same, nil); known != nil {
		return known
	}
	return b.knownConf(section, hash, same, distill(section, conf, origins, all()))
}

// knownConf returns the block for which same is true, with one more reference.
// If there is none, made becomes the block.
func (b *Blocks) knownConf(section *resource.Section, hash uint64, same func(*Effective) bool, made *Effective) *Effective {
	b.mu.Lock()
	defer b.mu.Unlock() // same is code of the kind, and may panic
	known := b.confs.take(section, hash, same)
	if known == nil && made != nil {
		b.confs.put(section, hash, made)
		return made
	}
	return known
}

// distill merges again from the origins alone, so that the block keeps neither
// the other contributions nor their policies. Where a union had another type
// in between, an item that is no origin keeps a lower one from the result;
// then all of them stay.
func distill(section *resource.Section, conf resource.Conf, origins []Origin, all []Contribution) *Effective {
	kept := make([]Contribution, 0, len(origins))
	for _, item := range all {
		if len(kept) < len(origins) && item.Origin == origins[len(kept)] {
			kept = append(kept, item)
		}
	}
	if e := merge(section.Conf, kept); slices.Equal(e.Origins, origins) && section.Conf.Equal(e.Conf, conf) {
		return e
	}
	return merge(section.Conf, all)
}

// shared returns the block that is equal to e, and takes a reference.
func (b *Blocks) shared(section *resource.Section, e *Effective) *Effective {
	if e == nil {
		return nil
	}
	return b.conf(section, e.Conf, e.Origins, func() []Contribution { return e.items })
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
