package pages_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// prefix is the prefix of the tested pages, so that a link without it is found.
const prefix = "/some/mesh"

// demo are the files of the demo mesh, with identities.
var demo = []string{"../../../../../testdata/demo", "../../../../../testdata/access/identity.yaml"}

// site is the pages of a state, which a test may replace.
type site struct {
	http.Handler
	t       testing.TB
	options pages.Options
	current *proxied.State
	ended   chan struct{} // of the current state
	loader  *resource.Loader
	nodes   map[string]server.NodeState
	changes []pages.Commit
}

// NodeState implements [pages.Proxies].
func (s *site) NodeState(kri string) server.NodeState { return s.nodes[kri] }

// Status implements [pages.Proxies].
func (s *site) Status(kri string) server.Status { return server.Status{KRI: kri} }

func newSite(t testing.TB, files ...string) *site {
	s := &site{t: t, loader: &resource.Loader{Kinds: kinds.All(), Documents: slices.Concat(ocm.Documents(), variant.Documents())}}
	s.options = pages.Options{
		Prefix: prefix, Current: func() *proxied.State { return s.current }, Loader: s.loader, Translators: translators.All(),
		ReadSource: os.ReadFile, Version: "v1.2.3", Now: func() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) },
		Changes: func() []pages.Commit { return s.changes },
	}
	if len(files) > 0 {
		set, err := s.loader.Load(t.Context(), files...)
		if err != nil {
			t.Fatal(err)
		}
		s.publish(set)
	}
	s.Handler = http.StripPrefix(prefix, pages.New(s.options))
	return s
}

// ofText returns the pages of resources in a text.
func ofText(t testing.TB, text string) *site {
	s := newSite(t)
	s.publishText(text)
	return s
}

func (s *site) publishText(text string) {
	s.t.Helper()
	set, err := s.loader.Decode(s.t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.publish(set)
}

func (s *site) publish(set *resource.Set) {
	s.t.Helper()
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), s.loader.Kinds, set)
	if err != nil {
		s.t.Fatal(err)
	}
	ended := s.ended
	s.ended = make(chan struct{})
	s.current = &proxied.State{
		View: view, Set: set, Superseded: s.ended,
		Snapshots: snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view),
	}
	if ended != nil {
		close(ended)
	}
}

// ask sends a request. The path has no prefix.
func (s *site) ask(method, path string, form url.Values, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := httptest.NewRequest(method, prefix+path, body)
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// get returns the document of a page with status 200.
func (s *site) get(path string) *node {
	s.t.Helper()
	w := s.ask(http.MethodGet, path, nil)
	if w.Code != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", path, w.Code, w.Body)
	}
	return parse(s.t, w.Body.String())
}

// node is an element of a page.
type node struct{ *html.Node }

func parse(t testing.TB, text string) *node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return &node{root}
}

// all returns the elements below a node that are selected.
func (n *node) all(selects func(*node) bool) []*node {
	var list []*node
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && selects(&node{d}) {
			list = append(list, &node{d})
		}
	}
	return list
}

func (n *node) tags(name string) []*node {
	return n.all(func(n *node) bool { return n.Data == name })
}

func (n *node) attr(name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func (n *node) id(id string) *node {
	if found := n.all(func(n *node) bool { return n.attr("id") == id }); len(found) == 1 {
		return found[0]
	}
	return nil
}

// text returns the text of a node, with single spaces.
func (n *node) text() string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// link returns the link with a text, without the prefix.
func (n *node) link(t testing.TB, text string) string {
	t.Helper()
	for _, a := range n.tags("a") {
		if a.text() == text {
			return strings.TrimPrefix(a.attr("href"), prefix)
		}
	}
	t.Fatalf("there is no link %q in %s", text, n.text())
	return ""
}

// row returns the row of a table whose header is a field, in the element with an id.
func (n *node) row(t testing.TB, id, field string) *node {
	t.Helper()
	section := n.id(id)
	if section == nil {
		t.Fatalf("there is no element %s", id)
	}
	for _, tr := range section.tags("tr") {
		for _, th := range tr.tags("th") {
			if th.text() == field {
				return tr
			}
		}
	}
	t.Fatalf("there is no row %s in %s", field, section.text())
	return nil
}

// TestEveryLink follows every link from the overview. Each page must be there, have the
// parts that every page has, and contain the places that links refer to.
func TestEveryLink(t *testing.T) {
	s := newSite(t, append(demo, "../../../../../testdata/rollout")...)
	s.changes = []pages.Commit{{Number: 1, First: true, At: time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC), Meshes: map[string]int{"default": 5}}}
	known := map[string]*node{}
	fragments := map[string]string{} // by the link, the page that has it
	queue := []string{"/", "/meshes/default/dataplanes?q=web", "/meshes/default/try?dataplane=backend-1&path=/", "/search?q=backend", "/findings"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		path, fragment, _ := strings.Cut(path, "#")
		if known[path] == nil {
			w := s.ask(http.MethodGet, path, nil)
			if w.Code != http.StatusOK {
				t.Fatalf("%s, a link of %s: status %d: %s", path, fragments[path], w.Code, w.Body)
			}
			if strings.Contains(path, "o=json") {
				known[path] = &node{}
				continue
			}
			page := parse(t, w.Body.String())
			known[path] = page
			checkPage(t, path, w.Result().Header, page)
			for _, a := range page.all(func(n *node) bool { return n.attr("href") != "" && n.Data == "a" }) {
				to := a.attr("href")
				if strings.HasPrefix(to, "#") {
					if page.id(to[1:]) == nil {
						t.Errorf("%s: there is no %s", path, to)
					}
					continue
				}
				if !strings.HasPrefix(to, prefix+"/") {
					t.Errorf("%s: the link %s lacks the prefix", path, to)
					continue
				}
				to = strings.TrimPrefix(to, prefix)
				if _, seen := fragments[to]; !seen {
					fragments[to] = path
					queue = append(queue, to)
				}
			}
		}
		if page := known[path]; fragment != "" && page.Node != nil && page.id(fragment) == nil {
			t.Errorf("%s: there is no #%s, a link of %s", path, fragment, fragments[path+"#"+fragment])
		}
	}
	if len(known) < 60 {
		t.Errorf("only %d pages were found", len(known))
	}
}

// checkPage checks what every page has.
func checkPage(t *testing.T, path string, header http.Header, page *node) {
	t.Helper()
	h1 := page.tags("h1")
	if len(h1) != 1 || h1[0].text() == "" {
		t.Errorf("%s: %d h1", path, len(h1))
	} else if title := page.tags("title")[0].text(); !strings.Contains(title, h1[0].text()) {
		t.Errorf("%s: the title %q lacks %q", path, title, h1[0].text())
	}
	csp := header.Get("Content-Security-Policy")
	for directive := range strings.SplitSeq(csp, ";") {
		name, values, _ := strings.Cut(strings.TrimSpace(directive), " ")
		if values != "'self'" && values != "'none'" {
			t.Errorf("%s: %s is %s", path, name, values)
		}
	}
	for _, directive := range []string{"default-src", "base-uri", "form-action", "frame-ancestors"} {
		if !strings.Contains(csp, directive+" ") {
			t.Errorf("%s: no %s", path, directive)
		}
	}
	if header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: X-Content-Type-Options is %q", path, header.Get("X-Content-Type-Options"))
	}
	ids := map[string]bool{}
	for _, n := range page.all(func(*node) bool { return true }) {
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s: <%s %s>", path, n.Data, a.Key)
			case a.Key == "src" || a.Key == "action" || a.Key == "href" && n.Data == "link":
				if !strings.HasPrefix(a.Val, prefix+"/") {
					t.Errorf("%s: <%s %s=%s> lacks the prefix", path, n.Data, a.Key, a.Val)
				}
			case a.Key == "id":
				if ids[a.Val] {
					t.Errorf("%s: two elements have the id %s", path, a.Val)
				}
				ids[a.Val] = true
			case strings.Contains(a.Val, "ZgotmplZ"):
				t.Errorf("%s: %s of <%s> is not safe", path, a.Key, n.Data)
			}
		}
		if n.Data == "style" || n.Data == "script" && n.attr("src") == "" {
			t.Errorf("%s: <%s> in the page", path, n.Data)
		}
	}
	for _, time := range page.tags("time") {
		if time.attr("datetime") == "" {
			t.Errorf("%s: a time without datetime", path)
		}
	}
}

// TestThreeClicks asks why a timeout is 15 s: overview, dataplanes, the dataplane, and the
// link in the row of the field leads to the line that sets it.
func TestThreeClicks(t *testing.T) {
	s := newSite(t, demo...)
	page := s.get(s.get("/").link(t, "5 dataplanes of default"))
	page = s.get(page.link(t, "web-2"))
	row := page.row(t, "outbound-0", "/http/requestTimeout")
	if !strings.Contains(row.text(), "15s") {
		t.Fatalf("the row is %s", row.text())
	}
	path, line, _ := strings.Cut(row.link(t, "web to[1]"), "#")
	if got := s.get(path).id(line).text(); got != "- targetRef: {kind: MeshService, name: backend}" {
		t.Errorf("the line is %q", got)
	}
}

// TestRowOfConf checks the parts of a row: overridden values are folded and link to their
// items, and a value that only informs is next to what is enforced.
func TestRowOfConf(t *testing.T) {
	s := ofText(t, `
{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}], outbound: [{port: 90, tags: {kuma.io/service: b}}]}}
---
{type: MeshTimeout, name: low, spec: {to: [{default: {connectionTimeout: 1s, idleTimeout: 9s}}]}}
---
{type: MeshTimeout, name: mid, spec: {targetRef: {kind: MeshService, name: a}, to: [{default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: new, labels: {kuma.io/effect: shadow}, spec: {targetRef: {kind: MeshService, name: a}, to: [{default: {connectionTimeout: 3s}}]}}
`)
	page := s.get("/meshes/default/dataplanes/d")
	row := page.row(t, "outbound-0", "/connectionTimeout")
	cells := row.tags("td")
	if got := cells[0].text(); got != "2s" {
		t.Errorf("the value is %q", got)
	}
	if got := cells[1].link(t, "mid to[0]"); got != "/meshes/default/policies/MeshTimeout/mid#L6" {
		t.Errorf("the origin links to %s", got)
	}
	folded := cells[1].tags("details")
	if len(folded) != 1 || folded[0].attr("open") != "" || folded[0].tags("s")[0].text() != "1s" || folded[0].link(t, "low to[0]") == "" {
		t.Errorf("the overridden values are %s", cells[1].text())
	}
	if got := cells[2].text(); got != "3s new to[0]" {
		t.Errorf("the value with shadow policies is %q", got)
	}
	if row.attr("class") != "differs" || !strings.Contains(page.text(), "◌ if shadow policies were enforced") {
		t.Error("the difference is not visible")
	}
	if got := page.row(t, "outbound-0", "/idleTimeout").tags("td")[2].text(); got != "the same" {
		t.Errorf("an equal value is %q", got)
	}
	if got := page.row(t, "policies", "new").text(); !strings.Contains(got, "◌ informs") {
		t.Errorf("the policy that informs is %q", got)
	}
	// Once the policy is enforced, there is no second column.
	s.publishText(`
{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}], outbound: [{port: 90, tags: {kuma.io/service: b}}]}}
---
{type: MeshTimeout, name: new, spec: {to: [{default: {connectionTimeout: 3s}}]}}
`)
	if text := s.get("/meshes/default/dataplanes/d").text(); strings.Contains(text, "shadow") {
		t.Errorf("there is a shadow without a policy that informs: %s", text)
	}
}

// TestRowThatWouldNotBeSet has a value that a policy that only informs would take away.
func TestRowThatWouldNotBeSet(t *testing.T) {
	page := ofText(t, `
{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}], outbound: [{port: 90, tags: {kuma.io/service: b}}]}}
---
{type: MeshLoadBalancingStrategy, name: low, spec: {to: [{default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 5}}}}]}}
---
{type: MeshLoadBalancingStrategy, name: new, labels: {kuma.io/effect: shadow}, spec: {targetRef: {kind: MeshService, name: a}, to: [{default: {loadBalancer: {type: Maglev, maglev: {tableSize: 7}}}}]}}
`).get("/meshes/default/dataplanes/d")
	for pointer, want := range map[string]string{
		"/loadBalancer/ringHash/minRingSize": "not set",
		"/loadBalancer/type":                 "Maglev new to[0]",
		"/loadBalancer/maglev/tableSize":     "7 new to[0]",
	} {
		if got := page.row(t, "outbound-0", pointer).tags("td")[2].text(); got != want {
			t.Errorf("%s would be %q instead of %q", pointer, got, want)
		}
	}
}

// TestOverriddenFrom has the values of `from` items that a complete conf overrides, for the
// clients that they select.
func TestOverriddenFrom(t *testing.T) {
	s := ofText(t, `
{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}]}}
---
{type: MeshTrafficPermission, name: low, spec: {from: [{default: {action: Allow}}, {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: AllowWithShadowDeny}}]}}
---
{type: MeshTrafficPermission, name: top, spec: {targetRef: {kind: MeshService, name: a}, from: [{default: {action: Deny}}]}}
`)
	section := s.get("/meshes/default/dataplanes/d").id("inbound-0")
	var rows []string
	for _, row := range section.tags("tr") {
		if strings.HasPrefix(row.text(), "/action") {
			rows = append(rows, row.text())
		}
	}
	if len(rows) != 1 || !strings.HasPrefix(rows[0], "/action Deny top from[0] 1 overridden value Allow low from[0]") {
		t.Errorf("the rows are %q", rows)
	}
}

// TestWhatIsAbsent checks the answers about what does not exist, as a page and as JSON.
func TestWhatIsAbsent(t *testing.T) {
	s := newSite(t, demo...)
	for _, path := range []string{
		"/nothing", "/meshes/other", "/meshes/other/dataplanes", "/meshes/default/nothing", "/meshes/default/dataplanes/web-3",
		"/meshes/default/policies/MeshTimeout/nothing", "/meshes/default/policies/Nothing/web", "/assets/nothing",
	} {
		w := s.ask(http.MethodGet, path, nil)
		if w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", path, w.Code)
		}
		checkPage(t, path, w.Result().Header, parse(t, w.Body.String()))
		w = s.ask(http.MethodGet, path+"?o=json", nil)
		if got := w.Header().Get("Content-Type"); w.Code != http.StatusNotFound || got != "application/problem+json" {
			t.Errorf("%s as JSON: status %d, %s", path, w.Code, got)
		}
	}
	if text := parse(t, s.ask(http.MethodGet, "/meshes/default/dataplanes/web-3", nil).Body.String()).text(); !strings.Contains(text, `did you mean "web-`) {
		t.Errorf("there is no hint: %s", text)
	}
	for path, want := range map[string]int{
		"/?o=xml": http.StatusBadRequest, "/meshes/default/dataplanes?page=0": http.StatusBadRequest,
		"/meshes/default/values?kind=Nothing": http.StatusBadRequest, "/meshes/default/access?to=nothing": http.StatusNotFound,
		"/meshes/default/try?dataplane=backend-1&inbound=http&color=red": http.StatusBadRequest,
	} {
		if w := s.ask(http.MethodGet, path, nil); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	if w := s.ask(http.MethodPost, "/findings", nil); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: status %d", w.Code)
	}
	s.current = nil
	if w := s.ask(http.MethodGet, "/", nil); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("before the first load: status %d", w.Code)
	}
}

// TestEscapes checks names, values and questions that are text for HTML or for paths.
func TestEscapes(t *testing.T) {
	const evil = `"><script>alert(1)</script>`
	s := ofText(t, `
{type: Dataplane, name: d, labels: {note: '`+evil+`'}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}]}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: t, namespace: shop, labels: {kuma.io/mesh: default}}, spec: {rules: [{matches: [{path: {type: Exact, value: /b}}], default: {idleTimeout: 9s}}]}}
`)
	for _, path := range []string{
		"/meshes/default/dataplanes", "/meshes/default/dataplanes/d", "/search?q=" + url.QueryEscape(evil), "/meshes/default/dataplanes?q=" + url.QueryEscape(evil),
		"/meshes/default/try?policy=" + url.QueryEscape("</textarea>"+evil), "/meshes/default/try?dataplane=" + url.QueryEscape(evil), "/findings?q=" + url.QueryEscape(evil),
		"/meshes/default/values?kind=mt&field=" + url.QueryEscape(evil), "/" + url.PathEscape(evil), "/meshes/" + url.PathEscape(evil),
	} {
		w := s.ask(http.MethodGet, path, nil)
		page := parse(t, w.Body.String())
		checkPage(t, path, w.Result().Header, page)
		if n := len(page.tags("script")); n != 1 {
			t.Errorf("%s: %d scripts", path, n)
		}
	}
	list := s.get("/meshes/default/policies")
	if got := list.link(t, "shop/t"); got != "/meshes/default/policies/MeshTimeout/shop%2Ft" {
		t.Errorf("the link is %s", got)
	}
	if got := s.get("/meshes/default/policies/MeshTimeout/shop%2Ft").tags("h1")[0].text(); got != "shop/t" {
		t.Errorf("the title is %s", got)
	}
	if got := s.get("/meshes/default/policies/mt/t?namespace=shop").tags("h1")[0].text(); got != "shop/t" {
		t.Errorf("with a namespace the title is %s", got)
	}
}

// TestStoreOnOverview has the age of the store that is followed, and that it is away.
func TestStoreOnOverview(t *testing.T) {
	load := pages.Load{Store: "etcd://127.0.0.1:2379/demo", StoreAge: 90 * time.Second, StoreConnected: true}
	s := newSite(t, demo...)
	s.options.Load = func() pages.Load { return load }
	s.Handler = http.StripPrefix(prefix, pages.New(s.options))
	for _, c := range []struct {
		change func()
		want   string
	}{
		{func() {}, "The store etcd://127.0.0.1:2379/demo is connected, last confirmed 90 s ago."},
		{func() { load.StoreConnected, load.StoreAge = false, 3*time.Minute }, "is not connected; the last state is served, last confirmed 3 min ago."},
		{func() { load.StoreAge = -1 }, "last confirmed never."},
		{func() { load.StaleSince, load.StaleWhy = s.options.Now().Add(-time.Hour), "the files have 1 error" }, "The files have 1 error, since 60 min ago. The last good state is served."},
		{func() { load.Held = 12 }, "12 removals of dataplanes wait"},
	} {
		c.change()
		if text := strings.NewReplacer(" .", ".", " ,", ",").Replace(s.get("/").id("main").text()); !strings.Contains(text, c.want) {
			t.Errorf("%q is not in %q", c.want, text)
		}
	}
}

// TestAssets has one style sheet, one script of at most 30 KB, and one icon, which are cached
// until they change.
func TestAssets(t *testing.T) {
	s := newSite(t, demo...)
	page := s.get("/")
	links := page.all(func(n *node) bool { return n.Data == "script" || n.Data == "link" })
	if len(links) != 3 {
		t.Errorf("the page has %d files", len(links))
	}
	for _, link := range links {
		path := strings.TrimPrefix(link.attr("src")+link.attr("href"), prefix)
		w := s.ask(http.MethodGet, path, nil)
		if w.Code != http.StatusOK || w.Body.Len() > 30_000 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: status %d, %d B, %s", path, w.Code, w.Body.Len(), w.Header().Get("Cache-Control"))
		}
		if w := s.ask(http.MethodGet, strings.Replace(path, "v=", "v=0", 1), nil); strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: another version is cached for ever", path)
		}
	}
}

// TestWordsOfSearches checks that a search of many words is refused before it looks for them,
// because other pages wait for it.
func TestWordsOfSearches(t *testing.T) {
	s := newSite(t, demo...)
	var most, more []string
	for i := range 21 {
		more = append(more, strings.Repeat("e", i+1))
	}
	most = more[:20]
	for _, path := range []string{"/search", "/meshes/default/dataplanes", "/meshes/default/policies"} {
		for _, c := range []struct {
			name  string
			words []string
			want  int
		}{
			{"20 words", most, http.StatusOK},
			{"21 words", more, http.StatusBadRequest},
			{"one word often", slices.Repeat(most[:1], 20_000), http.StatusOK},
			{"many words often", slices.Repeat(more, 100), http.StatusBadRequest},
		} {
			answer := s.ask("GET", path+"?o=json&q="+strings.Join(c.words, "+"), nil)
			if answer.Code != c.want || c.want != http.StatusOK && !strings.Contains(answer.Body.String(), "at most 20 different words") {
				t.Errorf("%s of %s: status %d: %.200s", path, c.name, answer.Code, answer.Body)
			}
		}
	}
}

// TestClusters checks the pages of a hub of OCM, which has no mesh.
func TestClusters(t *testing.T) {
	s := ofText(t, `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: restart, namespace: ops}
spec: {remediationAction: inform, disabled: false}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: fleet, namespace: ops}
spec: {clusters: [{name: a}, {name: b}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: all, namespace: ops}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: fleet}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: restart}]
`)
	for path, want := range map[string]string{
		"/":         "There is no mesh among the resources",
		"/rollouts": "0 of 2 clusters",
		"/rollouts?policy=ops%2Frestart&cluster=b": "because of all",
	} {
		page := s.get(path)
		if got := page.id("main").text(); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", path, want, got)
		}
		if got := page.text(); !strings.Contains(got, "Roll-outs") {
			t.Errorf("%s: no link to the roll-outs", path)
		}
	}
	for path, want := range map[string]int{"/rollouts?policy=restart&cluster=zz": http.StatusNotFound, "/rollouts?cluster=a": http.StatusNotFound} {
		if w := s.ask("GET", path, nil); w.Code != want {
			t.Errorf("%s: status %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
}

// TestEmpty checks that a page without anything to show says what to do.
func TestEmpty(t *testing.T) {
	s := ofText(t, "{type: Mesh, name: default}\n")
	for path, want := range map[string]string{
		"/":                            "No policy is loaded",
		"/meshes/default/dataplanes":   "Add a document of type Dataplane",
		"/meshes/default/policies":     "Try one",
		"/meshes/default/changes":      "Edit a file",
		"/meshes/default/rollouts":     "placement plan",
		"/meshes/default/values":       "no policy",
		"/meshes/default/access":       "MeshIdentity",
		"/findings":                    "None",
		"/search":                      "a part of a name",
		"/search?q=zzz":                "Nothing has zzz",
		"/meshes/default/policies?q=x": "has no policy",
	} {
		if got := s.get(path).id("main").text(); !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q", path, want, got)
		}
	}
}
