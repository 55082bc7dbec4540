package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Span is the times of records, from the first to the last. Both are zero if no record has a time.
type Span struct{ First, Last time.Time }

// add adds a time, unless it is zero.
func (s *Span) add(at time.Time) { s.join(Span{at, at}) }

func (s *Span) join(other Span) {
	if other.First.IsZero() {
		return
	}
	if s.First.IsZero() || other.First.Before(s.First) {
		s.First = other.First
	}
	if s.Last.Before(other.Last) {
		s.Last = other.Last
	}
}

// DecisionChange is a change of the decisions of the log: requests of some clients to an inbound, which
// the same entry of the permissions decides, were allowed and later denied, or the reverse.
type DecisionChange struct {
	Inbound *Inbound
	Allow   bool // the later decision
	// After is the time of the last request with the former decision, Before that of the first
	// one with the later decision.
	After, Before time.Time
	Clients       int
	SpiffeID      string // of the first client, in their order
}

// maxCourses is how many courses are followed: about 350 bytes each.
const maxCourses = 100_000

// A course is requests of a client to an inbound that the same entry decides.
type course struct {
	in       *Inbound
	spiffeID string
	by       Verdict
}

// courses has the times at which the log denied and allowed the requests of each course.
type courses struct {
	times   map[course]*[2]Span // denied, allowed
	tooMany bool                // more than maxCourses: times is nil then
}

// add adds a request. One of an ID that no entry can name is left out.
func (c *courses) add(of course, log Verdict, when time.Time) {
	if c.tooMany || !log.Known || when.IsZero() || len(of.spiffeID) > maxID {
		return
	}
	of.by.why = ""
	known := c.times[of]
	if known == nil {
		of.spiffeID = strings.Clone(of.spiffeID)
		known = c.insert(of)
		if known == nil {
			return
		}
	}
	known[boolByte(log.Allow)].add(when)
}

// insert adds a course. It returns nil if there are too many.
func (c *courses) insert(of course) *[2]Span {
	if len(c.times) == maxCourses {
		c.times, c.tooMany = nil, true
		return nil
	}
	if c.times == nil {
		c.times = map[course]*[2]Span{}
	}
	c.times[of] = new([2]Span)
	return c.times[of]
}

// join adds what another goroutine has read.
func (c *courses) join(other *courses) {
	if other.tooMany {
		c.times, c.tooMany = nil, true
	}
	for of, times := range other.times {
		if c.tooMany {
			return
		}
		known := c.times[of]
		if known == nil {
			if known = c.insert(of); known == nil {
				return
			}
		}
		for i := range times {
			known[i].join(times[i])
		}
	}
}

// changes returns the changes. Courses of an inbound that may have changed at the same time are
// one change.
func (c *courses) changes() []*DecisionChange {
	var all []*DecisionChange
	for of, times := range c.times {
		denied, allowed := times[0], times[1]
		if denied.First.IsZero() || allowed.First.IsZero() {
			continue
		}
		change := &DecisionChange{Inbound: of.in, Clients: 1, SpiffeID: of.spiffeID}
		switch {
		case denied.Last.Before(allowed.First):
			change.Allow, change.After, change.Before = true, denied.Last, allowed.First
		case allowed.Last.Before(denied.First):
			change.After, change.Before = allowed.Last, denied.First
		default:
			continue // it changed more than once, or the entry is not what decided
		}
		all = append(all, change)
	}
	slices.SortFunc(all, func(a, b *DecisionChange) int {
		return cmp.Or(a.Inbound.compare(b.Inbound), cmp.Compare(boolByte(a.Allow), boolByte(b.Allow)),
			a.Before.Compare(b.Before), a.After.Compare(b.After), strings.Compare(a.SpiffeID, b.SpiffeID))
	})
	var joined []*DecisionChange
	var last *DecisionChange
	clients := map[string]bool{} // of last
	for _, next := range all {
		if last == nil || last.Inbound != next.Inbound || last.Allow != next.Allow || !next.After.Before(last.Before) {
			last = next
			joined = append(joined, last)
			clear(clients)
		}
		if next.After.After(last.After) {
			last.After = next.After
		}
		clients[next.SpiffeID] = true
		last.Clients, last.SpiffeID = len(clients), min(last.SpiffeID, next.SpiffeID)
	}
	return joined
}
