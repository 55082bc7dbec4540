package replay

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/request"
)

// Bounds of the memory of a tally.
const (
	maxKept      = 1 << 15 // decisions, and their keys in bytes:
	maxKeptBytes = 8 << 20
	maxKeptKey   = 4 << 10
	maxUnnamed   = 10_000 // identities of a result
	maxID        = 2048   // bytes of each; SPIFFE IDs are no longer
	maxNoted     = 10     // malformed lines of a result
)

// tally counts the records that one goroutine reads.
type tally struct {
	*Input
	parser parser
	values []value
	lines  []request.Header // of the current request
	uris   []string         // of its client
	ids    []string         // the uris that are SPIFFE IDs
	made   map[*rules]*verdictCache
	room   cacheUse

	// Result is what is counted, without what the following become at the end.
	Result
	differences map[Outcome]*DisagreementGroup
	courses     courses
	unnamed     map[string]bool
}

func newTally(in *Input) *tally {
	return &tally{
		Input: in, values: make([]value, len(in.Fields.list)), made: map[*rules]*verdictCache{},
		Result:      Result{Reasons: map[string]int64{}, Hits: map[Entry]bool{}, Asked: map[Entry]bool{}},
		differences: map[Outcome]*DisagreementGroup{}, unnamed: map[string]bool{},
	}
}

// add reads a batch.
func (t *tally) add(b *batch) {
	text := string(b.text) // values are parts of it
	number := b.first
	for begin := 0; begin < len(text); number++ {
		end := begin + strings.IndexByte(text[begin:], '\n')
		switch line := text[begin:end]; {
		case slices.Contains(b.tooLong, number):
			t.note(b.file, number, errTooLong)
		case strings.Trim(line, " \t\r") == "":
		default:
			if err := t.parser.parse(t.Fields, b.text[begin:end], line, t.values); err != nil {
				t.note(b.file, number, err)
				break
			}
			t.record(Position{b.file, number})
		}
		begin = end + 1
	}
}

// note counts a malformed line.
func (t *tally) note(file int, line int64, err error) {
	t.Malformed++
	t.Noted = append(t.Noted, Malformed{Position{file, line}, err})
	if len(t.Noted) > 2*maxNoted {
		t.Noted = firstNoted(t.Noted)
	}
}

func firstNoted(noted []Malformed) []Malformed {
	slices.SortFunc(noted, func(a, b Malformed) int { return a.At.compare(b.At) })
	return noted[:min(len(noted), maxNoted)]
}

// record counts a record whose values were read.
func (t *tally) record(at Position) {
	when := t.time()
	if when.Before(t.Since) && !when.IsZero() {
		t.Earlier++
		return
	}
	t.Records++
	if when.IsZero() && !t.Since.IsZero() {
		t.isUnknown(fixed[startTime].Name + " is missing, or not as in 2026-11-29T14:03:00.123Z")
		return
	}
	t.Times.add(when)
	address := t.values[localAddress]
	if address.is == missing {
		t.isUnknown(fixed[localAddress].Name + " is missing")
		return
	}
	before, whyBefore := t.Before.find(address.text)
	after, whyAfter := before, whyBefore
	if t.After != nil {
		after, whyAfter = t.After.find(address.text)
	}
	in := cmp.Or(before, after)
	if in == nil {
		t.isUnknown(cmp.Or(whyBefore, whyAfter))
		return
	}
	if isHTTP(in) && strings.Contains(t.values[responseDetails].text, pathRefused) {
		t.isUnknown("the proxy refused the path before it asked the permissions")
		return
	}
	s := t.request()
	o := Outcome{Before: Verdict{why: whyBefore}, After: Verdict{why: whyAfter}}
	if before != nil {
		o.Before = t.decide(before.Decider, &s, t.After == nil)
	}
	if after != nil && t.After != nil {
		o.After = t.decide(after.Decider, &s, true)
	}
	o.Log = t.logged(in)
	decided := o.Before
	if t.After != nil {
		decided = o.After
	}
	t.courses.add(course{in, s.SpiffeID, decided}, o.Log, when)
	t.compare(in, o, &s, at, when)
}

// time returns the time of the record, or zero if it has none that can be read.
func (t *tally) time() time.Time {
	when, err := time.Parse(time.RFC3339Nano, t.values[startTime].text)
	if err != nil {
		return time.Time{}
	}
	return when.UTC()
}

// request returns the request of the record.
func (t *tally) request() recordedRequest {
	var s recordedRequest
	text := func(field int, isMissing *bool) string {
		*isMissing = t.values[field].is == missing
		return t.values[field].text
	}
	uris, ids := t.uris[:0], t.ids[:0]
	for uri := range strings.SplitSeq(text(peerURIs, &s.missing.SpiffeID), ",") {
		uris = append(uris, uri)
		if request.ClaimsID(uri) {
			ids = append(ids, uri)
		}
	}
	if t.uris, t.ids = uris, ids; len(ids) > 1 {
		s.ids = ids
	}
	s.missing.Tags = s.missing.SpiffeID
	if t.values[peerURIs].is == given {
		// A piece without a scheme is a part of a URI with a comma.
		if !slices.ContainsFunc(uris, func(uri string) bool { return !strings.Contains(uri, ":") }) {
			s.SpiffeID = request.ClientID(uris...)
		}
		tags, ok := request.ClientTags(uris...)
		s.Tags, s.missing.Tags = tags, !ok
	}
	s.SNI = text(serverName, &s.missing.SNI)
	s.Method = text(method, &s.missing.Method)
	s.Path = text(path, &s.missing.Path)
	t.lines = t.lines[:0]
	for _, name := range t.Fields.asked {
		i, logged := t.Fields.headers[name]
		switch {
		case !logged || t.values[i].is == missing:
			s.missing.Headers = append(s.missing.Headers, name)
		case t.values[i].is == given:
			t.lines = append(t.lines, request.Header{Name: name, Value: t.values[i].text})
		}
	}
	s.Headers = request.NewHeaders(t.lines...)
	return s
}

// pathRefused is in the details of a response to a request whose path the inbound refuses
// (SPEC 11.2). For such a request, Envoy logs another path.
const pathRefused = "path_normalization_failed"

func isHTTP(in *Inbound) bool { return request.ProtocolOf(in.Dataplane, in.Index) == request.HTTP }

// logged returns the decision in the log.
func (t *tally) logged(in *Inbound) Verdict {
	field := terminationDetails
	if isHTTP(in) {
		field = responseDetails
	}
	details := t.values[field]
	if details.is == missing {
		return Verdict{why: fixed[field].Name + " is missing"}
	}
	return Verdict{Known: true, Allow: !strings.Contains(details.text, "rbac_access_denied")}
}

// compare counts a record by the three decisions about it.
func (t *tally) compare(in *Inbound, o Outcome, s *recordedRequest, at Position, when time.Time) {
	verdicts := []Verdict{o.Log, o.Before, o.After}
	if t.After == nil {
		verdicts, o.After = verdicts[:2], Verdict{}
	}
	allowed, denied, why := false, false, ""
	for _, v := range verdicts {
		switch {
		case !v.Known:
			why = cmp.Or(why, v.why)
		case v.Allow:
			allowed = true
		default:
			denied = true
		}
	}
	if !allowed || !denied {
		if why != "" {
			t.isUnknown(why)
		}
		return
	}
	for _, v := range []*Verdict{&o.Log, &o.Before, &o.After} {
		v.why = "" // records with the same difference are grouped
	}
	d := t.differences[o]
	if d == nil {
		d = &DisagreementGroup{Outcome: o}
		t.differences[o] = d
	}
	d.Count++
	d.Times.add(when)
	d.exemplify(in, &s.Request, at)
}

func (t *tally) isUnknown(why string) {
	t.Unknown++
	t.Reasons[why]++
}
