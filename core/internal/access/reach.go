package access

import (
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Verdict summarizes which requests an inbound allows a client.
type Verdict uint8

// The verdicts.
const (
	None    Verdict = iota // no request
	Some                   // some requests
	All                    // every request
	Unknown                // a limit was exceeded
)

// String returns the verdict in lower case.
func (v Verdict) String() string { return [...]string{"none", "some", "all", "unknown"}[v] }

// Reach is the verdict of an inbound about a client, with the entries that decide the
// client's requests, in order. A decision by default comes last.
type Reach struct {
	Verdict Verdict
	By      []Decision
	Err     error // of Unknown
}

// ReachOf returns the reach of each client by a list. Clients that the same entries
// can decide are examined once.
func ReachOf(space *Space, list *List, clients []KnownClient, limits Limits) []Reach {
	out := make([]Reach, len(clients))
	p := compile(space, list).compiled()
	all := newSearch(p, limits).items()
	by := newDivision(variable{part: spiffeID}, slices.Index(p.variables, variable{part: spiffeID}), all)
	known := map[string]Reach{}
	for i := range clients {
		at := *space
		at.Client = &clients[i]
		key := clientKey(p, &by.lists[0], &at)
		reach, examined := known[key]
		if !examined {
			one := *p
			one.space = &at
			reach = newReach(regionsOf(&one, list, limits))
			known[key] = reach
		}
		out[i] = reach
	}
	return out
}

// clientKey returns the same text for clients that meet the same conditions on
// clients.
func clientKey(p *problem, byID *lookup, space *Space) string {
	var key []byte
	part := state{kind: absent}
	if id := space.Client.SpiffeID; id != "" && !space.Plain {
		part = state{kind: one, text: id}
	}
	for _, place := range byID.places(part) {
		key = binary.AppendUvarint(key, uint64(place))
	}
	for _, v := range p.variables {
		if v.part == tag && !space.hides(v) {
			value, present := space.Client.Tags.Get(v.name)
			key = append(key, 0xff)
			if present {
				key = append(append(key, 0xfe), value...)
			}
		}
	}
	return string(key)
}

func newReach(regions []Region, err error) Reach {
	if err != nil {
		return Reach{Verdict: Unknown, Err: err}
	}
	var r Reach
	allows, denies := false, false
	for _, region := range regions {
		allows, denies = allows || region.Allow, denies || !region.Allow
		r.By = append(r.By, region.Decision)
	}
	switch {
	case allows && denies:
		r.Verdict = Some
	case allows:
		r.Verdict = All
	}
	return r
}

// ReachOfOthers returns the reach, by a list, of all clients except the clients
// with the given SPIFFE IDs.
func ReachOfOthers(space *Space, list *List, ids []string, limits Limits) Reach {
	others := make([]*Requests, len(ids))
	for i, id := range ids {
		others[i] = Matching(&conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: id}}, nil)
	}
	return newReach(Regions(space, list, And().Without(others...), limits))
}

// Allowed returns the condition of the requests that a list allows, with a clause for each
// allowing entry of by. If client is not nil, the condition is for this client and omits
// its SPIFFE ID and tags.
func Allowed(list *List, by []Decision, client *KnownClient) Condition {
	c := Condition{Any: []Clause{}}
	list = list.listFor(client)
	for _, d := range by {
		if !d.Allow {
			continue
		}
		earlier, m, _ := regionOf(list, d.By, Match{}) // one entry has no paths to join
		clause := Clause{Match: m}
		known := map[string]bool{}
		for _, e := range earlier {
			if !mayOverlap(&clause.Match, &e) {
				continue
			}
			clause.except(withoutClient(client, e), known)
		}
		clause.Match = withoutClient(client, clause.Match)
		clause.reduce()
		c.Any = append(c.Any, clause)
	}
	return c
}

// listFor returns the list without the entries that cannot match a client. A nil client means
// any client.
func (l *List) listFor(client *KnownClient) *List {
	if client == nil {
		return l
	}
	reduced := &List{Open: l.Open}
	for i := range l.Entries {
		if m := l.Entries[i].match(); meets(client, &m) {
			reduced.Entries = append(reduced.Entries, l.Entries[i])
		}
	}
	return reduced
}

// meets reports whether a client meets the conditions of a match on clients.
func meets(c *KnownClient, m *Match) bool {
	if m.SpiffeID != nil {
		var t test
		t.compareID(m.SpiffeID)
		if !t.holds(c.SpiffeID, c.SpiffeID == "") {
			return false
		}
	}
	return c.Tags.Contains(m.Tags)
}

func withoutClient(c *KnownClient, m Match) Match {
	if c != nil {
		m.SpiffeID, m.Tags = nil, resource.Tags(nil)
	}
	return m
}
