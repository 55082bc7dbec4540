package inspect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// analysedMesh returns the documents of a mesh with some inbounds and 1,000 permission
// policies of eight entries each: identities, methods, paths and expressions, and some
// denials. The policies are for the whole mesh, or each is for one of 20 teams. One entry
// of every tenth policy is needless, because it repeats the first one.
func analysedMesh(inbounds int, teams bool) string {
	var b strings.Builder
	b.WriteString(`{"type": "MeshIdentity", "mesh": "default", "name": "all", "spec": {"selector": {"dataplane": {"matchLabels": {}}},
 "spiffeID": {"trustDomain": "shop.mesh", "path": "/sa/{{ label \"app\" }}"}, "provider": {"type": "Spire", "spire": {}}}}`)
	for i := range inbounds {
		fmt.Fprintf(&b, `
{"type": "Dataplane", "mesh": "default", "name": "dp-%04d", "labels": {"app": "app-%d", "team": "team-%d"}, "networking": {"address": "10.0.%d.%d",
 "inbound": [{"port": 8080, "name": "http", "tags": {"kuma.io/service": "service-%d", "kuma.io/protocol": "http"}}]}}`, i, i%500, i%20, i/250, i%250, i)
	}
	for p := range 1000 {
		target := `{"kind": "Mesh"}`
		if teams {
			target = fmt.Sprintf(`{"kind": "Dataplane", "labels": {"team": "team-%d"}}`, p%20)
		}
		var allow, deny []string
		for e := range 8 {
			entry := fmt.Sprintf(`"spiffeID": {"type": "Exact", "value": "spiffe://shop.mesh/sa/app-%d"}`, (p*8+e)%500)
			switch e % 4 {
			case 1:
				entry += fmt.Sprintf(`, "method": "GET", "path": {"type": "Exact", "value": "/policy/%d"}`, p)
			case 2:
				entry += fmt.Sprintf(`, "path": {"type": "Prefix", "value": "/policy/%d/%d"}`, p, e)
			case 3:
				entry += fmt.Sprintf(`, "path": {"type": "RegularExpression", "value": "/v%d/[a-z]+/%d/[0-9]+"}`, p%5, p)
			case 0:
				entry += fmt.Sprintf(`, "path": {"type": "Exact", "value": "/policy/%d/%d"}`, p, e)
			}
			if entry = "{" + entry + "}"; e == 0 && p%10 == 0 {
				deny = append(deny, entry)
				continue
			}
			if e == 7 && p%10 == 1 {
				entry = allow[0]
			}
			allow = append(allow, entry)
		}
		fmt.Fprintf(&b, `
{"type": "MeshTrafficPermission", "mesh": "default", "name": "policy-%04d", "spec": {"targetRef": %s, "rules": [{"default": {"deny": [%s], "allow": [%s]}}]}}`,
			p, target, strings.Join(deny, ", "), strings.Join(allow, ", "))
	}
	return b.String()
}

func loadAnalysed(b *testing.B, text string) (*resource.Set, *core.View) {
	b.Helper()
	all := kinds.All()
	loader := resource.Loader{Kinds: all}
	set, err := loader.Decode(b.Context(), resource.Input{Name: "mesh.json", Data: []byte(strings.ReplaceAll(text, "\n{", "\n---\n{"))})
	if err != nil {
		b.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(b.Context(), all, set)
	if err != nil {
		b.Fatal(err)
	}
	return set, view
}

// BenchmarkAnalysis answers questions about all requests of a mesh with 1,000 policies of
// eight entries: every warning about 200 inbounds, the requests that an edit of one entry
// opens and closes with an example of each, the access of 500 identities to 1,000
// inbounds, and the reason why a request is denied. For comparison it also measures the
// decision alone.
func BenchmarkAnalysis(b *testing.B) {
	for _, shape := range []string{"mesh", "teams"} {
		text := analysedMesh(200, shape == "teams")
		set, view := loadAnalysed(b, text)
		b.Run("shape="+shape+"/question=check", func(b *testing.B) {
			b.ReportAllocs()
			needless := 0
			for b.Loop() {
				needless = 0
				for _, w := range check.New(view, set).Warnings {
					if strings.HasPrefix(w.What, "changes nothing") {
						needless++
					}
				}
			}
			if needless != 100 { // the second of two equal entries
				b.Fatalf("%d entries are needless, want 100", needless)
			}
		})
		b.Run("shape="+shape+"/question=diff", func(b *testing.B) {
			edited := strings.Replace(text, `{"type": "Prefix", "value": "/policy/500/2"}`, `{"type": "Prefix", "value": "/policy/500/two"}`, 1)
			_, after := loadAnalysed(b, edited)
			b.ReportAllocs()
			for b.Loop() {
				diff, err := diff.New(view, after, "default", inspect.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if len(diff.Access) == 0 || len(diff.Access[0].Opens) != 1 || len(diff.Access[0].Closes) != 1 {
					b.Fatalf("the edit opens and closes %+v, want one region each", diff.Access)
				}
			}
		})
		b.Run("shape="+shape+"/question=reach", func(b *testing.B) {
			_, view := loadAnalysed(b, analysedMesh(1000, shape == "teams"))
			b.ReportAllocs()
			for b.Loop() {
				reach, err := traffic.NewReach(view, "default", traffic.ReachQuery{}, inspect.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if len(reach.Clients) < 500 {
					b.Fatalf("%d clients, want 500 and others", len(reach.Clients))
				}
			}
		})
		d := view.Dataplane(resource.ID{Mesh: "default", Kind: "Dataplane", Name: "dp-0007"})
		asked := &request.Request{SpiffeID: "spiffe://shop.mesh/sa/app-3", Method: "GET", Path: "/nothing"}
		for _, why := range []bool{false, true} {
			name := "access"
			if why {
				name = "why"
			}
			b.Run("shape="+shape+"/question="+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					answer := inspect.NewAccess(view, d, 0, asked, inspect.Options{Explain: true, Why: why})
					if answer.Allowed() || why != slices.ContainsFunc(answer.Why, func(w inspect.Why) bool { return w.Condition != nil }) {
						b.Fatal("the request is allowed, or the reasons are missing")
					}
				}
			})
		}
	}
}
