package rules

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Pager makes lists of matched policies that share equal pages. The lists of dataplanes
// in different namespaces and teams differ in a few of thousands of policies: in
// package bench/world, 1,000 lists of 2,700 policies take 2.7 MB, and 64 MB if each has
// its own memory.
//
// A page ends after a policy whose hash ends in zero bits. So a page depends only on the
// policies in it: if only one of two lists has a policy, one page differs, and the later
// pages do not. On average, a page has [pageSize] policies.
//
// A pager is made for one change, and is safe for concurrent use. All pagers of a mesh
// have the same seed.
type Pager struct {
	seed  maphash.Seed
	mu    sync.Mutex
	pages map[uint64][]*Page // by hash
}

const (
	pageSize = 32 // a power of 2
	maxPage  = 4 * pageSize
)

// NewPager returns a pager that has no pages.
func NewPager(seed maphash.Seed) *Pager {
	return &Pager{seed: seed, pages: map[uint64][]*Page{}}
}

// Add adds the pages of a list, so that later lists share them.
func (p *Pager) Add(m Matched) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, page := range m.pages {
		if known := p.pages[page.hash]; !slices.Contains(known, page) {
			p.pages[page.hash] = append(known, page)
		}
	}
}

// Matched returns a list with a copy of the given policies.
func (p *Pager) Matched(selected []Selected) Matched {
	var m Matched
	var hash uint64
	from := 0
	for i := range selected {
		policy := p.hashOf(selected[i].Policy)
		hash = hash*hashFactor + policy
		if n := i + 1 - from; policy%pageSize == 0 || n == maxPage || i+1 == len(selected) {
			m.append(p.page(selected[from:i+1], hash))
			from, hash = i+1, 0
		}
	}
	m.pages, m.ends = slices.Clip(m.pages), slices.Clip(m.ends)
	return m
}

// Replace calls edit for each page of m and returns the resulting list. edit returns the
// new policies of the page, or nil to keep the page. Replace copies the policies, so
// edit may reuse the slice. Edited reports whether any page differs. m must be of a pager
// with the same seed.
func (p *Pager) Replace(m Matched, edit func(*Page) []Selected) (next Matched, edited bool) {
	for i, page := range m.pages {
		selected := edit(page)
		if selected == nil {
			if edited {
				next.append(page)
			}
			continue
		}
		if !edited {
			next.pages = append(make([]*Page, 0, len(m.pages)), m.pages[:i]...)
			next.ends = append(make([]uint32, 0, len(m.ends)), m.ends[:i]...)
			edited = true
		}
		if len(selected) > 0 {
			next.append(p.page(selected, p.hashAfter(page, selected)))
		}
	}
	if !edited {
		return m, false
	}
	return next, true
}

// hashAfter returns the hash of the policies that replace those of a page. If there are as
// many, only those that differ are hashed: a page has up to [maxPage] policies, and a
// replaced policy is in one page of each class.
func (p *Pager) hashAfter(page *Page, selected []Selected) uint64 {
	if len(selected) != len(page.selected) {
		return p.hash(selected)
	}
	hash, factor := page.hash, uint64(1)
	for i := len(selected) - 1; i >= 0; i-- {
		if old, next := page.selected[i].Policy, selected[i].Policy; old != next {
			hash += factor * (p.hashOf(next) - p.hashOf(old))
		}
		factor *= hashFactor
	}
	return hash
}

// hashFactor makes the hash of a page from those of its policies: the hash of n policies is
// the sum of hash i times hashFactor to the power of n-1-i.
const hashFactor = 31

func (p *Pager) hash(selected []Selected) uint64 {
	var hash uint64
	for i := range selected {
		hash = hash*hashFactor + p.hashOf(selected[i].Policy)
	}
	return hash
}

func (p *Pager) hashOf(policy *resource.Policy) uint64 {
	return maphash.Comparable(p.seed, policy)
}

// page returns the page with a copy of the policies.
func (p *Pager) page(selected []Selected, hash uint64) *Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.pages[hash] {
		if slices.EqualFunc(known.selected, selected, func(a, b Selected) bool { return a.Equal(&b) }) {
			return known
		}
	}
	page := newPage(selected, hash)
	p.pages[hash] = append(p.pages[hash], page)
	return page
}
