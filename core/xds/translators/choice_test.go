package translators_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A `from` of 60 items divides clients into more groups than a rule view has, and its
// last item selects all clients. If an inbound sees no tags, the conf of clients without
// tags applies to all, and the view is not computed; else the kind is left out, with a
// warning (SPEC 5.5).
func TestFromPastTheLimit(t *testing.T) {
	confs := []string{"connectionTimeout: %ds", "idleTimeout: %ds", "http: {requestTimeout: %ds}", "http: {streamIdleTimeout: %ds}"}
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {key%d: v}}, default: {%s}}", i, fmt.Sprintf(confs[i%len(confs)], i+1)))
	}
	mesh := `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}
---
{type: MeshTimeout, name: all, spec: {from: [{default: {connectionTimeout: 777s, http: {requestTimeout: 888s}}}, ` + strings.Join(items, ", ") + "]}}\n"
	const identity = "---\n{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: %s}}\n"
	for name, c := range map[string]struct {
		provider string
		applies  bool
	}{
		"no identity":               {"", true},
		"certificates without tags": {"{type: Spire}", true},
		"certificates with tags":    {"{type: Extension, extension: {name: files, config: {certificate: /a, privateKey: /b, trustBundle: /c}}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := mesh
			if c.provider != "" {
				text += fmt.Sprintf(identity, c.provider)
			}
			loader := resource.Loader{Kinds: kinds.All()}
			set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			view, err := core.NewView(t.Context(), kinds.All(), set)
			if err != nil {
				t.Fatal(err)
			}
			built := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy)
			leftOut := false
			for _, w := range built.Warnings() {
				leftOut = leftOut || strings.Contains(w.Diagnostic().Error(), "MeshTimeout is left out on this inbound")
			}
			values := map[string]bool{}
			for _, value := range fields(t, built) {
				values[value] = true
			}
			if applied := values["777s"] && values["888s"]; applied != c.applies || leftOut == c.applies {
				t.Errorf("applies: %t, is left out: %t", applied, leftOut)
			}
		})
	}
}
