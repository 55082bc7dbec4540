package cli

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A program has the kinds and the translators of an embedder.
func TestProgram(t *testing.T) {
	const mesh = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, outbound: [{port: 10001, tags: {kuma.io/service: api}}]}}
---
{type: OwnTimeout, name: all, spec: {to: [{default: {idleTimeout: 1s}}]}}
`
	kind := *meshtimeout.Kind()
	kind.Name, kind.Short = "OwnTimeout", "ot"
	called := false
	translator := xds.Translator{Kind: "OwnTimeout", Outbound: func(_ *xds.Outbound, e *results.Effective) { called = called || e != nil }}
	for name, test := range map[string]struct {
		translators []xds.Translator
		want        string
	}{
		"with a translator":    {[]xds.Translator{translator}, ""},
		"without a translator": {nil, "no translator of OwnTimeout shapes outbounds"},
	} {
		t.Run(name, func(t *testing.T) {
			called = false
			var stdout, stderr strings.Builder
			p := Program{Kinds: []*resource.Kind{&kind}, Translators: test.translators}
			if code := p.run(t.Context(), strings.Fields("snapshot web -f -"), strings.NewReader(mesh), &stdout, &stderr); code != exitDone {
				t.Fatalf("exit status %d: %s", code, stderr.String())
			}
			if got := stderr.String(); !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("warnings: %q", got)
			}
			if called != (test.translators != nil) {
				t.Errorf("the translator was called: %t", called)
			}
		})
	}
}
