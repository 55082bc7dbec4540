package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Explanation contains the answer of an inbound to a request and its reason.
// For a request that is denied by default, it contains the entry or item that
// nearly allows it.
type Explanation struct {
	Answer Answer
	Reason string // such as NoPolicy
	// Nearest is the allowing entry or item with the fewest failed conditions and, of those
	// that fail by the same fields, with the longest common part. It is nil if none allows, or
	// if an entry or item decides.
	Nearest *Result
}

// The reasons why a request is allowed or denied: sentences without a period.
const (
	NoPolicy     = "no permission selects this inbound"
	PathRefused  = "the inbound refuses a path with an escaped slash, a backslash or a fragment" // SPEC 11.2
	EntryMatches = "an entry matches"                                                            // Answer.Decision.By
	NoneMatches  = "no entry matches"
	NoneAllows   = "no entry allows any request"
	NotApplied   = OpenReason // see [Open]
)

// Explain decides a request like [Permissions.Decide] and returns the reason. It
// compares the request with every entry.
func (p *Permissions) Explain(r *request.Request) Explanation {
	e := Explanation{Answer: p.Decide(r), Reason: EntryMatches}
	switch {
	case e.Answer.Decision.By != nil:
	case p.NotApplied:
		e.Reason = NotApplied
	case p.Rules != nil:
		e.Reason, e.Nearest = p.Rules.nearest(r)
	case p.Clients != nil:
		e.Reason, e.Nearest = p.Clients.nearest(r.Tags)
	default:
		e.Reason = NoPolicy
	}
	if e.Reason == NoPolicy && p.selected {
		e.Reason = NoneAllows
	}
	return e
}

func (l *DecisionList) nearest(r *request.Request) (reason string, nearest *Result) {
	seen := request.NewSeen(r)
	if l.asksForPath && seen.PathRefused {
		return PathRefused, nil
	}
	var best *Result
	for i := range l.entries {
		if entry := &l.entries[i]; entry.List != Deny {
			best = nearer(best, entry.Place, l.failed(i, &seen))
		}
	}
	return noneMatches(best, len(l.entries)), best
}

// failed returns the conditions of an entry that a request does not meet.
func (l *DecisionList) failed(i int, seen *request.Seen) []request.Failure {
	var failed []request.Failure
	if id := l.entries[i].Match.SpiffeID; !request.SpiffeIDMatches(id, seen.SpiffeID) {
		failed = append(failed, request.Failure{Field: "spiffeId", Want: fmt.Sprintf("%s %s", id.Type, id.Value), Got: seen.SpiffeID})
	}
	return append(failed, l.chains().links[i].condition.Failed(seen)...)
}

func (c *Clients) nearest(tags resource.Tags) (reason string, nearest *Result) {
	var best *Result
	for i := range c.items {
		if item := &c.items[i]; item.Action != meshtrafficpermission.Deny {
			best = nearer(best, item.Place, item.failed(tags))
		}
	}
	return noneMatches(best, len(c.items)), best
}

// failed returns the tags of an item that a client does not have.
func (c *Client) failed(tags resource.Tags) []request.Failure {
	var failed []request.Failure
	for _, tag := range c.Tags {
		if !tags.Contains(resource.Tags{tag}) {
			failed = append(failed, request.Failure{Field: "tags", Want: tag.Key + "=" + tag.Value, Got: valuesOf(tags, tag.Key)})
		}
	}
	return failed
}

// Result is the comparison of an entry or item with a request.
type Result struct {
	Place
	// Failed contains the conditions that the request does not meet; it is empty if the
	// entry or item matches. The condition of an item has the field tags; a SPIFFE ID
	// condition of an entry has the field spiffeId.
	Failed []request.Failure
}

// Results compares a request with every entry or item, in the order of the policies. It
// omits an entry that can match no request of the inbound.
func (p *Permissions) Results(r *request.Request) []Result {
	var out []Result
	switch {
	case p.Rules != nil:
		seen := request.NewSeen(r)
		for i := range p.Rules.entries {
			out = append(out, Result{p.Rules.entries[i].Place, p.Rules.failed(i, &seen)})
		}
	case p.Clients != nil:
		for i := range p.Clients.items {
			item := &p.Clients.items[i]
			out = append(out, Result{item.Place, item.failed(r.Tags)})
		}
	}
	return out
}

func valuesOf(tags resource.Tags, key string) string {
	for _, tag := range tags {
		if tag.Key == key {
			return key + "=" + tag.Value
		}
	}
	return ""
}

func nearer(best *Result, place Place, failed []request.Failure) *Result {
	if best == nil || len(failed) < len(best.Failed) || sameFields(failed, best.Failed) && common(failed) > common(best.Failed) {
		return &Result{place, failed}
	}
	return best
}

// sameFields reports whether two entries fail by the same fields. Only their values can be
// compared.
func sameFields(a, b []request.Failure) bool {
	return slices.EqualFunc(a, b, func(a, b request.Failure) bool { return a.Field == b.Field })
}

// common returns the length of what the request has in common with the conditions that it does
// not meet, from their beginnings.
func common(failed []request.Failure) int {
	total := 0
	for _, f := range failed {
		want := f.Want
		if f.Field == "spiffeId" { // after the type
			_, want, _ = strings.Cut(want, " ")
		}
		n := 0
		for n < min(len(want), len(f.Got)) && want[n] == f.Got[n] {
			n++
		}
		total += n
	}
	return total
}

func noneMatches(best *Result, entries int) string {
	switch {
	case best != nil:
		return NoneMatches
	case entries == 0:
		return NoPolicy
	}
	return NoneAllows
}
