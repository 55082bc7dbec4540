package inspect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/diag"
)

// A client loses what `reach` of the old side allows it in part and `reach` of the new side
// not at all (SPEC 13.1), for edits of permissions, of identities and of the dataplanes that
// have one. Services are named only if all their dataplanes lose the same.
func TestLossesAreOfReach(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 11))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	world := func() []string {
		var docs []string
		for i := range 5 {
			docs = append(docs, fmt.Sprintf(`{type: Dataplane, name: d%d, labels: {app: %s}, networking: {address: 10.0.0.%d, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: %s}}]}}`,
				i, pick("a", "b"), i+1, string("xxyyz"[i])))
		}
		id := func(name, app, path string) string {
			return fmt.Sprintf(`{type: MeshIdentity, mesh: default, name: %s, spec: {selector: {dataplane: {matchLabels: {app: %s}}}, spiffeID: {trustDomain: td, path: /%s}, provider: {type: Spire}}}`, name, app, path)
		}
		docs = append(docs, id("of-a", "a", pick("one", "two", "three")))
		if random.IntN(3) > 0 {
			docs = append(docs, id("of-b", "b", pick("one", "two", "three")))
		}
		entry := func() string {
			return fmt.Sprintf(`{spiffeId: {type: Exact, value: "spiffe://td/%s"}%s}`, pick("one", "two", "three"), pick("", "", ", method: GET"))
		}
		for i := range random.IntN(3) {
			docs = append(docs, fmt.Sprintf(`{type: MeshTrafficPermission, mesh: default, name: p%d, spec: {targetRef: {kind: Dataplane, labels: {app: %s}}, rules: [{default: {allow: [%s], deny: [%s]}}]}}`,
				i, pick("a", "b"), entry()+","+entry(), pick("", entry())))
		}
		return docs
	}
	reached := func(view *core.View, client, to string) bool {
		r, err := traffic.NewReach(view, "default", traffic.ReachQuery{From: client, To: to}, inspect.Options{})
		return err == nil && slices.ContainsFunc(r.Cells, func(c traffic.ReachCell) bool { return c.Access != "none" })
	}
	without := func(view *core.View, client string) bool { // it has no identity there
		_, err := traffic.NewReach(view, "default", traffic.ReachQuery{From: client, To: "d0"}, inspect.Options{})
		return err != nil
	}
	service := func(d int) string { return string("xxyyz"[d]) }
	total := 0
	for range 400 {
		before, after := viewOf(t, world()...), viewOf(t, world()...)
		d, err := diff.New(before, after, "default", inspect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, l := range d.Loses {
			if l.Inbound != "http" {
				t.Errorf("%+v has no inbound", l)
			}
			for i := range 5 {
				for j := range 5 {
					if (l.Client == service(i) || l.Client == fmt.Sprint("d", i)) && (l.To == service(j) || l.To == fmt.Sprint("d", j)) {
						got = append(got, fmt.Sprintf("d%d d%d", i, j))
					}
				}
			}
		}
		for i := range 5 {
			for j := range 5 {
				client, to := fmt.Sprint("d", i), fmt.Sprint("d", j)
				if without(after, client) { // reach does not answer: TestLosses
					got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, client+" ") })
				} else if reached(before, client, to) && !reached(after, client, to) {
					want = append(want, client+" "+to)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("losses (-reach +diff):\n%s", diff)
		}
		total += len(want)
	}
	if total < 500 {
		t.Errorf("only %d losses were compared", total)
	}
}

func TestLosses(t *testing.T) {
	const dataplanes = `{type: Dataplane, name: checkout-v2, labels: {app: checkout}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: checkout-v2}}]}}
---
{type: Dataplane, name: pay-1, labels: {app: pay}, networking: {address: 10.0.0.2, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: payments}}]}}
---
`
	identity := func(name, app string) string {
		return fmt.Sprintf("{type: MeshIdentity, mesh: default, name: %s, spec: {selector: {dataplane: {matchLabels: {app: %s}}}, spiffeID: {trustDomain: td, path: /%s}, provider: {type: Spire}}}\n---\n", name, app, name)
	}
	const permission = `{type: MeshTrafficPermission, mesh: default, name: p, spec: {targetRef: {kind: Dataplane, labels: {app: pay}}, rules: [{default: {allow: [{spiffeId: {type: Exact, value: "spiffe://td/shop"}}]}}]}}`
	before := viewOf(t, dataplanes+identity("shop", "checkout")+identity("pay", "pay")+permission)
	for name, test := range map[string]struct {
		after, want, finding string
	}{
		"nothing":               {dataplanes + identity("shop", "checkout") + identity("pay", "pay") + permission, "", ""},
		"another identity":      {dataplanes + identity("store", "checkout") + identity("pay", "pay") + permission, "checkout-v2 payments http [spiffe://td/shop] [spiffe://td/store]", "checkout-v2 may no longer call inbound http of payments: their identity, or the TLS of the inbound, changes"},
		"no identity":           {dataplanes + identity("pay", "pay") + permission, "checkout-v2 payments http [spiffe://td/shop] []", "checkout-v2 may no longer call inbound http of payments: their identity, or the TLS of the inbound, changes"},
		"another permission":    {dataplanes + identity("shop", "checkout") + identity("pay", "pay") + strings.Replace(permission, "td/shop", "td/x", 1), "checkout-v2 payments http [spiffe://td/shop] null", "inbound http of pay-1 denies what it allowed: spiffe://td/shop"},
		"a dataplane that goes": {strings.SplitAfter(dataplanes, "---\n")[0] + identity("shop", "checkout") + permission, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := diff.New(before, viewOf(t, test.after), "default", inspect.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, l := range d.Loses {
				after := "null"
				if l.After != nil {
					after = fmt.Sprint(l.After)
				}
				got += fmt.Sprint(l.Client, " ", l.To, " ", l.Inbound, " ", l.SPIFFEIDs, " ", after)
			}
			if got != test.want {
				t.Errorf("losses: %q, want %q", got, test.want)
			}
			var closes []string
			for _, f := range d.Findings(false) {
				if f.Code == diag.AccessCloses {
					closes = append(closes, f.What)
				}
			}
			if text := strings.Join(closes, "\n"); text != test.finding {
				t.Errorf("findings: %q, want %q", text, test.finding)
			}
		})
	}
}
