package replay

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Decider decides requests to inbounds with equal permissions. It is safe for
// concurrent use.
type Decider struct {
	once func() *rules
	// EachID reports that an entry matches a client with several SPIFFE IDs if it matches one.
	// That is so in a mesh with the mtls of Kuma (SPEC 17.1).
	EachID bool
}

// NewDecider returns a decider. For the first request, it calls the function, which
// returns the permissions and the requests that the inbound can receive.
func NewDecider(permissions func() (*permission.Permissions, *access.Space)) *Decider {
	return &Decider{once: sync.OnceValue(func() *rules {
		p, space := permissions()
		list := access.ListOf(p)
		return &rules{permissions: p, space: space, list: list, parts: list.Parts(), named: namedBy(list)}
	})}
}

// rules contains the compiled permissions of a [Decider].
type rules struct {
	permissions *permission.Permissions
	space       *access.Space
	list        *access.List
	parts       access.Parts // the parts that the entries compare
	named       named
}

// Verdict is a decision about a request.
type Verdict struct {
	Known bool
	Allow bool
	By    permission.Place // the entry or item that decides; the zero Place: the default
	// AnyOf means that unknown parts determine which entry decides. All possible entries
	// have the same decision.
	AnyOf bool
	why   string // the reason why the decision is unknown
}

func verdictOf(d permission.Decision) Verdict {
	v := Verdict{Known: true, Allow: d.Allow}
	if d.By != nil {
		v.By = *d.By
	}
	return v
}

// recordedRequest is a request of a record.
type recordedRequest struct {
	request.Request
	missing access.Parts // parts that entries may compare but the record does not have
	// ids are the SPIFFE IDs of the client's certificate if it has several.
	ids []string
}

// verdictCache contains the decisions that one goroutine made by some rules.
type verdictCache struct {
	verdicts map[string]Verdict // by the values of the compared parts
	partial  *access.Decider    // nil until needed
}

// cacheUse counts the used space for decisions.
type cacheUse struct {
	verdicts, bytes int
	key             []byte // of the current request
}

// decide returns the decision about a request. If counts is set, it records the entry as
// hit, and the client if no entry names it. A client with several SPIFFE IDs is denied
// regardless of the permissions (SPEC 7.2), except by a decider with EachID.
func (t *tally) decide(d *Decider, s *recordedRequest, counts bool) Verdict {
	r := d.once()
	m := t.made[r]
	if m == nil {
		m = &verdictCache{verdicts: map[string]Verdict{}}
		t.made[r] = m
		if counts {
			for i := range r.list.Entries {
				t.Asked[EntryOf(r.list.Entries[i].By)] = true
			}
		}
	}
	switch {
	case s.ids != nil && d.EachID:
		return t.decideEach(d, s, counts)
	case s.ids != nil:
		return Verdict{Known: true}
	}
	if counts {
		t.name(r, s)
	}
	key := r.appendKey(t.room.key[:0], s)
	t.room.key = key
	if v, known := m.verdicts[string(key)]; known {
		return v
	}
	v := r.decide(s, m)
	if counts && v.By.Policy != nil {
		t.Hits[EntryOf(&v.By)] = true
	}
	if len(key) <= maxKeptKey {
		if t.room.verdicts++; t.room.verdicts > maxKept || t.room.bytes+len(key) > maxKeptBytes {
			for _, all := range t.made {
				clear(all.verdicts)
			}
			t.room.verdicts, t.room.bytes = 1, 0
		}
		t.room.bytes += len(key)
		m.verdicts[string(key)] = v
	}
	return v
}

// decideEach returns the decision about a client with several SPIFFE IDs: an entry that denies one
// of them denies the request, and else an entry that allows one allows it.
func (t *tally) decideEach(d *Decider, s *recordedRequest, counts bool) (v Verdict) {
	const allowed, unknown = 1, 3
	rank := func(v Verdict) int {
		switch {
		case !v.Known:
			return unknown
		case v.Allow:
			return allowed
		case v.AnyOf:
			return 2
		case v.By.Policy != nil:
			return 4
		}
		return 0
	}
	allows := false
	for i, id := range s.ids {
		one := *s
		one.ids, one.SpiffeID = nil, id
		next := t.decide(d, &one, counts)
		allows = allows || rank(next) == allowed
		if i == 0 || rank(next) > rank(v) {
			v = next
		}
	}
	if v.AnyOf && !v.Allow && allows {
		return Verdict{why: "entries compare what is missing"}
	}
	return v
}

// appendKey appends the parts of a request that the entries compare.
func (r *rules) appendKey(key []byte, s *recordedRequest) []byte {
	add := func(asked, isMissing bool, text string) {
		if !asked {
			return
		}
		if isMissing {
			key = append(key, 0)
			return
		}
		key = append(binary.AppendUvarint(key, uint64(len(text))+1), text...)
	}
	p, m := &r.parts, &s.missing
	add(p.SpiffeID, m.SpiffeID, s.SpiffeID)
	if p.Tags {
		add(true, m.Tags, s.Tags.String())
	}
	add(p.SNI, m.SNI, s.SNI)
	add(p.Method, m.Method, s.Method)
	if p.Path {
		target, _, _ := strings.Cut(s.Path, "?")
		add(true, m.Path, target)
	}
	for _, name := range p.Headers {
		value, present := s.Headers.Get(name)
		isMissing := slices.Contains(m.Headers, name)
		key = append(key, boolByte(present))
		add(true, isMissing, value)
	}
	return key
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// decisionWork is the limit of a question about a request with unknown parts, in steps.
const decisionWork = 1 << 18

// decide returns the decision about a request.
func (r *rules) decide(s *recordedRequest, m *verdictCache) Verdict {
	unknown := both(&r.parts, &s.missing)
	if unknown.Empty() {
		return verdictOf(r.permissions.Decide(&s.Request).Decision)
	}
	if m.partial == nil {
		m.partial = access.NewDecider(r.space, r.list)
	}
	decisions, err := r.possible(&s.Request, unknown, m.partial)
	if err != nil {
		return pastLimit(err)
	}
	v := verdictOf(decisions[0])
	for _, d := range decisions[1:] {
		if d.Allow != v.Allow {
			return Verdict{why: "entries compare what is missing: " + strings.Join(namesOf(&unknown), ", ")}
		}
		if other := verdictOf(d); other.By != v.By || v.AnyOf {
			v.AnyOf, v.By = true, permission.Place{}
		}
	}
	return v
}

// possible returns the possible decisions about a request with unknown parts. An unknown
// path may be a path that the inbound refuses, a path without a slash, or absent; these
// are not in the space.
func (r *rules) possible(sent *request.Request, unknown access.Parts, partial *access.Decider) ([]access.Decision, error) {
	limits := access.Limits{Work: decisionWork}
	decisions, err := partial.Decide(sent, unknown, limits)
	if err != nil || !unknown.Path {
		return decisions, err
	}
	decisions = append(slices.Clone(decisions), access.Decision{})
	unknown.Path = false
	for _, other := range []string{"", "*"} {
		with := *sent
		with.Path = other
		more, err := partial.Decide(&with, unknown, limits)
		if err != nil {
			return nil, err
		}
		decisions = append(decisions, more...)
	}
	return decisions, nil
}

// pastLimit returns the verdict of a question that exceeds a limit.
func pastLimit(err error) Verdict {
	var limit *access.LimitError
	if errors.As(err, &limit) {
		return Verdict{why: limit.What}
	}
	return Verdict{why: err.Error()}
}

// both returns the parts that are in both a and b.
func both(a, b *access.Parts) access.Parts {
	out := access.Parts{
		SpiffeID: a.SpiffeID && b.SpiffeID, Tags: a.Tags && b.Tags, SNI: a.SNI && b.SNI,
		Method: a.Method && b.Method, Path: a.Path && b.Path,
	}
	out.Headers = lists.Filter(a.Headers, func(name string) bool { return slices.Contains(b.Headers, name) })
	return out
}

// namesOf returns the names of the fields that contain the parts.
func namesOf(p *access.Parts) []string {
	var names []string
	add := func(has bool, field int) {
		if has {
			names = append(names, fixed[field].Name)
		}
	}
	add(p.SpiffeID || p.Tags, peerURIs)
	add(p.SNI, serverName)
	add(p.Method, method)
	add(p.Path, path)
	for _, name := range p.Headers {
		if name == host {
			name = fixed[authority].Name
		}
		names = append(names, name)
	}
	return names
}

// named contains the clients that entries name, by SPIFFE IDs or tags.
type named struct {
	exact map[string]bool
	below request.ByPrefix[bool]
	tags  []resource.Tags
}

func namedBy(l *access.List) named {
	n := named{exact: map[string]bool{}}
	for i := range l.Entries {
		e := &l.Entries[i]
		if len(e.Tags) > 0 {
			n.tags = append(n.tags, e.Tags)
		}
		switch {
		case e.Match == nil || e.Match.SpiffeID == nil:
		case e.Match.SpiffeID.Type.IsPrefix():
			n.below.Change(e.Match.SpiffeID, func(bool, bool) bool { return true })
		default:
			n.exact[e.Match.SpiffeID.Value] = true
		}
	}
	return n
}

// has reports whether an entry names the client of a request.
func (n *named) has(r *request.Request) bool {
	if n.exact[r.SpiffeID] {
		return true
	}
	for range n.below.All(r.SpiffeID) {
		return true
	}
	return slices.ContainsFunc(n.tags, r.Tags.Contains)
}

// name records the client of a request if no entry names it. An entry cannot name an ID
// of more than maxID bytes.
func (t *tally) name(r *rules, s *recordedRequest) {
	if s.SpiffeID == "" || len(s.SpiffeID) > maxID || t.unnamed[s.SpiffeID] || r.named.has(&s.Request) {
		return
	}
	t.unnamed[strings.Clone(s.SpiffeID)] = true
	if len(t.unnamed) > 2*maxUnnamed {
		t.firstUnnamed()
	}
}

// firstUnnamed keeps the first unnamed identities in sorted order.
func (t *tally) firstUnnamed() {
	if len(t.unnamed) <= maxUnnamed {
		return
	}
	t.TooManyUnnamed = true
	for _, id := range slices.Sorted(maps.Keys(t.unnamed))[maxUnnamed:] {
		delete(t.unnamed, id)
	}
}
