package diff_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// compared returns the diff of two views by a semantics.
func compared(t *testing.T, by semantics.Semantics, before, after string, options inspect.Options) *diff.Diff {
	t.Helper()
	var views [2]*core.View
	for i, text := range []string{before, after} {
		var err error
		if views[i], err = (core.Options{Semantics: by}).NewView(t.Context(), kinds.All(), resourcetest.Decode(t, text)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := diff.New(views[0], views[1], "default", options)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// changesOf has the field, and the values before and after, of each change of the first group.
func changesOf(d *diff.Diff) string {
	var all []string
	if len(d.Groups) > 0 {
		for _, c := range d.Groups[0].Changes {
			place := ""
			switch {
			case c.Place.Match != nil:
				place = "match "
			case c.Place.Selector != nil:
				place = "clients "
			}
			all = append(all, fmt.Sprintf("%s%s %s→%s", place, c.Field, text(c.Before), text(c.After)))
		}
	}
	return strings.Join(all, "; ")
}

// text returns a value as JSON; one that is not set is null.
func text(value json.RawMessage) string {
	if value == nil {
		return "null"
	}
	return string(value)
}

// The fields of a change by leaves (SPEC 6, 10): of confs for clients and matches, the order of
// rules, and the entries of permissions.
func TestConfChanges(t *testing.T) {
	const (
		one, two = "{spiffeId: {type: Exact, value: spiffe://td/a}}", "{spiffeId: {type: Exact, value: spiffe://td/b}}"
		limits   = "MeshRateLimit p {targetRef: {kind: Dataplane, name: web}, "
	)
	written := strings.NewReplacer("spiffeId: {type: Exact, value: ", `"spiffeId":{"type":"Exact","value":"`, "}}", `"}}`).Replace
	limit := func(n string) string { return "{local: {http: {requestRate: {num: " + n + ", interval: 1s}}}}" }
	for _, c := range []struct{ rule, before, after, want string }{
		{"a value", limits + "rules: [{default: " + limit("1") + "}]}", limits + "rules: [{default: " + limit("2") + "}]}", "match /local/http/requestRate/num 1→2"},
		{"a field that is added", limits + "rules: [{default: " + limit("1") + "}]}", limits + "rules: [{default: {local: {http: {disabled: false, requestRate: {num: 1, interval: 1s}}}}}]}", "match /local/http/disabled null→false"},
		{"a rule for a match", limits + "rules: [{matches: [" + one + "], default: " + limit("1") + "}]}", limits + "rules: [{matches: [" + one + "], default: " + limit("2") + "}]}", "match /local/http/requestRate/num 1→2"},
		{"all clients of from", limits + "from: [{default: " + limit("1") + "}]}", limits + "from: [{default: " + limit("2") + "}]}", "clients /local/http/requestRate/num 1→2"},
		{"some clients of from", limits + "from: [{default: " + limit("1") + "}]}",
			limits + "from: [{default: " + limit("1") + "}, {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: " + limit("2") + "}]}", "clients /local/http/requestRate/num 1→2"},
		{"items that change no conf", limits + "from: [{default: " + limit("1") + "}]}",
			limits + "from: [{default: " + limit("2") + "}, {default: " + limit("1") + "}]}", ""},
		{"the order of rules, of those that both have", limits + "rules: [{matches: [" + one + "], default: " + limit("1") + "}, {matches: [" + two + "], default: " + limit("1") + "}]}",
			limits + "rules: [{matches: [" + two + "], default: " + limit("1") + "}, {matches: [" + one + "], default: " + limit("1") + "}]}",
			"order [" + written(one) + "," + written(two) + "]→[" + written(two) + "," + written(one) + "]"},
		{"an outbound that has no conf any longer", "MeshTimeout p {targetRef: {kind: Dataplane, name: api}, to: [{targetRef: {kind: MeshService, name: a}, default: {idleTimeout: 1s}}]}",
			"MeshTimeout p {targetRef: {kind: Dataplane, name: api}, to: [{targetRef: {kind: MeshService, name: b}, default: {idleTimeout: 1s}}]}", " {}→null; /idleTimeout \"1s\"→null"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d := compared(t, core.TargetRef, withPolicies(c.before), withPolicies(c.after), inspect.Options{})
			if got := changesOf(d); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Nothing is equal without a comparison (SPEC 10): resources that differ although no dataplane shows
// the effect, with their findings.
func TestNotCompared(t *testing.T) {
	const (
		idle     = "---\n{type: MeshTimeout, name: idle, spec: {targetRef: {kind: Dataplane, labels: {app: none}}, to: [{default: {idleTimeout: %s}}]}}\n"
		mesh     = "---\n{type: Mesh, name: default%s}\n"
		identity = "---\n{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: %s}, provider: {type: Spire}}}\n"
	)
	with := func(documents, value string) string { return strings.ReplaceAll(documents, "%s", value) }
	for _, c := range []struct{ rule, before, after, want, codes string }{
		{"a policy that selects no dataplane on either side", workloads + with(idle, "1s"), workloads + with(idle, "2s"), "MeshTimeout idle: it selects no dataplane", "MM7005"},
		{"a policy that does not differ", workloads + with(idle, "1s"), workloads + with(idle, "1s"), "", ""},
		{"a policy that is removed", workloads + with(idle, "1s"), workloads, "MeshTimeout idle: it selects no dataplane", "MM7005"},
		{"a mesh without dataplanes on the new side", workloads + with(idle, "1s"), strings.TrimPrefix(with(idle, "2s"), "---\n"), "MeshTimeout idle: the mesh has dataplanes in the old input alone", "MM7004"},
		{"a mesh without dataplanes", strings.TrimPrefix(with(idle, "1s"), "---\n"), strings.TrimPrefix(with(idle, "2s"), "---\n"), "MeshTimeout idle: the mesh has no dataplanes", "MM7004"},
		{"an identity in a mesh without dataplanes", strings.TrimPrefix(with(identity, "a"), "---\n"), strings.TrimPrefix(with(identity, "b"), "---\n"), "MeshIdentity ids: the mesh has no dataplanes", "MM7004"},
		{"a Mesh without dataplanes", strings.TrimPrefix(with(mesh, ""), "---\n"), strings.TrimPrefix(with(mesh, ", meshServices: {mode: Exclusive}"), "---\n"), "Mesh default: the mesh has no dataplanes", "MM7004"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d := compared(t, core.TargetRef, c.before, c.after, inspect.Options{})
			var got, codes []string
			for i := range d.NotCompared {
				got = append(got, d.NotCompared[i].String())
			}
			for _, f := range d.Findings(false) {
				codes = append(codes, f.Code.String())
			}
			if text := strings.Join(got, "; "); text != c.want || strings.Join(codes, " ") != c.codes {
				t.Errorf("got %q, findings %v; want %q, %s", text, codes, c.want, c.codes)
			}
			if without := c.codes == "MM7004"; d.HasMeshWithoutDataplanes() != without {
				t.Errorf("a mesh without dataplanes: got %t", !without)
			}
			if only := c.want != "" && len(d.Removed) == 0; d.OnlyNotCompared() != only || d.Empty() != (c.want == "") {
				t.Errorf("only what was not compared: got %t; empty: got %t", d.OnlyNotCompared(), d.Empty())
			}
		})
	}
}

// What changes for destinations other than by policies (SPEC 10).
func TestDestinations(t *testing.T) {
	const (
		api      = "{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api}}]}}\n"
		web      = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}\n"
		service  = "---\n{type: MeshService, name: api, labels: {%l}, spec: {selector: {dataplaneLabels: {matchLabels: {app: %s}}}, ports: [{port: %p, targetPort: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}\n"
		external = "---\n{type: MeshExternalService, name: db, spec: {match: {type: HostnameGenerator, port: 5432, protocol: tcp}, endpoints: [{address: db.example, port: 5432}], tls: {enabled: true, verification: {clientCert: {inlineString: %c}, clientKey: {inlineString: %k}}}}}\n"
	)
	of := strings.NewReplacer("%l", "", "%s", "api", "%p", "80").Replace
	for _, c := range []struct{ rule, before, after, want string }{
		{"no change", api + of(service), api + of(service), ""},
		{"a port", api + of(service), api + strings.NewReplacer("%l", "", "%s", "api", "%p", "81").Replace(service), "changed MeshService api: /spec/ports/0/port 80→81"},
		{"a label", api + of(service), api + strings.NewReplacer("%l", "team: shop", "%s", "api", "%p", "80").Replace(service), `changed MeshService api: /labels/team null→"shop"`},
		{"a service that is added has its ports and addresses", api, api + of(service), `added MeshService api: /spec/ports/0/port null→80, /spec/ports/0/targetPort null→80, /status/vips/0 null→"241.0.0.1"`},
		{"a service that is removed", api + of(service), api, `removed MeshService api: /spec/ports/0/port 80→null, /spec/ports/0/targetPort 80→null, /status/vips/0 "241.0.0.1"→null`},
		{"a selector", api + of(service), api + strings.NewReplacer("%l", "", "%s", "web", "%p", "80").Replace(service),
			`changed MeshService api: /spec/selector/dataplaneLabels/matchLabels/app "api"→"web"`},
		{"a dataplane that is added", web + of(service), web + "---\n" + api + of(service), `changed MeshService api: ; added endpoints [kri_dp_default___api_]`},
		{"a dataplane that is removed", web + "---\n" + api + of(service), web + of(service), `changed MeshService api: ; removed endpoints [kri_dp_default___api_]`},
		{"a dataplane that the selector selects no longer", api + of(service), strings.Replace(api, "{app: api}", "{app: db}", 1) + of(service), `changed MeshService api: ; removed endpoints [kri_dp_default___api_]`},
		{"an address of a dataplane", api + of(service), strings.Replace(api, "10.0.0.2", "10.0.0.3", 1) + of(service), `changed MeshService api: ; changed endpoints [kri_dp_default___api_]`},
		{"keys are not shown", api + strings.NewReplacer("%c", "c", "%k", "old").Replace(external), api + strings.NewReplacer("%c", "d", "%k", "new").Replace(external),
			`changed MeshExternalService db: /spec/tls/verification/clientCert/inlineString "c"→"d", /spec/tls/verification/clientKey/inlineString "[not shown]"→"[not shown]"`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			d := compared(t, semantics.Kuma, c.before, c.after, inspect.Options{})
			if got := destinationsText(d); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if with := compared(t, semantics.Kuma, c.before, c.after, inspect.Options{Kind: "MeshTimeout"}); len(with.Destinations) > 0 {
				t.Errorf("with --kind there are %v", with.Destinations)
			}
		})
	}
}

func destinationsText(d *diff.Diff) string {
	var all []string
	for _, of := range d.Destinations {
		var fields []string
		for _, f := range of.Changes {
			fields = append(fields, fmt.Sprintf("%s %s→%s", f.Field, text(f.Before), text(f.After)))
		}
		text := of.Action + " " + of.Name + ": " + strings.Join(fields, ", ")
		if e := of.Endpoints; e != nil {
			for _, list := range []struct {
				verb string
				kris []string
			}{{"added", e.Added}, {"removed", e.Removed}, {"changed", e.Changed}} {
				if len(list.kris) > 0 {
					text += fmt.Sprintf("; %s endpoints %v", list.verb, list.kris)
				}
			}
		}
		all = append(all, text)
	}
	return strings.Join(all, " | ")
}

// OCM policies whose action or content on a cluster changes (SPEC 10).
func TestPlacements(t *testing.T) {
	type placed = map[diff.PolicyOnCluster]diff.Placed
	at := diff.PolicyOnCluster{Policy: "hub/audit", Cluster: "riga"}
	other := diff.PolicyOnCluster{Policy: "hub/audit", Cluster: "oslo"}
	enforce := diff.Placed{Action: "enforce", Because: []string{"new"}, Content: "a"}
	inform := diff.Placed{Action: "inform", Because: []string{"old"}, Content: "a"}
	changed := diff.Placed{Action: "inform", Because: []string{"old"}, Content: "b"}
	for _, c := range []struct {
		rule          string
		before, after placed
		want          string
	}{
		{"the action", placed{at: inform}, placed{at: enforce}, "[{hub/audit riga inform enforce [new] false}]"},
		{"it is placed", nil, placed{at: enforce}, "[{hub/audit riga absent enforce [new] false}]"},
		{"it is no longer placed, with the old bindings", placed{at: inform}, nil, "[{hub/audit riga inform absent [old] false}]"},
		{"the content", placed{at: inform}, placed{at: changed}, "[{hub/audit riga inform inform [old] true}]"},
		{"no change", placed{at: inform}, placed{at: inform}, "[]"},
		{"sorted by cluster", nil, placed{at: enforce, other: enforce}, "[{hub/audit oslo absent enforce [new] false} {hub/audit riga absent enforce [new] false}]"},
	} {
		if got := fmt.Sprint(diff.NewPlacements(c.before, c.after)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.rule, got, c.want)
		}
	}
}

// What changes if policies that only inform were enforced: all of them, or one (SPEC 8.4).
func TestShadow(t *testing.T) {
	text := withPolicies("MeshTimeout t {to: [{default: {idleTimeout: 1s}}]}; MeshTimeout u [kuma.io/effect: shadow] {to: [{default: {idleTimeout: 2s}}]}; MeshRetry v [kuma.io/effect: shadow] {to: [{default: {http: {numRetries: 3}}}]}")
	view := coretest.View(t, text)
	d, err := diff.NewShadow(view, "default", inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(d); got != "MeshRetry MeshTimeout" {
		t.Errorf("all are enforced: the confs of %s change", got)
	}
	policy := view.Policy(resource.ID{Kind: "MeshTimeout", Mesh: "default", Name: "u"})
	set := resourcetest.Decode(t, text)
	after, err := diff.WithEnforced(t.Context(), view, set, policy)
	if err != nil {
		t.Fatal(err)
	}
	if d, err = diff.New(view, after, "default", inspect.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := kindsOf(d); got != "MeshTimeout" {
		t.Errorf("one is enforced: the confs of %s change", got)
	}
	set.Policies = nil
	if _, err := diff.WithEnforced(t.Context(), view, set, policy); err == nil {
		t.Error("a policy that does not exist is enforced")
	}
}

// kindsOf has the kinds whose confs change, sorted.
func kindsOf(d *diff.Diff) string {
	var all []string
	for _, g := range d.Groups {
		for _, c := range g.Changes {
			all = append(all, c.Kind)
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// What opens and closes is a finding at the entry that decides after the edit or, if there is none,
// at the dataplane (SPEC 13.5). Meshes are joined in their order.
func TestFindings(t *testing.T) {
	const allow = "MeshTrafficPermission p {rules: [{default: {allow: [{spiffeId: {type: Exact, value: spiffe://td/web}}]}}]}"
	opens := compared(t, core.TargetRef, workloads, withPolicies(allow), inspect.Options{})
	closes := compared(t, core.TargetRef, withPolicies(allow), workloads, inspect.Options{})
	for _, c := range []struct {
		rule string
		d    *diff.Diff
		code string
		line int
	}{
		{"it opens by an entry", opens, "MM7001", 8},
		{"it closes by default", closes, "MM7002", 4},
	} {
		found := c.d.Findings(true)
		if len(found) != 1 || found[0].Code.String() != c.code || found[0].Pos.Line != c.line || !strings.Contains(found[0].What, "in mesh default") {
			t.Errorf("%s: got %v, want one %s in line %d", c.rule, found, c.code, c.line)
		}
	}
	joined := diff.Join(core.TargetRef, []*diff.Diff{opens, closes})
	if len(joined.Opens) != len(opens.Opens) || len(joined.Closes) != len(closes.Closes) || len(joined.Meshes) != 2 || len(opens.Meshes) != 1 {
		t.Errorf("joined: %+v", joined)
	}
	if none := diff.Join(core.TargetRef, nil); !none.Empty() || none.Groups == nil {
		t.Errorf("no meshes: got %+v", none)
	}
}
