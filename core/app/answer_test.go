package app_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

const mesh = `
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{name: http, port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
---
type: MeshTrafficPermission
mesh: default
name: deny
spec: {from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]}
`

// A Go program gets the answers of the Inspect API from a view (SPEC 10), and the errors as errors.
func TestAnswer(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(mesh)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	answer := app.Program{}.Answers(view)
	for _, c := range []struct{ query, answer, err string }{
		{query: "/meshes", answer: `"default"`},
		{query: "/meshes/default/dataplanes/web-1/_access?inbound=http", answer: `"decision":"DENY"`},
		{query: "/meshes/default/dataplanes/web-1/_inspect?kind=mtp", answer: `"name":"deny"`},
		{query: "/meshes/default/mtp/deny/_dataplanes", answer: `"web-1"`},
		{query: "/meshes/default/_diff?shadow", answer: `"semantics":"targetref"`},
		{query: "/meshes/default/dataplanes/web-2/_access?inbound=http", err: "web-1"},
		{query: "/meshes/default/dataplanes/web-1/_access?inbund=http", err: "inbund"},
		{query: "/meshes/other", err: "there is no such path"},
		{query: "/meshes/default/_diff?policy=mtp/deny&shadow", err: "needs the resources"},
		{query: "/meshes//default/_diff", err: "the path must be /meshes/default/_diff"},
		{query: ":", err: "missing protocol scheme"},
	} {
		data, err := answer(t.Context(), c.query)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: the error is %v, want %s", c.query, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.query, err)
		case !json.Valid(data) || !strings.Contains(compact(string(data)), c.answer):
			t.Errorf("%s: the answer lacks %s:\n%s", c.query, c.answer, data)
		}
	}
	one, err := app.Answer(t.Context(), view, "/meshes")
	if all, _ := answer(t.Context(), "/meshes"); err != nil || string(one) != string(all) {
		t.Errorf("one answer is %s, %v; want %s", one, err, all)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := answer(canceled, "/meshes"); err != context.Canceled {
		t.Errorf("the error is %v, want %v", err, context.Canceled)
	}
}

// compact removes white space.
func compact(text string) string { return strings.Join(strings.Fields(text), "") }
