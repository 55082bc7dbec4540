package stories

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// replayed is the mesh of TestReplay, without its access log.
const replayed = shop + identities + `
type: MeshTrafficPermission
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:
  - default:
      deny:
      - path: {type: Prefix, value: /admin}
      - headers: [{name: x-k, value: evil}]
      allow:
      - spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}
      - spiffeId: {type: Prefix, value: "spiffe://default.mesh.local"}
        method: GET
        path: {type: Prefix, value: /open}
      - sni: cart.example
        headers: [{name: host, value: cart.example}]
---
type: MeshTrafficPermission
mesh: default
name: store
spec:
  targetRef: {kind: MeshService, name: store}
  rules:
  - default:
      allow:
      - spiffeId: {type: Exact, value: "spiffe://default.mesh.local/web"}
      - sni: store.example
---
`

// TestReplay sends requests to Envoys that write the log of `replay --format`, and replays
// it: for each request that the log has in full, the policies decide what the log says.
func TestReplay(t *testing.T) {
	envoytest.Path(t)
	s := &story{mesh: replayed, proxies: []string{"cart-1", "store-1"}}
	view := coretest.View(t, s.mesh)
	fields, err := traffic.ReplayFields(nil, "default", view)
	if err != nil {
		t.Fatal(err)
	}
	log, err := traffic.NewReplayLog(fields, "default", "/run/mesh/replay.log")
	if err != nil {
		t.Fatal(err)
	}
	document, err := inspect.JSON(log)
	if err != nil {
		t.Fatal(err)
	}
	s.mesh += string(document)

	cart, store := "127.0.0.41:10000", "127.0.0.21:10000"
	web, backend := as(webID), as(backendID)
	denied, allowed := "403", "200"
	requests := []struct {
		name, path string
		options    []option
		want       string
	}{
		{"a client by its ID", "/a?b=c", []option{web}, allowed},
		{"another client", "/a", []option{backend}, denied},
		{"another client, a path that is open", "/open/", []option{backend}, allowed},
		{"a path that becomes open", "/a/../open//x", []option{backend}, allowed},
		{"a path that becomes a denied one", "/open/../admin", []option{web}, denied},
		{"a path beyond ASCII", "/open/\u00e9", []option{backend}, allowed},
		{"an escaped slash", "/open%2Fx", []option{web}, denied},
		{"an escaped slash that another segment takes away", "/a%2Fb/../open/", []option{backend}, allowed},
		{"a header of two lines", "/a", []option{web, header("X-K", "a"), header("X-K", "evil")}, denied},
		{"another method", "/open", []option{backend, method("POST")}, denied},
		{"a header", "/a", []option{web, header("X-K", "evil")}, denied},
		{"a header that is another", "/a", []option{web, header("X-K", "evilest")}, allowed},
		{"a header beyond ASCII", "/a", []option{web, header("X-K", "\u00e9")}, allowed},
		{"a header that is not UTF-8", "/a", []option{web, header("X-K", "a\xff\"\\b")}, allowed},
		{"a run of a header", "/a", []option{web, header("X-K", "a, evil")}, denied},
		{"a server name and a host", "/a", []option{backend, sni("cart.example"), host("CART.example.:80")}, allowed},
		{"a server name without the host", "/a", []option{backend, sni("cart.example")}, denied},
		{"several IDs", "/a", []option{as(webID, backendID)}, denied},
		{"tags after the ID", "/a", []option{as(webID, "kuma://team/shop")}, allowed},
	}
	for _, r := range requests {
		s.steps = append(s.steps, step{name: r.name, do: status(cart+r.path, r.options...), want: r.want})
	}
	s.steps = append(s.steps,
		step{name: "a connection", do: line(store, web), want: "store-1: ping"},
		step{name: "a connection of another client", do: line(store, backend), want: "closed"},
		step{name: "a connection by its server name", do: line(store, backend, sni("store.example")), want: "store-1: ping"},
	)
	// Of the two lines the log has the first one only.
	want := fmt.Sprintf("%d records, 0 malformed, 0 unknown, 1 differences\nlog DENY, ALLOW of x-k: a", len(s.steps))
	s.lacking = map[string]lacking{
		"a connection by its server name": {capability.DelayedConnect, "closed", ""},
		// The log does not show what the handshake refuses.
		"the replay": {capability.DelayedConnect, fmt.Sprintf("%d records, 0 malformed, 0 unknown, 2 differences\nlog ALLOW, DENY of x-k: \nlog DENY, ALLOW of x-k: a", len(s.steps)), ""},
	}
	s.steps = append(s.steps, step{name: "the replay", do: eventually(want, func(w *world) string { return replayLog(w, s) }), want: want})
	s.run(t, translators.All(), func(x step) string { return x.want })
}

// replayLog replays the log of a world by the policies of its story.
func replayLog(w *world, s *story) string {
	file := w.file("replay.log")
	answer, err := traffic.NewReplay(w.t.Context(), w.load(s), nil, "default", traffic.ReplayQuery{Files: []string{file}}, inspect.Options{})
	if err != nil {
		return err.Error()
	}
	text := fmt.Sprintf("%d records, %d malformed, %d unknown, %d differences", answer.Records, answer.Malformed, answer.Unknown, len(answer.Differences))
	for _, d := range answer.Differences {
		text += fmt.Sprintf("\nlog %s, %s of x-k: %s", d.Log, d.Before.Decision, d.Example.Headers["x-k"])
	}
	for _, reason := range answer.UnknownReasons {
		text += "\n" + reason.Reason
	}
	return text + strings.Join(answer.MalformedLines, "\n")
}
