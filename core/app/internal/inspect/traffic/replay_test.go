package traffic_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
)

// replayOf replays the records of a log.
func replayOf(t *testing.T, log string, q traffic.ReplayQuery, before, after *core.View) *traffic.Replay {
	t.Helper()
	q.Files, q.Stdin = []string{replay.Stdin}, strings.NewReader(log)
	r, err := traffic.NewReplay(t.Context(), before, after, "default", q, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// record returns the record of a request of web to its inbound.
func record(method, path, details string) string {
	return fmt.Sprintf(`{"downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":"spiffe://td/web","requested_server_name":null,"method":%q,"path":%q,"authority":"web","response_code_details":%q}`+"\n", method, path, details)
}

// What differs between the decisions of a log and of the permissions (SPEC 13.6): records,
// malformed and unknown ones, and differences with their number.
func TestReplay(t *testing.T) {
	const (
		denied  = "rbac_access_denied_matched_policy[none]"
		get     = "{allow: [{method: GET}]}"
		post    = "{allow: [{method: POST}]}"
		nothing = "1 records, 0 malformed, 0 unknown"
	)
	for _, c := range []struct{ rule, rules, after, log, want string }{
		{"equal decisions", get, "", record("GET", "/", "via_upstream"), nothing},
		{"the log denied it, too", get, "", record("POST", "/", denied), nothing},
		{"the log allowed it", get, "", record("POST", "/", "via_upstream"), nothing + "; 1 log ALLOW, before DENY by default"},
		{"the log denied it", get, "", record("GET", "/", denied), nothing + "; 1 log DENY, before ALLOW by allow[0]"},
		{"the later permissions decide differently", get, post, record("GET", "/", "via_upstream"), nothing + "; 1 log ALLOW, before ALLOW by allow[0], after DENY by default"},
		{"equal differences are one, the most frequent first", get, "", record("POST", "/a", "via_upstream") + record("GET", "/", denied) + record("POST", "/b", "via_upstream"),
			"3 records, 0 malformed, 0 unknown; 2 log ALLOW, before DENY by default; 1 log DENY, before ALLOW by allow[0]"},
		{"an empty line is ignored", get, "", "\n" + record("GET", "/", "via_upstream"), nothing},
		{"a line that is no object", get, "", "[]\n", "0 records, 1 malformed, 0 unknown"},
		{"a field twice", get, "", `{"method":"GET","method":"GET"}` + "\n", "0 records, 1 malformed, 0 unknown"},
		{"a field that is no text", get, "", `{"method":1}` + "\n", "0 records, 1 malformed, 0 unknown"},
		{"no inbound listens there", get, "", strings.Replace(record("GET", "/", "via_upstream"), "10.0.0.1", "10.0.0.9", 1), "1 records, 0 malformed, 1 unknown"},
		{"a missing method decides", get, "", strings.Replace(record("GET", "/", "via_upstream"), `"method":"GET",`, "", 1), "1 records, 0 malformed, 1 unknown"},
		{"a missing path does not matter", get, "", strings.Replace(record("GET", "/", "via_upstream"), `"path":"/",`, "", 1), nothing},
		{"a path that the inbound refuses", get, "", record("GET", "/", "path_normalization_failed"), "1 records, 0 malformed, 1 unknown"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			var after *core.View
			if c.after != "" {
				after = coretest.View(t, withPermission(c.after))
			}
			r := replayOf(t, c.log, traffic.ReplayQuery{}, coretest.View(t, withPermission(c.rules)), after)
			got := fmt.Sprintf("%d records, %d malformed, %d unknown", r.Records, r.Malformed, r.Unknown)
			for i := range r.Differences {
				d := &r.Differences[i]
				got += fmt.Sprintf("; %d log %s, before %s", d.Count, d.Log, decisionText(d.Before))
				if d.After != nil {
					got += ", after " + decisionText(*d.After)
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if changed := len(r.Differences) > 0; r.Changed() != changed {
				t.Errorf("changed: got %t", r.Changed())
			}
		})
	}
}

func decisionText(d inspect.Decision) string {
	if d.By.Default {
		return d.Decision + " by default"
	}
	return d.Decision + " by " + entryText(d.By)
}

// entryText returns the list and the index of an entry.
func entryText(by inspect.Decider) string {
	if by.Index == nil {
		return "no entry"
	}
	return fmt.Sprintf("%s[%d]", by.List, *by.Index)
}

// Entries that decided about no record, and SPIFFE IDs that no entry names (SPEC 13.6).
func TestReplayUnused(t *testing.T) {
	const rules = "{allow: [{method: GET}, {method: PUT}, {spiffeId: {type: Exact, value: spiffe://td/api}}]}"
	view := coretest.View(t, withPermission(rules))
	r := replayOf(t, record("GET", "/", "via_upstream"), traffic.ReplayQuery{}, view, nil)
	var unused []string
	for _, by := range r.NeverHit {
		unused = append(unused, entryText(by))
	}
	if got := strings.Join(unused, " "); got != "allow[1] allow[2]" {
		t.Errorf("entries that decide about no record: %s", got)
	}
	if got := fmt.Sprint(r.Unnamed); got != "[spiffe://td/web]" {
		t.Errorf("IDs that no entry names: %s", got)
	}
	if r = replayOf(t, "", traffic.ReplayQuery{}, view, nil); len(r.NeverHit) > 0 || len(r.Unnamed) > 0 {
		t.Errorf("a log without records: %v, %v", r.NeverHit, r.Unnamed)
	}
}

// Times are those of the records; earlier ones are left out (SPEC 13.6). Between two decisions of
// the log about one client, which one entry decides, what was in force has changed.
func TestReplayTimes(t *testing.T) {
	at := func(clock, details string) string {
		return strings.Replace(record("GET", "/", details), "{", `{"start_time":"2026-11-29T`+clock+`:00Z",`, 1)
	}
	const denied = "rbac_access_denied_matched_policy[none]"
	log := at("12:01", "via_upstream") + at("12:02", "via_upstream") + at("12:05", denied) + at("12:07", denied)
	view := coretest.View(t, withPermission("{allow: [{method: GET}]}"))
	clock := func(t time.Time) string { return t.UTC().Format("15:04") }

	r := replayOf(t, log, traffic.ReplayQuery{}, view, nil)
	if r.First == nil || r.Last == nil || clock(*r.First) != "12:01" || clock(*r.Last) != "12:07" {
		t.Errorf("times from %v to %v, want 12:01 to 12:07", r.First, r.Last)
	}
	if len(r.Changes) != 1 {
		t.Fatalf("got the changes %+v, want one", r.Changes)
	}
	if c := r.Changes[0]; c.From != "ALLOW" || c.To != "DENY" || clock(c.After) != "12:02" || clock(c.Before) != "12:05" || c.Clients != 1 || c.SpiffeID != "spiffe://td/web" {
		t.Errorf("got the change %+v, want ALLOW to DENY between 12:02 and 12:05", c)
	}

	r = replayOf(t, log+record("GET", "/", "via_upstream"), traffic.ReplayQuery{Since: time.Date(2026, 11, 29, 12, 5, 0, 0, time.UTC)}, view, nil)
	if r.Earlier != 2 || r.Records != 3 || r.Unknown != 1 {
		t.Errorf("since 12:05: %d earlier, %d records, %d unknown; want 2, 3, and 1 without a time", r.Earlier, r.Records, r.Unknown)
	}
	r = replayOf(t, at("12:01", "via_upstream")+at("12:02", denied)+at("12:03", "via_upstream"), traffic.ReplayQuery{}, view, nil)
	if len(r.Changes) > 0 {
		t.Errorf("decisions in turns are the changes %+v", r.Changes)
	}
}
