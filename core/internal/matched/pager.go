package matched

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Pager makes lists of matched policies that share equal pages. The lists of dataplanes
// in different namespaces and teams differ in a few of thousands of policies: in
// package core/app/internal/world, 1,000 lists of 2,700 policies take 2.7 MB, and 64 MB if each has
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

// Matched returns a list with a copy of the given policies.
func (p *Pager) Matched(selected []Selected) Matched { return p.After(Matched{}, selected) }

// After is [Pager.Matched] for a list that differs little from an earlier one, which must be of
// a pager with the same seed. The two lists share the pages that they have in common, and only
// the policies of other pages are hashed. So the lists of a mesh share their pages however
// its policies came: a class that one change evaluates alone keeps the pages of the others.
func (p *Pager) After(earlier Matched, selected []Selected) Matched {
	var m Matched
	left := earlier.pages
	for from := 0; from < len(selected); {
		if at := p.findPage(left, selected[from:]); at >= 0 {
			m.append(left[at])
			from += len(left[at].selected)
			left = left[at+1:]
			continue
		}
		n, hash := p.nextPage(selected[from:])
		m.append(p.page(selected[from:from+n], hash))
		from += n
	}
	m.pages, m.ends = slices.Clip(m.pages), slices.Clip(m.ends)
	return m
}

// findPage returns the index of the page with which a list may begin, or -1.
func (p *Pager) findPage(pages []*Page, list []Selected) int {
	at := slices.IndexFunc(pages, func(page *Page) bool { return page.selected[0].Policy == list[0].Policy })
	if at < 0 {
		return -1
	}
	page := pages[at].selected
	if n := len(page); n > len(list) || n < len(list) && !p.ends(n, p.hashOf(page[n-1].Policy)) {
		return -1 // a page that is not the last of its list ends at a policy whose hash ends pages
	}
	for i := range page {
		if !page[i].Equal(&list[i]) {
			return -1
		}
	}
	return at
}

// nextPage returns the length and the hash of the first page of a list.
func (p *Pager) nextPage(list []Selected) (n int, hash uint64) {
	for n < len(list) {
		policy := p.hashOf(list[n].Policy)
		hash = hash*hashFactor + policy
		if n++; p.ends(n, policy) {
			break
		}
	}
	return n, hash
}

// ends reports whether a page of n policies ends after the policy with a hash.
func (p *Pager) ends(n int, hash uint64) bool { return hash%pageSize == 0 || n == maxPage }

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

// hashAfter returns the hash of the policies that replace the policies of a page. If there are
// as many, only those that differ are hashed: a page has up to [maxPage] policies, and a
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

// hashFactor makes the hash of a page from the hashes of its policies: the hash of n policies
// is the sum of hash i times hashFactor to the power of n-1-i.
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
