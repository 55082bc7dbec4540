package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/e2e/browser"
)

// TestSearchWhileTyping finds a dataplane with the keyboard alone.
func TestSearchWhileTyping(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), wide)
	b.show("/meshes/default/values")
	// The key focuses the field, and is not written there.
	if _, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"}); err != nil {
		t.Fatal(err)
	}
	if id := eval[string](b, `document.activeElement.id`); id != "find" {
		t.Fatalf("the focus is in %q", id)
	}
	b.do(chromedp.KeyEvent("we"))
	b.await(`!document.getElementById("found").hidden && document.getElementById("found").innerText.includes("web-2")`)
	b.checkAccess()
	b.checkFound()
	b.picture("found")
	b.do(chromedp.KeyEvent(kb.Escape))
	b.await(`document.getElementById("found").hidden && document.activeElement.id === "find"`)
	b.do(chromedp.KeyEvent("b-2"))
	b.await(`!document.getElementById("found").hidden && !document.getElementById("found").innerText.includes("web-1")`)
	b.do(chromedp.KeyEvent(kb.ArrowDown))
	if text := eval[string](b, `document.activeElement.textContent`); text != "web-2" {
		t.Fatalf("the focus is on %q", text)
	}
	if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
		t.Fatal(err)
	}
	if got := b.text("h1"); got != "web-2" {
		t.Errorf("the page is about %q", got)
	}
}

// checkFound fails the test if the results are not on the screen.
func (b *tab) checkFound() {
	b.t.Helper()
	if !eval[bool](b, `(() => { const r = document.getElementById("found").getBoundingClientRect(); return r.left >= 0 && r.right <= innerWidth && r.height > 50; })()`) {
		b.t.Error("the results are not on the screen")
	}
}

// TestSearchNarrow shows results while typing on a narrow screen.
func TestSearchNarrow(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), narrow)
	b.show("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#find"), "web"))
	b.await(`!document.getElementById("found").hidden`)
	b.checkFound()
}

// TestSearchWithoutScript finds the same by a form.
func TestSearchWithoutScript(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), browser.Screen{Width: 1200, Height: 800, NoScript: true})
	b.show("/")
	b.do(chromedp.SendKeys(chromedp.CSS("#find"), "web west"))
	b.follow(".find button")
	if text := b.text("#results"); !strings.Contains(text, "web-2") || strings.Contains(text, "web-1") {
		t.Errorf("the results are %q", text)
	}
	b.followLink("web-2")
	if got := b.text("h1"); got != "web-2" {
		t.Errorf("the page is about %q", got)
	}
}

// TestThreeClicks answers "why is this timeout 5 s?" by three clicks from the overview, with
// and without the script.
func TestThreeClicks(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	for _, noScript := range []bool{false, true} {
		b := open(t, s, browser.Screen{Width: 1200, Height: 800, NoScript: noScript})
		b.show("/")
		b.followLink("5 dataplanes of default")
		b.followLink("web-2")
		row := `[...document.querySelectorAll("#outbound-0 tr")].find((r) => r.firstElementChild.textContent === "/connectionTimeout")`
		if got := eval[string](b, row+`.querySelector(".value").textContent`); got != "5s" {
			t.Fatalf("the timeout is %s", got)
		}
		eval[bool](b, row+`.querySelectorAll("td")[1].querySelector("a").setAttribute("data-follow", "") ?? true`)
		b.follow("a[data-follow]")
		if got := b.text("h1"); got != "web" {
			t.Errorf("the policy is %q", got)
		}
		if got := b.text("li:target"); got != "- default:" {
			t.Errorf("the line is %q", got)
		}
		next := b.text("li:target + li")
		if next != "connectionTimeout: 5s" {
			t.Errorf("the next line is %q", next)
		}
		if !eval[bool](b, `(() => { const r = document.querySelector("li:target").getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`) {
			t.Error("the line is not on the screen")
		}
	}
}

// TestTryRequest asks about a request by the form. The link holds the whole question: it has
// the same answer in another tab, without the script.
func TestTryRequest(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	b := open(t, s, wide)
	b.show("/meshes/default/dataplanes/backend-1")
	b.followLink("Try a request")
	b.do(
		chromedp.SendKeys(chromedp.CSS("#spiffe-id"), "spiffe://shop.mesh/ns/observability/sa/prometheus"),
		chromedp.SendKeys(chromedp.CSS("#path"), "/metrics/cpu"),
	)
	b.follow("form.stack button")
	const want = "ALLOW by by-mesh-operator rules[0].allow[0]"
	if text := b.text("#answer"); !strings.Contains(text, want) {
		t.Errorf("the answer is %q", text)
	}
	if !eval[bool](b, `document.getElementById("answer").getBoundingClientRect().top < innerHeight`) {
		t.Error("the answer is not on the screen")
	}
	question := eval[string](b, `[...document.querySelectorAll("#answer a")].find((a) => a.textContent === "Link to this question").href`)
	other := open(t, s, browser.Screen{Width: 360, Height: 740, NoScript: true})
	other.do(chromedp.Navigate(question))
	if text := other.text("#answer"); !strings.Contains(text, want) {
		t.Errorf("the answer to the link is %q", text)
	}
	if got := eval[string](other, `document.getElementById("path").value`); got != "/metrics/cpu" {
		t.Errorf("the form has the path %q", got)
	}
}

// TestTryPolicy shows what a text of a policy would change, with and without the script:
// what closes has a witness. An error is at its place, and the text stays. Nothing is stored.
func TestTryPolicy(t *testing.T) {
	needs(t)
	const policy = `type: MeshTrafficPermission
name: no-batch
spec:
  targetRef: {kind: MeshService, name: backend}
  rules:
    - default: {deny: [{spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/batch"}}]}`
	s := serveDemo(t)
	for _, noScript := range []bool{false, true} {
		b := open(t, s, browser.Screen{Width: 1200, Height: 800, NoScript: noScript})
		b.expect("400 (Bad Request)")
		b.show("/meshes/default/try")
		b.do(chromedp.SendKeys(chromedp.CSS("#policy"), strings.Replace(policy, "deny", "dney", 1)))
		b.follow(`form[method="post"] button`)
		if text := b.text("#text-errors"); !strings.Contains(text, "dney") || !strings.Contains(text, "did you mean") {
			t.Errorf("the error is %q", text)
		}
		if text := eval[string](b, `document.getElementById("policy").value`); !strings.Contains(text, "no-batch") {
			t.Errorf("the text is %q", text)
		}
		b.checkLayout()
		if !noScript {
			b.checkAccess()
		}
		b.do(chromedp.SetValue(chromedp.CSS("#policy"), policy))
		b.follow(`form[method="post"] button`)
		text := b.text("#changes")
		for _, part := range []string{"new: MeshTrafficPermission no-batch", "1 ▼ inbound closes", "0 ▲ inbounds open", "ALLOW by-backend-owner", "→ DENY"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is not in %q", part, text)
			}
		}
		b.checkLayout()
		if !noScript {
			b.checkAccess()
			b.picture("try-policy")
		}
		// The link holds the text.
		b.followLink("Link to this page with this text")
		if got := eval[string](b, `document.getElementById("policy").value`); strings.ReplaceAll(got, "\r\n", "\n") != policy {
			t.Errorf("the text of the link is %q", got)
		}
		b.follow(`form[method="post"] button`)
		// The witness is allowed now: nothing was stored.
		b.follow(`#changes .changes a[href*="spiffe-id"]`)
		if text := b.text("#answer"); !strings.Contains(text, "ALLOW by by-backend-owner") {
			t.Errorf("the witness has the answer %q", text)
		}
	}
}

// chain is a mesh in which each of n services may be called by up to three others.
func chain(n int) string {
	var b strings.Builder
	b.WriteString(`{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: a.mesh, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}` + "\n")
	for i := range n {
		fmt.Fprintf(&b, "---\n{type: Dataplane, name: d%d, labels: {app: s%d}, networking: {address: 10.0.%d.%d, inbound: [{name: main, port: 80, protocol: http, tags: {kuma.io/service: s%d}}]}}\n", i, i, i/250, i%250+1, i)
		var allow []string
		for _, from := range []int{(i - 1) / 3, i - 7, i * 5 / 9} {
			if from >= 0 && from < i {
				allow = append(allow, fmt.Sprintf("{spiffeId: {type: Exact, value: 'spiffe://a.mesh/s%d'}}", from))
			}
		}
		if len(allow) == 0 {
			allow = []string{"{spiffeId: {type: Exact, value: 'spiffe://a.mesh/none'}}"}
		}
		fmt.Fprintf(&b, "---\n{type: MeshTrafficPermission, name: p%d, spec: {targetRef: {kind: MeshService, name: s%d}, rules: [{default: {allow: [%s]}}]}}\n", i, i, strings.Join(allow, ", "))
	}
	return b.String()
}

// TestGraph shows who may call whom of 150 services. Its nodes do not cover each other and
// are links, which work with the keyboard. A larger graph is a matrix alone.
func TestGraph(t *testing.T) {
	needs(t)
	s := serveTexts(t, map[string]string{"mesh.yaml": chain(149)}) // and the other clients
	b := open(t, s, wide)
	b.show("/meshes/default/access")
	if n := eval[int](b, `document.querySelectorAll(".graph rect").length`); n != 150 {
		t.Errorf("the graph has %d nodes", n)
	}
	if n := eval[int](b, `document.querySelectorAll(".graph .edge").length`); n < 149 {
		t.Errorf("the graph has %d edges", n)
	}
	for _, wrong := range eval[[]string](b, `(() => {
		const wrong = [];
		const svg = document.querySelector(".graph").getBoundingClientRect();
		const nodes = [...document.querySelectorAll(".graph rect")].map((r) => ({ box: r.getBoundingClientRect(), text: r.nextElementSibling }));
		for (const [i, { box, text }] of nodes.entries()) {
			if (box.left < svg.left || box.right > svg.right || box.top < svg.top || box.bottom > svg.bottom) wrong.push(text.textContent + " is outside");
			const t = text.getBoundingClientRect();
			if (t.left < box.left || t.right > box.right) wrong.push(text.textContent + " is wider than its node");
			for (const other of nodes.slice(i + 1)) {
				if (box.left < other.box.right && other.box.left < box.right && box.top < other.box.bottom && other.box.top < box.bottom) {
					wrong.push(text.textContent + " and " + other.text.textContent + " cover each other");
				}
			}
		}
		return wrong.slice(0, 10);
	})()`) {
		t.Error(wrong)
	}
	b.checkAccessOf(".graph") // the matrix has 22,000 cells
	b.picture("graph")
	b.do(chromedp.Focus(chromedp.CSS(`.graph a[href$="service=s9"]`)))
	if style := eval[string](b, `getComputedStyle(document.activeElement.querySelector("rect")).strokeWidth`); style != "2px" {
		t.Errorf("the focused node has a line of %s", style)
	}
	if _, err := chromedp.RunResponse(b.ctx, chromedp.KeyEvent(kb.Enter)); err != nil {
		t.Fatal(err)
	}
	if got := eval[string](b, `document.getElementById("service").value`); got != "s9" {
		t.Errorf("the page is about %q", got)
	}
	s.write("mesh.yaml", chain(151))
	s.await("151 services", func() bool { return s.status("/meshes/default/dataplanes/d150") == 200 })
	b.show("/meshes/default/access")
	if text := b.text("main"); !strings.Contains(text, "There is no graph: it would have 15") || !strings.Contains(text, "Who may call what") {
		t.Errorf("the page of 151 services is %.300q", text)
	}
}

// TestMatrix has a column for each inbound and a row for clients with equal access. A
// condition is a link to its text.
func TestMatrix(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), wide)
	b.show("/meshes/default/access")
	if got := eval[[]string](b, `[...document.querySelectorAll(".matrix tbody tr")].map((r) => r.innerText.replace(/\s+/g, " ").trim())`); len(got) != 3 || !strings.HasPrefix(got[0], "shop.mesh/ns/shop/sa/backend shop.mesh/ns/shop/sa/edge") {
		t.Errorf("the rows are %q", got)
	}
	b.do(chromedp.Click(chromedp.CSS(".whenlink")))
	if got := b.text("li:target"); !strings.HasPrefix(got, "spiffe://shop.mesh/ns/observability/* /metrics/*") {
		t.Errorf("the condition is %q", got)
	}
	b.follow(`.matrix thead a`)
	if got := eval[[]string](b, `[...document.querySelectorAll(".matrix thead tr:first-child th")].map((h) => h.innerText)`); !slices.Equal(got, []string{"backend"}) { // backend-sql is another service
		t.Errorf("the matrix of the service backend has the columns %q", got)
	}
	b.show("/meshes/default/access?namespace=shop")
	if got := eval[string](b, `document.getElementById("namespace").value`); got != "shop" {
		t.Errorf("the namespace is %q", got)
	}
}

// TestValues answers "which dataplanes have requestTimeout 15s?" by clicks.
func TestValues(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), browser.Screen{Width: 1200, Height: 800, NoScript: true})
	b.show("/")
	b.followLink("Values")
	b.followLink("MeshTimeout 4")
	b.followLink("/http/requestTimeout")
	b.followLink("15s")
	if got := b.text("section:last-of-type tbody"); !strings.HasPrefix(got, "web-1") || !strings.Contains(got, "web-2") {
		t.Errorf("the dataplanes are %q", got)
	}
	if got := eval[[]float64](b, `[...document.querySelectorAll(".values .bar .value")].map((r) => r.getBoundingClientRect().width)`); len(got) != 4 || got[0] <= got[1] || got[1] != got[2] || got[2] <= got[3] {
		t.Errorf("the bars are %v wide, for 3, 2, 2 and 1", got)
	}
}

// TestRollouts unfolds the waves of a policy, which have links to its dataplanes.
func TestRollouts(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), browser.Screen{Width: 1200, Height: 800, NoScript: true})
	b.show("/meshes/default/rollouts")
	b.do(chromedp.Click(chromedp.CSS("tbody td details summary")))
	if got := b.text("tbody td details[open] p"); got != "web-2" {
		t.Errorf("the wave is %q", got)
	}
	b.followLink("web-2")
	if got := b.text("h1"); got != "web-2" {
		t.Errorf("the page is about %q", got)
	}
}

// TestKeyboard skips to the content, and each element with the focus has a ring.
func TestKeyboard(t *testing.T) {
	needs(t)
	b := open(t, serveDemo(t), wide)
	b.show("/meshes/default/dataplanes/web-2")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.textContent`); got != "Skip to the content" {
		t.Fatalf("the first element is %q", got)
	}
	if !eval[bool](b, `document.activeElement.getBoundingClientRect().left >= 0`) {
		t.Error("the link to the content is not on the screen")
	}
	b.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.textContent`); got != "Meshes" {
		t.Errorf("the first element of the content is %q", got)
	}
	seen := map[string]bool{}
	for range 80 {
		if eval[bool](b, `document.activeElement === document.body`) {
			break // behind the last element
		}
		element := eval[string](b, `(() => { const e = document.activeElement; const s = getComputedStyle(e); return [e.tagName, s.outlineStyle, s.outlineWidth].join(" "); })()`)
		if !strings.HasSuffix(element, "solid 2px") {
			t.Errorf("the focus has no ring: %s", element)
		}
		seen[strings.Fields(element)[0]] = true
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	if !seen["A"] || !seen["SUMMARY"] {
		t.Errorf("the keyboard reaches only %v", seen)
	}
}

// TestPrefix follows links below a prefix: a request to a path without it is one to another
// site.
func TestPrefix(t *testing.T) {
	needs(t)
	s := serveDemo(t, func(o *serve.Options) { o.HTTPPrefix = "/some/mesh" })
	b := open(t, s, wide)
	b.show("/")
	b.await(isLive)
	for _, link := range []string{"Dataplanes", "web-1", "MeshTimeout", "Access", "Findings", "meshmatch"} {
		b.followLink(link)
		if !strings.HasPrefix(b.where(), s.url+"/") {
			t.Fatalf("the link %s leads to %s", link, b.where())
		}
	}
}

// TestLogin asks for a page of a server with a token: the login page comes first.
func TestLogin(t *testing.T) {
	needs(t)
	file := filepath.Join(t.TempDir(), "token")
	const token = "a token of enough bytes"
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveDemo(t, func(o *serve.Options) { o.OperatorToken = file })
	for i, screen := range screens {
		if screen.Dark != (screen.Width == 360) {
			continue // as wide and light, narrow and dark
		}
		b := open(t, s, screen.Screen)
		b.expect("401 (Unauthorized)")
		b.show("/meshes/default/dataplanes")
		if u, err := url.Parse(b.where()); err != nil || u.Path != "/login" {
			t.Fatalf("the page is %s", b.where())
		}
		b.checkLayout()
		if !screen.NoScript {
			b.checkAccess()
		}
		b.picture(screen.name + "-login")
		b.do(chromedp.SendKeys(chromedp.CSS("#token"), "another token"))
		b.follow("button")
		if got := b.text("main"); !strings.Contains(got, "This is not the token.") {
			t.Errorf("the page has %q", got)
		}
		b.do(chromedp.SendKeys(chromedp.CSS("#token"), token))
		b.follow("button")
		if got := b.text("h1"); got != "Dataplanes" { // the page that was asked for
			t.Errorf("after the login the page is %q", got)
		}
		if screen.NoScript {
			b.forget()
			continue
		}
		// A page says that the session has ended, when something changes.
		b.show("/")
		b.await(isLive)
		b.forget()
		s.write("new.yaml", connectionTimeout(fmt.Sprintf("%ds", 10+i)))
		b.await(`document.querySelector("#live.lost")?.textContent.includes("log in")`)
	}
}
