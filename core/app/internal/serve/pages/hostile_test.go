package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// hostile are values that end what a page writes them into, or that a browser would run. Each
// one has the word xevil where its element, attribute or scheme would begin.
var hostile = map[string]string{
	"element":        `"><xevil xevil=1>xevil</xevil>`,
	"script":         `'><script>xevil()</script><img src=x onerror=xevil()>`,
	"attribute":      `" xevil="1" onclick="xevil()`,
	"quoted":         `' xevil='1`,
	"unquoted":       "xevil onclick=xevil() `xevil`",
	"scheme":         `javascript:xevil()`,
	"spaced scheme":  " \tJaVaScRiPt\n:xevil()",
	"new line":       "xevil\n\"><xevil>\r\nxevil",
	"textarea":       `</textarea></option></select></title></code><xevil>`,
	"comment":        `<!--xevil--><![CDATA[xevil]]><xevil>`,
	"entities":       `&quot;&gt;&#60;xevil&#62; &lt;xevil&gt;`,
	"template":       `{{.xevil}}{ xevil }${xevil}`,
	"path":           `/../..//xevil?xevil=1#xevil%22%3e%3Cxevil%3E`,
	"other host":     `//xevil.example/"><xevil>`,
	"end of content": "\"><xevil>\x00\ufffd</body></html><xevil>",
}

// hostileProxies are proxies whose words are hostile.
type hostileProxies struct{ value string }

// NodeState implements [pages.Proxies].
func (hostileProxies) NodeState(string) server.NodeState { return server.Pending }

// Status implements [pages.Proxies].
func (p hostileProxies) Status(kri string) server.Status {
	at := time.Date(2026, 11, 25, 11, 0, 0, 0, time.UTC)
	return server.Status{
		KRI:     kri,
		Streams: []server.StreamStatus{{Since: at, Peer: p.value, Protocol: p.value, Client: p.value}},
		Types: map[string]server.TypeStatus{
			"clusters":  {Sent: p.value, NACK: &server.NACKStatus{Message: p.value, Resources: []string{p.value}, At: at}},
			"listeners": {Sent: p.value, Silent: &at},
		},
	}
}

// placeholder is a value that the loader permits everywhere, where a test sets hostile ones in the data of pages.
const placeholder = "xevil-value"

// hostileMesh has the placeholder in every place that holds a string of a user.
const hostileMesh = `
{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: a.mesh, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
---
{type: Dataplane, name: d, labels: {app: one, note: xevil-value, xevil-value: x, kuma.io/zone: xevil-value}, networking: {address: 10.0.0.1, inbound: [{name: main, port: 80, protocol: http, tags: {kuma.io/service: xevil-value, kuma.io/zone: xevil-value, other: xevil-value, xevil-value: x}}], outbound: [{port: 90, tags: {kuma.io/service: xevil-value}}]}}
---
{type: Dataplane, name: xevil-value, labels: {app: two, note: xevil-value}, networking: {address: 10.0.0.2, inbound: [{name: xevil-value, port: 80, protocol: http, tags: {kuma.io/service: b}}], outbound: [{port: 90, tags: {kuma.io/service: xevil-value}}]}}
---
{type: Dataplane, name: three, labels: {app: xevil-value, kuma.io/effect: xevil-value}, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: b}}], outbound: [{port: 90, tags: {kuma.io/service: b}}]}}
---
{type: Dataplane, mesh: xevil-value, name: other, networking: {address: 10.0.0.4, inbound: [{port: 80, tags: {kuma.io/service: xevil-value}}]}}
---
{apiVersion: kuma.io/v1alpha1, kind: Dataplane, mesh: default, metadata: {name: pod, namespace: xevil-value, labels: {kuma.io/mesh: default}}, spec: {networking: {address: 10.0.0.5, inbound: [{port: 80, tags: {kuma.io/service: b}}]}}}
---
{type: MeshTrafficPermission, name: p, spec: {targetRef: {kind: MeshSubset, tags: {kuma.io/service: xevil-value}}, rules: [{default: {allow: [{spiffeId: {type: Exact, value: 'spiffe://a.mesh/xevil-value'}}, {spiffeId: {type: Prefix, value: 'spiffe://a.mesh/two'}, path: {type: Exact, value: /xevil-value}}]}}]}}
---
{type: MeshTimeout, name: t, spec: {targetRef: {kind: MeshSubset, tags: {other: xevil-value}}, to: [{targetRef: {kind: MeshService, name: xevil-value}, default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: xevil-value, labels: {kuma.io/effect: shadow, note: xevil-value}, spec: {to: [{targetRef: {kind: MeshService, name: xevil-value}, default: {connectionTimeout: 2s}}]}}
---
{type: MeshTimeout, name: dead, spec: {targetRef: {kind: MeshSubset, tags: {none: xevil-value}}, to: [{targetRef: {kind: MeshService, name: xevil-value}, default: {connectionTimeout: 3s}}]}}
---
{type: MeshAccessLog, name: l, spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /xevil-value, format: {type: Plain, plain: xevil-value}}}]}}]}}
---
{type: MeshAccessLog, name: m, spec: {targetRef: {kind: MeshSubset, tags: {other: xevil-value}}, to: [{targetRef: {kind: MeshService, name: xevil-value}, default: {backends: [{type: File, file: {path: /xevil-value, format: {type: Plain, plain: other xevil-value}}}]}}]}}
---
{type: MeshHTTPRoute, name: r, spec: {targetRef: {kind: Mesh}, to: [{targetRef: {kind: MeshService, name: xevil-value}, rules: [{matches: [{path: {type: Exact, value: /xevil-value}, headers: [{type: Exact, name: x-h, value: xevil-value}]}], default: {filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-h, value: xevil-value}]}}], backendRefs: [{kind: MeshService, name: xevil-value, weight: 1}]}}]}]}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: restart, namespace: xevil-value, annotations: {note: xevil-value}}
spec: {remediationAction: inform, disabled: false}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: fleet, namespace: xevil-value}
spec: {clusters: [{name: a}, {name: xevil-value}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: xevil-value, namespace: xevil-value}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: fleet}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: restart}]
`

// changeStrings changes the strings that a value holds in exported fields, in place.
func changeStrings(v reflect.Value, change func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			changeStrings(v.Elem(), change)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				changeStrings(v.Field(i), change)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			changeStrings(v.Index(i), change)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(change(v.String()))
		}
	}
}

// changed returns a copy of data in which a function has changed every string.
func changed(data any, change func(string) string) any {
	c := reflect.New(reflect.TypeOf(data)).Elem()
	c.Set(reflect.ValueOf(data))
	changeStrings(c, change)
	return c.Interface()
}

// TestHostileValues has each hostile value in every place: of requests, of what proxies send, of
// files, and of the resources, as if the loader and the links of pages had let it pass. No page
// has an element, an attribute or a scheme that the value made.
func TestHostileValues(t *testing.T) {
	for name, value := range hostile {
		t.Run(name, func(t *testing.T) { testHostileValue(t, value) })
	}
}

func testHostileValue(t *testing.T, value string) {
	s := newSite(t)
	s.options.ReadSource = func(string) ([]byte, error) { return []byte(strings.ReplaceAll(hostileMesh, placeholder, value)), nil }
	s.options.Version = value
	s.options.Proxies = hostileProxies{value}
	s.options.Clients = func() []pages.ClientVersion {
		return []pages.ClientVersion{{Version: value, Streams: 1, Lacks: []string{value}}}
	}
	s.options.Load = func() pages.Load {
		at := s.options.Now().Add(-time.Hour)
		return pages.Load{Last: at, Errors: []string{value}, StaleSince: at, StaleWhy: value, Store: value, StoreConnected: true, Held: 1}
	}
	s.changes = []pages.Commit{{
		Number: 1, At: s.options.Now().Add(-time.Hour), Meshes: map[string]int{"default": 1}, Resources: slices.Repeat([]pages.ChangedResource{
			{Action: "added", Kind: value, Mesh: "default", Namespace: value, Name: value}, {Action: value, Kind: "MeshTimeout", Mesh: "default", Name: value},
		}, 4), More: 1, Convergence: []pages.Sample{{Milliseconds: 5, Converged: 1, Of: 2}},
	}}
	s.publishText(hostileMesh)

	patterns := documentedPaths(t)
	asked, shown := map[string]bool{}, map[string]bool{}
	check := func(method, path string, form url.Values, links bool) *node {
		w := s.ask(method, path, form)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			return nil
		}
		page := parse(t, w.Body.String())
		checkHostile(t, method+" "+path, page, links)
		_, pattern := patterns.Handler(httptest.NewRequest(method, path, nil))
		asked[pattern] = true
		shown[pattern] = shown[pattern] || strings.Contains(w.Body.String(), templ.EscapeString(value))
		return page
	}
	var paths []string
	posts := []url.Values{{"policy": {value}}, {"policy": {"</textarea>" + value}}, {"policy": {"{type: MeshTimeout, name: t, spec: {" + strconv.Quote(value) + ": 1}}"}}}
	for _, policy := range []string{
		"{type: MeshAccessLog, name: m, spec: {to: [{default: {backends: [{type: File, file: {path: /xevil-value}}]}}]}}",
		"{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{spiffeId: {type: Prefix, value: 'spiffe://a.mesh/two'}, path: {type: Exact, value: /xevil-value}}]}}]}}",
		"{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://a.mesh'}, path: {type: Prefix, value: /xevil-value}}]}}]}}",
	} {
		posts = append(posts, url.Values{"policy": {policy}})
	}

	// The value in requests: links lead to pages of this server.
	s.Handler = http.StripPrefix(prefix, pages.New(s.options))
	known := map[string]bool{}
	for queue := hostileRequests(value); len(queue) > 0; queue = queue[1:] {
		path, _, _ := strings.Cut(queue[0], "#")
		if known[path] || len(known) > 400 {
			continue
		}
		known[path] = true
		if page := check(http.MethodGet, path, nil, true); page != nil {
			checkPage(t, path, s.ask(http.MethodGet, path, nil).Result().Header, page)
			paths = append(paths, path)
			for _, a := range page.tags("a") {
				if to, ok := strings.CutPrefix(a.attr("href"), prefix); ok {
					queue = append(queue, to)
				}
			}
		}
	}
	for _, form := range posts {
		check(http.MethodPost, "/meshes/default/try", form, true)
	}
	// The value in the data of pages: in place of what it names, after each text, and in place of
	// whole links.
	for _, change := range []func(string) string{
		func(text string) string { return strings.ReplaceAll(text, placeholder, value) },
		func(text string) string { return text + value },
		func(text string) string {
			if strings.HasPrefix(text, prefix) || strings.HasPrefix(text, "#") {
				return value
			}
			return text
		},
	} {
		s.Handler = http.StripPrefix(prefix, pages.NewChanged(s.options, func(data any) any { return changed(data, change) }))
		for _, path := range paths {
			check(http.MethodGet, path, nil, false)
		}
		for _, form := range posts {
			check(http.MethodPost, "/meshes/default/try", form, false)
		}
	}
	for pattern := range patterns.all {
		if !asked[pattern] || !shown[pattern] {
			t.Errorf("%s: asked for %t, and has the value %t", pattern, asked[pattern], shown[pattern])
		}
	}
}

// hostileRequests are paths with a value in each parameter, with which a test begins.
func hostileRequests(value string) []string {
	v, part := url.QueryEscape(value), url.PathEscape(value)
	paths := []string{
		"/", "/?o=" + v, "/" + part, "/meshes/" + part, "/search?q=" + v, "/search?q=d", "/findings", "/findings?q=" + v, "/findings?page=" + v,
		"/rollouts?policy=xevil-value%2Frestart&cluster=xevil-value", "/rollouts?policy=" + v + "&cluster=" + v, "/rollouts", "/meshes/default/rollouts",
	}
	for _, page := range []string{
		"", "/dataplanes?q=" + v, "/dataplanes", "/dataplanes/" + part, "/dataplanes/d?namespace=" + v, "/policies?q=" + v + "&kind=" + v, "/policies", "/policies/" + part + "/" + part,
		"/access?to=" + v, "/access?from=" + v, "/access?service=" + v + "&namespace=" + v, "/access", "/try?dataplane=" + v, "/try?policy=" + v,
		"/try?dataplane=d&inbound=main&spiffe-id=" + v + "&method=" + v + "&path=" + v + "&sni=" + v + "&header=" + v + "&header=" + v + "&tag=" + v + "&tag=" + v,
		"/try?dataplane=d&inbound=main&why&explain&spiffe-id=spiffe://a.mesh/two&path=/&header=" + url.QueryEscape("x="+value) + "&tag=" + url.QueryEscape("x="+value),
		"/try?dataplane=d&inbound=main&spiffe-id=spiffe://a.mesh/xevil-value&path=/",
		"/values?kind=" + v, "/values?kind=MeshAccessLog&field=" + v, "/values?kind=MeshAccessLog&field=backends&value=" + v, "/changes",
	} {
		paths = append(paths, "/meshes/default"+page)
	}
	return paths
}

// checkHostile checks that no hostile value made a part of a page. With links, each one leads to
// this server; otherwise values replaced parts of them, and none has a scheme.
func checkHostile(t *testing.T, path string, page *node, links bool) {
	t.Helper()
	for d := range page.Descendants() {
		switch d.Type {
		case html.CommentNode:
			t.Errorf("%s: a comment %q", path, d.Data)
		case html.ElementNode:
			if strings.Contains(d.Data, "xevil") || d.Data == "img" || d.Data == "script" && d.FirstChild != nil {
				t.Errorf("%s: an element %s", path, d.Data)
			}
			for _, a := range d.Attr {
				switch a.Key {
				case "href", "src", "action", "formaction", "data", "poster", "srcset", "cite":
					scheme, _, hasScheme := strings.Cut(a.Val, ":")
					if hasScheme && !strings.ContainsAny(scheme, "/?#") && a.Val != string(templ.FailedSanitizationURL) {
						t.Errorf("%s: %s of %s is %q", path, a.Key, d.Data, a.Val)
					}
					if links && (!strings.HasPrefix(a.Val, prefix+"/") && !strings.HasPrefix(a.Val, "#") || strings.ContainsAny(a.Val, "\"'<> \t\r\n\\")) {
						t.Errorf("%s: %s of %s is %q", path, a.Key, d.Data, a.Val)
					}
				case "style", "srcdoc":
					t.Errorf("%s: %s of %s is %q", path, a.Key, d.Data, a.Val)
				}
				if strings.Contains(a.Key, "xevil") || strings.HasPrefix(a.Key, "on") {
					t.Errorf("%s: an attribute %s of %s", path, a.Key, d.Data)
				}
			}
		}
	}
}

// documented are the paths that the comment of the package lists.
type documented struct {
	*http.ServeMux
	all map[string]bool
}

func documentedPaths(t *testing.T) documented {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	d := documented{http.NewServeMux(), map[string]bool{}}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 2 && (words[1] == "GET" || words[1] == "POST") && words[2] != "/events" {
			pattern := fmt.Sprintf("%s %s", words[1], words[2])
			if words[2] == "/" {
				pattern += "{$}"
			}
			d.all[pattern] = true
			d.Handle(pattern, http.NotFoundHandler())
		}
	}
	if len(d.all) < 14 {
		t.Fatalf("only %d paths", len(d.all))
	}
	return d
}
