package admission_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/admission"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// mesh has a dataplane that no client may reach, and one that web may.
const mesh = `
{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shop, path: "/{{ label \"app\" }}"}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
---
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]}}
---
{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: api, kuma.io/protocol: http}}]}}
---
{apiVersion: kuma.io/v1alpha1, kind: MeshTrafficPermission, metadata: {name: to-api, namespace: shop, labels: {kuma.io/mesh: default}}, spec: {targetRef: {kind: Dataplane, labels: {app: api}}, rules: [{default: {allow: [{spiffeId: {type: Exact, value: "spiffe://shop/web"}}]}}]}}
`

func state(t *testing.T, text string) *proxied.State {
	t.Helper()
	set, err := loader().Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return &proxied.State{View: view, Set: set, Snapshots: snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)}
}

func loader() *resource.Loader {
	return &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
}

func handler(t *testing.T, change ...func(*admission.Options)) http.Handler {
	current := state(t, mesh)
	o := admission.Options{Current: func() *proxied.State { return current }, Loader: loader(), Translators: translators.All()}
	for _, c := range change {
		c(&o)
	}
	return admission.New(o)
}

type response struct {
	UID     string
	Allowed bool
	Status  struct {
		Code    int
		Message string
	}
	Warnings         []string
	AuditAnnotations map[string]string
}

// ask sends a review of an object of a kind of kuma.io.
func ask(t *testing.T, h http.Handler, operation, kind, object string) response {
	t.Helper()
	field := "object"
	if operation == "DELETE" {
		field = "oldObject"
	}
	body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"7","kind":{"group":"kuma.io","version":"v1alpha1","kind":"` + kind +
		`"},"operation":"` + operation + `","` + field + `":` + object + `}}`
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
	var answer struct {
		APIVersion, Kind string
		Response         response
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d: %v: %s", w.Code, err, w.Body)
	}
	if answer.APIVersion != "admission.k8s.io/v1" || answer.Kind != "AdmissionReview" || answer.Response.UID != "7" {
		t.Errorf("the answer is not one of the review: %s", w.Body)
	}
	return answer.Response
}

// object returns an object of kuma.io in the namespace shop.
func object(kind, name, spec string) string {
	return `{"apiVersion":"kuma.io/v1alpha1","kind":"` + kind + `","metadata":{"name":"` + name + `","namespace":"shop","labels":{"kuma.io/mesh":"default"}},"spec":` + spec + `}`
}

const (
	permission = "MeshTrafficPermission"
	allowAll   = `{"rules":[{"default":{"allow":[{"spiffeId":{"type":"Prefix","value":"spiffe://shop/"}}]}}]}`
	nothing    = `{"targetRef":{"kind":"Dataplane","labels":{"app":"absent"}},"rules":[{"default":{"allow":[{"spiffeId":{"type":"Exact","value":"spiffe://shop/web"}}]}}]}`
)

// TestReview has what an object opens and closes, and its findings, for each operation.
func TestReview(t *testing.T) {
	refuses := func(d diag.Diagnostic) bool { return d.Code.Class() == diag.ClassOpens }
	for _, c := range []struct {
		name, operation, kind, object string
		refuses                       func(diag.Diagnostic) bool
		allowed                       bool
		warning, message              string // a part; "": there is none
		opens                         string
	}{
		{name: "opens", operation: "CREATE", kind: permission, object: object(permission, "all", allowAll), allowed: true, warning: "allows what it denied", opens: "2"},
		{name: "opens and is refused", operation: "CREATE", kind: permission, object: object(permission, "all", allowAll), refuses: refuses, warning: "MM3001", message: "allows what it denied", opens: "2"},
		{name: "closes by a change", operation: "UPDATE", kind: permission, object: object(permission, "to-api", nothing), allowed: true, warning: "denies what it allowed"},
		{name: "closes by a deletion", operation: "DELETE", kind: permission, object: object(permission, "to-api", "{}"), allowed: true, warning: "denies what it allowed"},
		{name: "the same", operation: "UPDATE", kind: permission, object: object(permission, "to-api", `{"targetRef":{"kind":"Dataplane","labels":{"app":"api"}},"rules":[{"default":{"allow":[{"spiffeId":{"type":"Exact","value":"spiffe://shop/web"}}]}}]}`), allowed: true},
		{name: "selects nothing", operation: "CREATE", kind: permission, object: object(permission, "none", nothing), allowed: true, warning: "MM2001"},
		{name: "does not load", operation: "CREATE", kind: "MeshTimeout", object: object("MeshTimeout", "t", `{"to":[{"default":{"idleTimeout":"x"}}]}`), message: "spec.to[0].default.idleTimeout"},
		{name: "another kind", operation: "CREATE", kind: "MeshTimeout", object: object(permission, "t", allowAll), message: "MeshTrafficPermission"},
		{name: "to another mesh", operation: "UPDATE", kind: permission, object: strings.Replace(object(permission, "to-api", allowAll), `"default"}`, `"other"}`, 1), allowed: true, warning: "denies what it allowed"},
		{name: "of no dataplane, deleted", operation: "DELETE", kind: "MeshTimeout", object: object("MeshTimeout", "t", `{"too":[]}`), allowed: true},
		{name: "a kind that is not read", operation: "CREATE", kind: "DataplaneInsight", object: `{"apiVersion":"kuma.io/v1alpha1","kind":"DataplaneInsight"}`, allowed: true},
		{name: "a connection", operation: "CONNECT", kind: permission, object: "null", allowed: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(t, handler(t, func(o *admission.Options) { o.Refuses = c.refuses }), c.operation, c.kind, c.object)
			if got.Allowed != c.allowed {
				t.Errorf("allowed: %v, want %v: %+v", got.Allowed, c.allowed, got)
			}
			warned := slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, c.warning) })
			if warned != (len(got.Warnings) > 0) || warned != (c.warning != "") {
				t.Errorf("the warnings are %q, want %q", got.Warnings, c.warning)
			}
			if !strings.Contains(got.Status.Message, c.message) || (got.Status.Message == "") != c.allowed {
				t.Errorf("the message is %q, want %q", got.Status.Message, c.message)
			}
			if got.AuditAnnotations["opens"] != c.opens {
				t.Errorf("the notes are %v", got.AuditAnnotations)
			}
		})
	}
}

// TestLate has an answer within a second although what is served is not known for a minute, and
// while another review takes the slot.
func TestLate(t *testing.T) {
	for _, refuse := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := handler(t, func(o *admission.Options) {
				o.RefuseLate = refuse
				o.Current = func() *proxied.State { time.Sleep(time.Minute); return nil }
			})
			for range 10 {
				begin := time.Now()
				got := ask(t, h, "CREATE", permission, object(permission, "all", allowAll))
				if took := time.Since(begin); took >= time.Second {
					t.Errorf("an answer took %v", took)
				}
				if got.Allowed == refuse || refuse == (len(got.Warnings) > 0) || refuse != (got.Status.Code == http.StatusServiceUnavailable) {
					t.Errorf("refuse %v: %+v", refuse, got)
				}
			}
			time.Sleep(time.Minute) // until the question ends
		})
	}
	if got := ask(t, handler(t, func(o *admission.Options) { o.Current = func() *proxied.State { return nil } }), "CREATE", permission, object(permission, "all", allowAll)); !got.Allowed || len(got.Warnings) != 1 {
		t.Errorf("before the first load: %+v", got)
	}
}

// TestPanics: a review that fails ends with an answer, and the next one too.
func TestPanics(t *testing.T) {
	h := handler(t, func(o *admission.Options) { o.Current = func() *proxied.State { panic("broken") } })
	for range 3 {
		if got := ask(t, h, "CREATE", permission, object(permission, "all", allowAll)); !got.Allowed || len(got.Warnings) != 1 {
			t.Errorf("%+v", got)
		}
	}
}

// TestMany: a policy with many findings has few lines, and says how many there are.
func TestMany(t *testing.T) {
	var entries []string
	for range 100 {
		entries = append(entries, `{"spiffeId":{"type":"Exact","value":"no SPIFFE ID"}}`)
	}
	got := ask(t, handler(t), "CREATE", permission, object(permission, "all", `{"rules":[{"default":{"allow":[`+strings.Join(entries, ",")+`]}}]}`))
	if lines := strings.Split(got.Status.Message, "\n"); got.Allowed || len(lines) != 16 || lines[15] != "and 85 more; meshmatch diff shows all" {
		t.Errorf("%d lines: %s", len(lines), got.Status.Message)
	}
}

// TestBadReview refuses what is no review, and what is too large.
func TestBadReview(t *testing.T) {
	h := handler(t)
	for _, c := range []struct {
		name, method, body string
		status             int
	}{
		{"a question", http.MethodGet, "", http.StatusMethodNotAllowed},
		{"no JSON", http.MethodPost, "x", http.StatusBadRequest},
		{"another version", http.MethodPost, `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}`, http.StatusBadRequest},
		{"no request", http.MethodPost, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`, http.StatusBadRequest},
		{"no uid", http.MethodPost, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}`, http.StatusBadRequest},
		{"too large", http.MethodPost, strings.Repeat(" ", 5<<20), http.StatusRequestEntityTooLarge},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(c.method, "/", strings.NewReader(c.body)))
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %s", c.name, w.Code, c.status, w.Body)
		}
	}
}
