package replay_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// inbounds are the names of the inbounds of a scenario, in the order of the test's
// dataplane.
var inbounds = []string{"http", "tcp"}

// dataplane returns a dataplane with the two inbounds of a scenario.
func dataplane() *resource.Dataplane {
	return &resource.Dataplane{
		Meta: resource.Meta{ID: resource.ID{Kind: "Dataplane", Mesh: "default", Name: "d"}}, Address: "10.0.0.1",
		Inbounds: []resource.Inbound{{Port: 80, Name: "http", Protocol: "http"}, {Port: 90, Name: "tcp", Protocol: "tcp"}},
	}
}

// decided returns the inbounds with the permissions of a scenario.
func decided(d *resource.Dataplane, permissions map[string]*permission.Permissions) *replay.Inbounds {
	var list []replay.Inbound
	for i, name := range inbounds {
		p := permissions[name]
		list = append(list, replay.Inbound{Dataplane: d, Index: i, Decider: replay.NewDecider(func() (*permission.Permissions, *access.Space) {
			return p, &access.Space{Protocol: p.Protocol}
		})})
	}
	return replay.NewInbounds(list)
}

// headersOf returns the headers that the entries of scenarios compare.
func headersOf(all ...map[string]*permission.Permissions) []string {
	var names []string
	for _, permissions := range all {
		for _, p := range permissions {
			names = append(names, access.ListOf(p).Parts().Headers...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// logged is a record with its inbound, request and decision.
type logged struct {
	inbound int
	client  *permissiontest.Call
	denied  bool
	missing []string  // fields
	at      time.Time // zero: it has none
}

// request returns the proxy's view of the request.
func (l *logged) request() *request.Request {
	r := l.client.Request()
	uris := l.client.Certificate(true)
	r.SpiffeID = request.ClientID(uris...)
	if inbounds[l.inbound] == "tcp" {
		r.Method, r.Path, r.Headers = "", "", nil
	}
	return r
}

// decide returns the decision of an inbound about the request. A client whose log has several
// SPIFFE IDs is denied before the permissions are asked.
func (l *logged) decide(p *permission.Permissions) permission.Decision {
	if l.severalIDs() {
		return permission.Decision{}
	}
	return p.Decide(l.request()).Decision
}

// severalIDs reports whether the client's certificate has more than one SPIFFE ID.
func (l *logged) severalIDs() bool {
	ids := slices.DeleteFunc(strings.Split(strings.Join(l.client.Certificate(true), ","), ","), func(uri string) bool { return !request.ClaimsID(uri) })
	return len(ids) > 1
}

// line returns the record in Envoy's form.
func (l *logged) line(headers []string) string {
	text := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	r := l.request()
	record := map[string]any{
		"downstream_local_address": []string{"10.0.0.1:80", "10.0.0.1:90"}[l.inbound], "downstream_peer_uri_san": text(strings.Join(l.client.Certificate(true), ",")),
		"requested_server_name": text(r.SNI), "method": text(r.Method), "path": text(r.Path), "response_code_details": "via_upstream", "connection_termination_details": nil,
		"duration": 5,
	}
	if l.denied {
		record["response_code_details"], record["connection_termination_details"] = "rbac_access_denied_matched_policy[none]", "rbac_access_denied_matched_policy[none]"
	}
	if !l.at.IsZero() {
		record["start_time"] = l.at.Format(time.RFC3339Nano)
	}
	for _, name := range headers {
		key, value := name, any(nil)
		if got, present := r.Headers.Get(name); present {
			value = got
		}
		if name == "host" {
			key = "authority"
		}
		record[key] = value
	}
	for _, name := range l.missing {
		delete(record, name)
	}
	data, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// noon is the first time of random logs.
var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// randomLog returns records; one in four lacks fields.
func randomLog(r *rand.Rand, count int, headers []string) []*logged {
	fields := append([]string{"downstream_peer_uri_san", "requested_server_name", "method", "path", "authority", "response_code_details", "connection_termination_details"}, headers...)
	var log []*logged
	for len(log) < count {
		l := &logged{inbound: r.IntN(2), client: permissiontest.RandomClient(r), denied: r.IntN(2) == 0}
		if r.IntN(8) > 0 {
			l.at = noon.Add(time.Duration(r.IntN(86_400_000)) * time.Millisecond)
		}
		if l.client.HasComma(true) {
			continue // the inbound refuses the request
		}
		if r.IntN(4) == 0 {
			for range 1 + r.IntN(3) {
				l.missing = append(l.missing, fields[r.IntN(len(fields))])
			}
		}
		log = append(log, l)
	}
	return log
}

// run replays lines.
func run(t testing.TB, before, after *replay.Inbounds, headers []string, lines ...string) *replay.Result {
	t.Helper()
	fields, err := replay.NewFields(headers, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &replay.Input{Files: []string{replay.Stdin}, Stdin: strings.NewReader(strings.Join(lines, "\n")), Fields: fields, Before: before, After: after}
	result, err := replay.Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// place names the entry or item that decides, for comparison.
func place(p *permission.Place) string {
	if p == nil || p.Policy == nil {
		return "default"
	}
	return fmt.Sprint(p.Policy.Name, p.Rule, p.List, p.Index)
}

func outcome(log bool, before, after permission.Decision) string {
	return fmt.Sprintf("log %v, before %s by %s, after %s by %s", !log, before, place(before.By), after, place(after.By))
}

// The counts for records with all fields equal the counts of a simple loop.
func TestReplayAgreesWithNaive(t *testing.T) {
	differences := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
		headers := headersOf(before, after)
		want, hits, unnamed := map[string]int64{}, map[string]bool{}, map[string]bool{}
		var lines []string
		for _, l := range randomLog(r, 300, headers) {
			l.missing = nil
			lines = append(lines, l.line(headers))
			name, request := inbounds[l.inbound], l.request()
			old, next := l.decide(before[name]), l.decide(after[name])
			if old.Allow != next.Allow || old.Allow == l.denied {
				want[outcome(l.denied, old, next)]++
				differences++
			}
			hits[place(next.By)] = true
			if request.SpiffeID != "" && !namesClient(after[name], request) {
				unnamed[request.SpiffeID] = true
			}
		}
		d := dataplane()
		result := run(t, decided(d, before), decided(d, after), headers, lines...)
		got := map[string]int64{}
		for _, d := range result.Differences {
			key := fmt.Sprintf("log %v, before %s by %s, after %s by %s", d.Log.Allow,
				permission.Decision{Allow: d.Before.Allow}, place(&d.Before.By), permission.Decision{Allow: d.After.Allow}, place(&d.After.By))
			got[key] += d.Count
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: differences (-want +got):\n%s", seed, diff)
		}
		if result.Records != 300 || result.Unknown+result.Malformed != 0 {
			t.Fatalf("seed %d: %d records, %d unknown, %d malformed; %v", seed, result.Records, result.Unknown, result.Malformed, result.Reasons)
		}
		delete(hits, "default")
		for e := range result.Hits {
			key := fmt.Sprint(e.Policy.Name, e.Rule, e.List, e.Index)
			if !hits[key] {
				t.Fatalf("seed %d: %s is hit", seed, key)
			}
			delete(hits, key)
		}
		if len(hits) > 0 {
			t.Fatalf("seed %d: %v are not hit", seed, hits)
		}
		for _, id := range result.Unnamed {
			if !unnamed[id] {
				t.Fatalf("seed %d: %s is not unnamed", seed, id)
			}
			delete(unnamed, id)
		}
		if len(unnamed) > 0 {
			t.Fatalf("seed %d: %v are unnamed", seed, unnamed)
		}
	}
	if differences < 1000 {
		t.Errorf("only %d differences", differences)
	}
}

// namesClient compares the client with every entry.
func namesClient(p *permission.Permissions, r *request.Request) bool {
	return slices.ContainsFunc(access.ListOf(p).Entries, func(e access.Entry) bool {
		return e.Match != nil && e.Match.SpiffeID != nil && request.SpiffeIDMatches(e.Match.SpiffeID, r.SpiffeID) || len(e.Tags) > 0 && r.Tags.Contains(e.Tags)
	})
}

// If the decision about a record without some fields is known, it equals the
// decision about the complete record. Only a client with several SPIFFE IDs, which no
// permission decides, is taken for one without if the record lacks its certificate.
func TestMissingFieldsAreNeverGuessed(t *testing.T) {
	unknown, known := int64(0), int64(0)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 4))
		permissions := permissiontest.Random(t, r)
		headers := headersOf(permissions)
		d := dataplane()
		for _, l := range randomLog(r, 60, headers) {
			result := run(t, decided(d, permissions), nil, headers, l.line(headers))
			decision := l.decide(permissions[inbounds[l.inbound]])
			differs := decision.Allow == l.denied
			switch {
			case result.Unknown == 1:
				unknown++
				if len(l.missing) == 0 {
					t.Fatalf("seed %d: %s is unknown: %v", seed, l.line(headers), result.Reasons)
				}
			case l.severalIDs() && slices.Contains(l.missing, "downstream_peer_uri_san"):
			case len(result.Differences) == 1 != differs:
				t.Fatalf("seed %d: %s differs: %v, want %v", seed, l.line(headers), !differs, differs)
			case len(l.missing) > 0:
				known++
			}
		}
	}
	if unknown < 100 || known < 100 {
		t.Errorf("%d records with missing fields are unknown, %d are known", unknown, known)
	}
}

// The result does not depend on the order of the records, on how they are divided into
// files, and on compression.
func TestOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
	headers := headersOf(before, after)
	fields, err := replay.NewFields(headers, nil)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range randomLog(r, 4000, headers) {
		lines = append(lines, l.line(headers))
	}
	d := dataplane()
	show := func(result *replay.Result) string {
		slices.SortFunc(result.Differences, func(a, b *replay.DisagreementGroup) int {
			return cmp.Or(cmp.Compare(a.Count, b.Count), strings.Compare(fmt.Sprint(a.Outcome), fmt.Sprint(b.Outcome)))
		})
		text := fmt.Sprint(result.Records, result.Unknown, result.Reasons, len(result.Hits), len(result.Asked), result.Unnamed, result.Times)
		for _, d := range result.Differences {
			text += fmt.Sprintf("\n%v %d %s %+v %v", d.Outcome, d.Count, d.Inbound.Dataplane.Name, d.Request, d.Times)
		}
		for _, c := range result.Changes {
			text += fmt.Sprintf("\n%d %v %v %v %d %s", c.Inbound.Index, c.Allow, c.After, c.Before, c.Clients, c.SpiffeID)
		}
		return text
	}
	want := show(run(t, decided(d, before), decided(d, after), headers, lines...))
	for range 3 {
		r.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		in := &replay.Input{Fields: fields, Before: decided(d, before), After: decided(d, after)}
		for i, part := range [][]string{lines[:1], lines[1:3000], lines[3000:]} {
			name := filepath.Join(t.TempDir(), fmt.Sprint("log", i))
			data := []byte(strings.Join(part, "\n"))
			if i == 1 {
				data = zipped(t, data)
			}
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
			in.Files = append(in.Files, name)
		}
		result, err := replay.Run(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, show(result)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}

func zipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Lines have a limit, and the first malformed lines are reported with their
// numbers.
func TestMalformedLines(t *testing.T) {
	d := dataplane()
	open := decided(d, permissiontest.Random(t, rand.New(rand.NewPCG(1, 6))))
	long := `{"path":"` + strings.Repeat("a", 1<<20) + `"}`
	exact := `{"path":"` + strings.Repeat("a", 1<<20-len(`{"path":""}`)) + `"}`
	lines := []string{long, exact, "", "  ", "no", long, `{}`}
	for range 20 {
		lines = append(lines, strings.Repeat(`{"a":1}`+"\n", 30_000)+"[]")
	}
	result := run(t, open, nil, nil, append(lines, long)...)
	if result.Malformed != 24 || result.Records != 2+20*30_000 {
		t.Errorf("%d records, %d malformed", result.Records, result.Malformed)
	}
	var got []string
	for _, m := range result.Noted {
		got = append(got, fmt.Sprint(m.At.Line, " ", m.Why))
	}
	want := []string{"1 the line is longer than 1048576 bytes", "5 not valid JSON", "6 the line is longer than 1048576 bytes"}
	for i := range 7 {
		want = append(want, fmt.Sprint(8+30_000+i*30_001, " not a JSON object"))
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The identities in a result have a limit.
func TestUnnamedHasALimit(t *testing.T) {
	closed := map[string]*permission.Permissions{"http": {Protocol: request.HTTP}, "tcp": {}}
	var lines []string
	for i := range 3 * replay.MaxUnnamed {
		lines = append(lines, fmt.Sprintf(`{"downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":"spiffe://shop.mesh/%06d","response_code_details":null}`, i))
	}
	rand.New(rand.NewPCG(1, 7)).Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
	result := run(t, decided(dataplane(), closed), nil, nil, lines...)
	if !result.TooManyUnnamed || len(result.Unnamed) != replay.MaxUnnamed || result.Unnamed[replay.MaxUnnamed-1] != "spiffe://shop.mesh/009999" {
		t.Errorf("%d identities, too many: %v", len(result.Unnamed), result.TooManyUnnamed)
	}
}

func TestFiles(t *testing.T) {
	directory := t.TempDir()
	cut := filepath.Join(directory, "cut.gz")
	data := zipped(t, []byte(strings.Repeat(`{"path":"/a"}`+"\n", 1000)))
	if err := os.WriteFile(cut, data[:len(data)-9], 0o600); err != nil {
		t.Fatal(err)
	}
	fields, err := replay.NewFields(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	in := &replay.Input{Fields: fields, Before: replay.NewInbounds(nil)}
	in.Files = []string{filepath.Join(directory, "absent")}
	if _, err := replay.Run(t.Context(), in); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	in.Files = []string{directory}
	if _, err := replay.Run(t.Context(), in); err == nil {
		t.Error("a directory is read")
	}
	in.Files = []string{cut}
	if _, err := replay.Run(t.Context(), in); err == nil || !strings.Contains(err.Error(), "cut.gz:1001: unexpected EOF") {
		t.Errorf("a file that is cut off: %v", err)
	}
}

// An inbound is found by the address to which the client connected.
func TestInboundsByAddress(t *testing.T) {
	redirected := func(d *resource.Dataplane) {
		d.TransparentProxy = &resource.TransparentProxy{RedirectPortInbound: 15006}
	}
	for _, test := range []struct {
		name    string
		change  func(d *resource.Dataplane)
		address string
		want    int // the inbound; -1: none
	}{
		{"the listener", nil, "10.0.0.1:90", 1},
		{"another port", nil, "10.0.0.1:91", -1},
		{"another address", nil, "10.0.0.2:90", -1},
		{"an address of its own", func(d *resource.Dataplane) { d.Inbounds[1].Address = "10.0.0.9" }, "10.0.0.9:90", 1},
		{"all addresses", func(d *resource.Dataplane) { d.Inbounds[1].Address = "0.0.0.0" }, "10.0.0.1:90", 1},
		{"IPv6, in another form", func(d *resource.Dataplane) { d.Address = "fd00:0::1" }, "[fd00::1]:90", 1},
		{"IPv4 in IPv6", nil, "[::ffff:10.0.0.1]:90", 1},
		{"the workload's port", func(d *resource.Dataplane) { d.Inbounds[1].ServicePort = 5432 }, "10.0.0.1:5432", -1},
		{"the workload's port, redirected", func(d *resource.Dataplane) { redirected(d); d.Inbounds[1].ServicePort = 5432 }, "10.0.0.1:5432", 1},
		{"one of two with a workload", func(d *resource.Dataplane) {
			redirected(d)
			d.Inbounds[0].ServicePort, d.Inbounds[1].ServicePort = 5432, 5432
		}, "10.0.0.1:5432", 0},
		{"a listener at a workload's port", func(d *resource.Dataplane) { redirected(d); d.Inbounds[0].ServicePort = 90 }, "10.0.0.1:90", 1},
		{"two inbounds", func(d *resource.Dataplane) { d.Inbounds[0].Port = 90 }, "10.0.0.1:90", -1},
		{"no address", nil, "envoy://internal", -1},
		{"a host name", func(d *resource.Dataplane) { d.Address = "host" }, "host:90", -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := dataplane()
			if test.change != nil {
				test.change(d)
			}
			everything := &permission.Permissions{Protocol: request.TCP, NotApplied: true}
			all := decided(d, map[string]*permission.Permissions{"http": everything, "tcp": everything})
			record := fmt.Sprintf(`{"downstream_local_address":%q,"response_code_details":"rbac_access_denied","connection_termination_details":"rbac_access_denied"}`, test.address)
			result := run(t, all, nil, nil, record)
			if test.want < 0 {
				if result.Unknown != 1 {
					t.Errorf("an inbound is found")
				}
				return
			}
			if len(result.Differences) != 1 || result.Differences[0].Inbound.Index != test.want {
				t.Errorf("the inbound is not found: %v", result.Reasons)
			}
		})
	}
}

// A refusal before the permissions apply is not a decision of the permissions.
func TestRefusedPathsAreUnknown(t *testing.T) {
	closed := map[string]*permission.Permissions{"http": {Protocol: request.HTTP}, "tcp": {}}
	const record = `{"downstream_local_address":"10.0.0.1:80","path":"/a","response_code_details":"path_normalization_failed"}`
	result := run(t, decided(dataplane(), closed), nil, nil, record)
	if result.Unknown != 1 || len(result.Differences) != 0 {
		t.Errorf("%d unknown, %d differences", result.Unknown, len(result.Differences))
	}
}

// The clients of certificates whose URIs have commas, several IDs, or several values of a
// tag.
func TestClients(t *testing.T) {
	all := map[string]*permission.Permissions{"http": {Protocol: request.HTTP}, "tcp": {}}
	for san, want := range map[string]string{
		"spiffe://a/b":                       "spiffe://a/b",
		"spiffe://a/b,kuma://team/x":         "spiffe://a/b",
		"kuma://team/x,kuma://v/1":           "",
		"spiffe://a/b,spiffe://a/c":          "",
		"spiffe://a/b,c":                     "",
		"urn:x,spiffe://a/b":                 "spiffe://a/b",
		"SPIFFE://a/b":                       "",
		"spiffe://a/b/":                      "",
		"-":                                  "",
		"kuma://team/x,kuma://team/y,urn:a ": "",
	} {
		record := fmt.Sprintf(`{"downstream_local_address":"10.0.0.1:80","downstream_peer_uri_san":%q,"method":"GET","path":"/","requested_server_name":null,"response_code_details":null}`, san)
		result := run(t, decided(dataplane(), all), nil, nil, record)
		if len(result.Differences) != 1 || result.Differences[0].Request.SpiffeID != want {
			t.Errorf("%s: %v", san, result.Differences)
		}
	}
}
