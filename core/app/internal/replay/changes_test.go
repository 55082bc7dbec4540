package replay_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// A log is written while permissions are replaced. Each client of an inbound whose requests one
// entry decides, and whose decisions in the log changed once, belongs to a change of that time;
// and there are no other changes.
func TestChangesAgreeWithNaive(t *testing.T) {
	changed := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 8))
		before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
		headers := headersOf(before, after)
		edit := noon.Add(time.Duration(r.IntN(86_400)) * time.Second)
		type course struct {
			inbound    int
			client, by string
		}
		times := map[course]*[2][]time.Time{} // denied, allowed
		var lines []string
		for _, l := range randomLog(r, 600, headers) {
			l.missing = nil
			name, now := inbounds[l.inbound], l.decide(after[inbounds[l.inbound]])
			l.denied = !now.Allow
			if l.at.Before(edit) {
				l.denied = !l.decide(before[name]).Allow
			}
			lines = append(lines, l.line(headers))
			if l.at.IsZero() {
				continue
			}
			of := course{l.inbound, l.request().SpiffeID, fmt.Sprint(now.Allow, place(now.By))}
			if times[of] == nil {
				times[of] = &[2][]time.Time{}
			}
			i := 1
			if l.denied {
				i = 0
			}
			times[of][i] = append(times[of][i], l.at)
		}
		result := run(t, decided(dataplane(), after), nil, headers, lines...)
		if result.TooManyClients {
			t.Fatalf("seed %d: there are too many clients", seed)
		}
		type step struct {
			inbound     int
			allow       bool
			after, till time.Time
		}
		wanted := map[step]bool{}
		for of, both := range times {
			denied, allowed := both[0], both[1]
			slices.SortFunc(denied, time.Time.Compare)
			slices.SortFunc(allowed, time.Time.Compare)
			switch {
			case len(denied) == 0 || len(allowed) == 0:
			case denied[len(denied)-1].Before(allowed[0]):
				wanted[step{of.inbound, true, denied[len(denied)-1], allowed[0]}] = true
			case allowed[len(allowed)-1].Before(denied[0]):
				wanted[step{of.inbound, false, allowed[len(allowed)-1], denied[0]}] = true
			}
		}
		for s := range wanted {
			found := false
			for _, c := range result.Changes {
				found = found || c.Inbound.Index == s.inbound && c.Allow == s.allow && !c.After.Before(s.after) && !c.Before.After(s.till)
			}
			if !found {
				t.Fatalf("seed %d: %v is in no change of %d", seed, s, len(result.Changes))
			}
		}
		clients := 0
		for _, c := range result.Changes {
			clients += c.Clients
			begins, ends := false, false
			for s := range wanted {
				if s.inbound == c.Inbound.Index && s.allow == c.Allow {
					begins = begins || s.after.Equal(c.After)
					ends = ends || s.till.Equal(c.Before)
				}
			}
			if !begins || !ends || !c.After.Before(c.Before) || c.Clients < 1 {
				t.Fatalf("seed %d: nothing changes as %+v says", seed, c)
			}
		}
		if clients > len(times) || clients < len(result.Changes) {
			t.Fatalf("seed %d: %d clients in %d courses", seed, clients, len(times))
		}
		changed += len(result.Changes)
	}
	if changed < 100 {
		t.Errorf("only %d changes", changed)
	}
}

// Since leaves out earlier records, and a record whose time is not known is unknown then. Without
// Since, such a record is decided.
func TestSince(t *testing.T) {
	record := func(at string) string {
		return `{"downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":"spiffe://shop.mesh/web","response_code_details":"via_upstream"` + at + `}`
	}
	lines := []string{
		record(`,"start_time":"2026-11-29T11:59:59.999Z"`), record(`,"start_time":"2026-11-29T13:00:00+01:00"`), record(`,"start_time":"2026-11-29T12:30:00Z"`),
		record(""), record(`,"start_time":null`), record(`,"start_time":1764417600`), record(`,"start_time":{"a":[1]}`), record(`,"start_time":"yesterday"`),
	}
	closed := map[string]*permission.Permissions{"http": {Protocol: request.HTTP}, "tcp": {}}
	fields, err := replay.NewFields(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		since                     time.Time
		records, earlier, unknown int64
		first, last               string
	}{
		{time.Time{}, 8, 0, 0, "11:59:59.999", "12:30:00.000"},
		{noon, 7, 1, 5, "12:00:00.000", "12:30:00.000"},
		{noon.Add(time.Hour), 5, 3, 5, "00:00:00.000", "00:00:00.000"},
	} {
		in := &replay.Input{Files: []string{replay.Stdin}, Stdin: strings.NewReader(strings.Join(lines, "\n")), Fields: fields, Before: decided(dataplane(), closed), Since: test.since}
		result, err := replay.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		const clock = "15:04:05.000"
		if first, last := result.Times.First.Format(clock), result.Times.Last.Format(clock); first != test.first || last != test.last {
			t.Errorf("since %v: records from %s to %s, want %s to %s", test.since, first, last, test.first, test.last)
		}
		if result.Records != test.records || result.Earlier != test.earlier || result.Unknown != test.unknown || result.Malformed > 0 {
			t.Errorf("since %v: %d records, %d earlier, %d unknown, %d malformed", test.since, result.Records, result.Earlier, result.Unknown, result.Malformed)
		}
		differ := int64(0)
		for _, d := range result.Differences {
			differ += d.Count
		}
		if differ != test.records-test.unknown {
			t.Errorf("since %v: %d records differ", test.since, differ)
		}
	}
}

// With more clients than are followed, there is no change instead of a wrong one. An ID that no entry can
// name is none of them.
func TestChangesHaveALimit(t *testing.T) {
	closed := map[string]*permission.Permissions{"http": {Protocol: request.HTTP}, "tcp": {}}
	record := func(hour int, id, details string) string {
		return fmt.Sprintf(`{"start_time":"2026-11-29T%02d:00:00Z","downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":%q,"response_code_details":%q}`, hour, id, details)
	}
	lines := []string{record(1, "spiffe://shop.mesh/"+strings.Repeat("a", 3000), "via_upstream")}
	for i := range 100_000 {
		lines = append(lines, record(1, fmt.Sprintf("spiffe://shop.mesh/%06d", i), "via_upstream"))
	}
	lines = append(lines, record(2, "spiffe://shop.mesh/000007", "rbac_access_denied_matched_policy[none]"))
	rand.New(rand.NewPCG(1, 9)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	result := run(t, decided(dataplane(), closed), nil, nil, lines...)
	if result.TooManyClients || len(result.Changes) != 1 || result.Changes[0].Clients != 1 || result.Changes[0].Allow || result.Changes[0].SpiffeID != "spiffe://shop.mesh/000007" {
		t.Errorf("too many: %v; the changes are %+v", result.TooManyClients, result.Changes)
	}
	result = run(t, decided(dataplane(), closed), nil, nil, append(lines, record(1, "spiffe://shop.mesh/one-more", "via_upstream"))...)
	if !result.TooManyClients || result.Changes != nil {
		t.Errorf("with one more, too many is %v, and there are %d changes", result.TooManyClients, len(result.Changes))
	}
}

// Only the entries of the inbounds of a log are asked, even about a client that is denied before them.
func TestAskedEntries(t *testing.T) {
	p := permissiontest.Random(t, rand.New(rand.NewPCG(2, 10)))
	for _, uris := range []string{"spiffe://shop.mesh/web", "spiffe://shop.mesh/web,spiffe://shop.mesh/api"} {
		for i, name := range inbounds {
			line := fmt.Sprintf(`{"downstream_local_address":"10.0.0.1:%d","downstream_peer_uri_san":%q}`, 80+10*i, uris)
			want := map[replay.Entry]bool{}
			for _, e := range access.ListOf(p[name]).Entries {
				want[replay.EntryOf(e.By)] = true
			}
			if got := run(t, decided(dataplane(), p), nil, headersOf(p), line).Asked; len(want) == 0 || !maps.Equal(got, want) {
				t.Errorf("%s of %s: %d entries are asked, want %d", uris, name, len(got), len(want))
			}
		}
	}
}
