package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/chromedp/chromedp"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// isLive is true when the page follows changes.
const isLive = `document.querySelector("#live:not([hidden]):not(.lost)")?.textContent.startsWith("live")`

// connectionTimeout returns the text of a policy of the demo mesh that sets this timeout of
// web's outbounds, with the last word.
func connectionTimeout(value string) string {
	return fmt.Sprintf("{type: MeshTimeout, name: zz-new, spec: {targetRef: {kind: MeshService, name: web}, to: [{default: {connectionTimeout: %s}}]}}\n", value)
}

// connect connects a client of ADS as the proxy of a dataplane, which accepts all it gets.
func (s *site) connect(node string) *xdstest.Client {
	s.t.Helper()
	conn, err := grpc.NewClient(s.XDSAddr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	c, err := xdstest.New(s.t.Context(), conn, xdstest.Options{Node: &corev3.Node{Id: node, UserAgentName: "envoy"}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	for _, t := range []wire.Type{wire.ClusterType, wire.ListenerType} {
		if err := c.Wildcard(t); err != nil {
			s.t.Fatal(err)
		}
	}
	return c
}

// TestLive changes a value that is shown: it is replaced in place. The page is not loaded
// again: what was unfolded, scrolled, focused and written stays.
func TestLive(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	b := open(t, s, wide)
	b.show("/meshes/default/dataplanes/web-2")
	b.await(isLive)
	row := `[...document.querySelectorAll("#outbound-0 tr")].find((r) => r.firstElementChild.textContent === "/connectionTimeout")`
	b.do(chromedp.Evaluate[chromedp.Void](`{
		window.notReloaded = true;
		const row = ` + row + `;
		row.querySelector("details").open = true;
		window.focused = row.querySelector("summary");
		focused.scrollIntoView({block: "center"});
		focused.focus();
		document.getElementById("find").value = "written";
		window.scrolled = scrollY;
	} undefined`))
	if got := eval[string](b, row+`.querySelector(".value").textContent`); got != "5s" {
		t.Fatalf("the timeout is %s", got)
	}
	s.write("new.yaml", connectionTimeout("47s"))
	b.await(row + `.querySelector(".value").textContent === "47s"`)
	b.await(`/^live, updated \d/.test(document.getElementById("live").textContent)`)
	for what, holds := range map[string]string{
		"the page was loaded again":           `window.notReloaded`,
		"the page has scrolled":               `window.scrolled > 0 && Math.abs(scrollY - window.scrolled) < 2`,
		"the focus has moved":                 `document.activeElement === window.focused && focused.isConnected`,
		"the details are folded":              row + `.querySelector("details").open`,
		"what was written is gone":            `document.getElementById("find").value === "written"`,
		"the change is not marked":            row + `.classList.contains("changed")`,
		"the origin is not the new policy":    row + `.textContent.includes("zz-new to[0]")`,
		"the old value is not overridden":     `[...` + row + `.querySelectorAll(".overridden s")].some((s) => s.textContent === "5s")`,
		"the policy is not among the matched": `document.getElementById("policies").textContent.includes("zz-new")`,
	} {
		if !eval[bool](b, "Boolean("+holds+")") {
			t.Error(what)
		}
	}
	b.checkLayout()
	b.checkAccess()
}

// TestLostConnection ends the server while a page is open. The page says so; when the
// server is back, the page shows what changed meanwhile.
func TestLostConnection(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	b := open(t, s, wide)
	b.expect("net::ERR")
	b.show("/meshes/default/dataplanes/web-2")
	b.await(isLive)
	address := s.HTTPAddr().String()
	s.stop()
	b.await(`/^connection lost, shown as of \d/.test(document.querySelector("#live.lost")?.textContent)`)
	if text := b.text("#outbound-0"); !strings.Contains(text, "5s") {
		t.Errorf("the content is gone: %s", text)
	}
	b.checkAccess()
	s.write("new.yaml", connectionTimeout("47s"))
	s.start(func(o *serve.Options) { o.Files, o.HTTP = []string{s.dir}, address })
	b.await(isLive)
	b.await(`document.getElementById("outbound-0").textContent.includes("47s")`)
}

// TestSubjectIsRemoved removes the subject of an open page. The page says since when, and
// still shows what it was. When the subject is back, so is the page.
func TestSubjectIsRemoved(t *testing.T) {
	needs(t)
	const (
		dataplane = "{type: Dataplane, name: gone-1, networking: {address: 10.0.9.9, inbound: [{port: 80, tags: {kuma.io/service: gone}}]}}\n"
		policy    = "{type: MeshTimeout, name: gone, spec: {to: [{default: {idleTimeout: 77s}}]}}\n"
	)
	s := serveDemo(t)
	for path, file := range map[string]string{"/meshes/default/dataplanes/gone-1": dataplane, "/meshes/default/policies/MeshTimeout/gone": policy} {
		s.write("gone.yaml", file)
		s.await(path, func() bool { return s.status(path) == 200 })
		b := open(t, s, wide)
		b.expect("404 (Not Found)")
		b.show(path)
		b.await(isLive)
		s.remove("gone.yaml")
		b.await(`/ no longer exists since \d/.test(document.getElementById("gone")?.textContent)`)
		if text := b.text("main"); !strings.Contains(text, "Source") {
			t.Errorf("%s: what it was is not shown: %s", path, text)
		}
		b.checkLayout()
		b.checkAccess()
		s.write("gone.yaml", file)
		b.await(`!document.getElementById("gone")`)
		s.remove("gone.yaml")
		b.await(`document.getElementById("gone")`)
	}
}

// TestConvergence follows the proxies on the overview, and a change on the page of changes.
func TestConvergence(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	b := open(t, s, wide)
	b.show("/")
	b.await(isLive)
	web := s.connect("kri_dp_default_west__web-2_")
	b.await(`document.querySelector("main").innerText.includes("1 converged")`)
	b.followLink("Changes")
	b.await(isLive)
	s.write("new.yaml", connectionTimeout("47s"))
	b.await(`document.querySelector("main").innerText.includes("all 1 proxy within")`)
	if err := web.Err(); err != nil {
		t.Fatal(err)
	}
	if row := b.text("tbody tr"); !strings.Contains(row, "added MeshTimeout zz-new") || !strings.Contains(row, "2") {
		t.Errorf("the change is %s", row)
	}
	if !eval[bool](b, `document.querySelector("tbody tr .plot polyline").getBoundingClientRect().width > 10`) {
		t.Error("the plot is not visible")
	}
	b.checkLayout()
	b.checkAccess()
	b.picture("convergence")
	b.followLink("zz-new")
	if got := b.text("h1"); got != "zz-new" {
		t.Errorf("the page is about %s", got)
	}
	// A load with errors is on every overview, until it is mended.
	b.show("/meshes/default")
	b.await(isLive)
	s.write("new.yaml", connectionTimeout("47x"))
	b.await(`document.querySelector("main").innerText.includes("The files are not served as they are")`)
	if text := b.text("main .alert"); !strings.Contains(text, "new.yaml:1") {
		t.Errorf("the errors are %s", text)
	}
	b.checkLayout()
	b.checkAccess()
	b.picture("stale")
	s.write("new.yaml", connectionTimeout("48s"))
	b.await(`!document.querySelector("main .alert")`)
}
