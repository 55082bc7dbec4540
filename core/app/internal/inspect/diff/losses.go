package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Loss is a client that may no longer call something: with its identity before the edit an
// inbound allowed some request of it, and with the one after the edit none (SPEC 13.1).
type Loss struct {
	// Client and To are names of services, or of a dataplane if another one of its service
	// keeps its access.
	Client  string `json:"client"`
	To      string `json:"to"`
	Inbound string `json:"inbound"`
	// SPIFFEIDs are the identities of the client before and, if they are others, After.
	SPIFFEIDs []string `json:"spiffeIds"`
	After     []string `json:"after,omitzero"`

	// found reports that the permissions of the inbound close for some client, which is a
	// finding of its own.
	found bool
	pos   diag.Position // of a dataplane of To
}

// losses finds the [Loss] of a mesh. Clients with equal identities and inbounds with equal
// permissions are examined once, and only where the edit changes one of them.
type losses struct {
	services [2]*find.Services // before and after
	callers  map[string]*caller
	called   map[calledKey]*called
	size     map[string]int // of services of clients, and of services with an inbound
}

// caller are dataplanes that are equal as clients.
type caller struct {
	service       string
	names         []string
	before, after identities
	changes       bool
}

// identities are the SPIFFE IDs of a client, with the sets of tags of its certificate.
type identities struct {
	ids  []string
	tags []resource.Tags
}

// called are inbounds with the same permissions.
type called struct {
	calledKey
	names []string
	pos   diag.Position // of the first
}

type calledKey struct {
	service, inbound string
	before, after    listOfSide
	closes           *accessDiff // unless nil, the permissions deny a request that they allowed
}

// listOfSide is what decides about the requests to an inbound on a side.
type listOfSide struct {
	*access.List
	space requests.Space
}

func (l *losses) init(d *differ, mesh string) {
	l.services = [2]*find.Services{find.NewServices(d.before.view, mesh), find.NewServices(d.after.view, mesh)}
	l.callers, l.called, l.size = map[string]*caller{}, map[calledKey]*called{}, map[string]int{}
}

// addClient adds a dataplane as a client.
func (l *losses) addClient(d *differ, p pair) {
	if l.callers == nil { // the permissions are not compared
		return
	}
	service := serviceOf(l.services[1], p.after)
	l.size["client "+service]++
	before, after := identitiesOf(d.before, p.before), identitiesOf(d.after, p.after)
	if len(before.ids) == 0 {
		return
	}
	key := strings.Join([]string{service, before.key(), after.key()}, "\x00")
	c := l.callers[key]
	if c == nil {
		c = &caller{service: service, before: before, after: after, changes: before.key() != after.key()}
		l.callers[key] = c
	}
	c.names = append(c.names, p.after.Qualified())
}

func identitiesOf(s side, d *resource.Dataplane) identities {
	ids, err := requests.IDsOf(s.view, d)
	if err != nil {
		return identities{} // `check` reports the error
	}
	return identities{ids, find.ClientTags(d)}
}

func (i identities) key() string {
	var text strings.Builder
	for _, id := range i.ids {
		text.WriteString(id + "\x01")
	}
	for _, tags := range i.tags {
		text.WriteString(tags.String() + "\x01")
	}
	return text.String()
}

// serviceOf returns the service of a dataplane as a client, or its name.
func serviceOf(services *find.Services, d *resource.Dataplane) string {
	if d.Gateway != nil {
		return cmp.Or(d.Gateway.Tags.Value(resource.ServiceTag), d.Qualified())
	}
	if len(d.Inbounds) > 0 {
		return cmp.Or(services.NameOf(d, 0), d.Qualified())
	}
	return cmp.Or(d.Labels.Value(resource.WorkloadLabel), d.Qualified())
}

// addInbound adds an inbound of both sides with what decides there.
func (l *losses) addInbound(p pair, inbound int, key calledKey) {
	key.service = cmp.Or(l.services[1].NameOf(p.after, inbound), p.after.Qualified())
	c := l.called[key]
	if c == nil {
		c = &called{calledKey: key, pos: p.after.Pos}
		l.called[key] = c
	}
	c.names = append(c.names, p.after.Qualified())
	l.size["inbound "+key.service+"\x00"+key.inbound]++
}

// all returns what clients lose, sorted. It may be too much for the answer.
func (l *losses) all(d *differ) []Loss {
	limits, out := requests.Limits(1), []Loss{}
	all := slices.Collect(maps.Values(l.callers))
	changed := lists.Filter(all, func(c *caller) bool { return c.changes })
	known := map[[2]listOfSide][]*caller{}
	for _, in := range l.called {
		clients := changed
		switch {
		case in.before.space != in.after.space:
			clients = all
		case in.closes != nil:
			clients = in.closes.candidates(all)
		}
		if len(clients) == 0 {
			continue
		}
		key := [2]listOfSide{in.before, in.after}
		losers, examined := known[key]
		if !examined {
			losers = in.losers(clients, limits)
			known[key] = losers
		}
		for _, c := range losers {
			if out = l.appendLosses(out, c, in); len(out) > d.budget.Left {
				d.budget.Take(len(out), "what clients lose")
				return []Loss{}
			}
		}
	}
	slices.SortFunc(out, func(a, b Loss) int {
		return cmp.Or(strings.Compare(a.Client, b.Client), strings.Compare(a.To, b.To), strings.Compare(a.Inbound, b.Inbound), slices.Compare(a.SPIFFEIDs, b.SPIFFEIDs))
	})
	d.budget.Take(len(out), "")
	return out
}

// candidates returns the clients that change, and those with an ID that the newly denied
// requests have.
func (a *accessDiff) candidates(all []*caller) []*caller {
	ids, any := map[string]bool{}, false
	for i := range a.closes {
		for _, clause := range a.closes[i].Clients.Any {
			if id := clause.Match.SpiffeID; id != nil && id.Type == conf.SpiffeIDExact {
				ids[id.Value] = true
			} else {
				any = true
			}
		}
	}
	return lists.Filter(all, func(c *caller) bool {
		return any || c.changes || slices.ContainsFunc(c.before.ids, func(id string) bool { return ids[id] })
	})
}

// losers returns the clients that an inbound allowed a request, and allows none now.
func (in *called) losers(clients []*caller, limits access.Limits) []*caller {
	allowed := func(v access.Verdict) bool { return v == access.Some || v == access.All }
	clients = callable(clients, &in.before, limits, func(c *caller) identities { return c.before }, allowed)
	return callable(clients, &in.after, limits, func(c *caller) identities { return c.after }, func(v access.Verdict) bool { return v == access.None })
}

// appendLosses appends the losses of dataplanes that are equal as clients at inbounds that are
// equal: one, or one for each dataplane whose service has others.
func (l *losses) appendLosses(out []Loss, c *caller, in *called) []Loss {
	from, to := c.names, in.names
	if l.size["client "+c.service] == len(from) {
		from = []string{c.service}
	}
	if l.size["inbound "+in.service+"\x00"+in.inbound] == len(to) {
		to = []string{in.service}
	}
	for _, client := range from {
		for _, name := range to {
			loss := Loss{Client: client, To: name, Inbound: in.inbound, SPIFFEIDs: c.before.ids, found: in.closes != nil, pos: in.pos}
			if !slices.Equal(c.before.ids, c.after.ids) {
				loss.After = append([]string{}, c.after.ids...)
			}
			out = append(out, loss)
		}
	}
	return out
}

// callable returns the clients to which an inbound gives one of the accepted verdicts on a side.
func callable(clients []*caller, in *listOfSide, limits access.Limits, side func(*caller) identities, accepts func(access.Verdict) bool) []*caller {
	var asked []access.KnownClient
	counts := make([]int, len(clients))
	for i, c := range clients {
		identities := side(c)
		if !in.ComparesTags() {
			identities.tags = nil
		}
		for _, id := range orNone(identities.ids, "") {
			for _, tags := range orNone(identities.tags, nil) {
				asked, counts[i] = append(asked, access.KnownClient{SpiffeID: id, Tags: tags}), counts[i]+1
			}
		}
	}
	reaches := access.ReachOf(in.space.Access(), entriesFor(in.List, asked), asked, limits)
	var found []*caller
	for i, n := range counts {
		verdict := access.None
		for _, r := range reaches[:n] {
			verdict = max(verdict, r.Verdict) // None is the least, and Unknown the greatest
		}
		if reaches = reaches[n:]; accepts(verdict) {
			found = append(found, clients[i])
		}
	}
	return found
}

// entriesFor returns a list without the entries of other clients by their ID, which may be most
// of them.
func entriesFor(l *access.List, clients []access.KnownClient) *access.List {
	ids := map[string]bool{}
	for i := range clients {
		ids[clients[i].SpiffeID] = true
	}
	less := *l
	less.Entries = slices.DeleteFunc(slices.Clone(l.Entries), func(e access.Entry) bool {
		return e.Match != nil && e.Match.SpiffeID != nil && e.Match.SpiffeID.Type == conf.SpiffeIDExact && !ids[e.Match.SpiffeID.Value]
	})
	return &less
}

// orNone returns a list, or one with a zero value for an empty list.
func orNone[T any](list []T, none T) []T {
	if len(list) == 0 {
		return []T{none}
	}
	return list
}
