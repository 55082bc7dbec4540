package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestTryPolicy sends the text of a policy that denies what was allowed: the page has the
// closed inbound and a witness, whose link asks about it. Nothing is stored.
func TestTryPolicy(t *testing.T) {
	s := newSite(t, demo...)
	const path = "/meshes/default/try"
	form := url.Values{"policy": {`{type: MeshTrafficPermission, name: no-batch, spec: {targetRef: {kind: MeshService, name: backend}, rules: [{default: {deny: [{spiffeId: {type: Prefix, value: 'spiffe://shop.mesh/ns/batch'}}]}}]}}`}}
	before := s.current
	w := s.ask(http.MethodPost, path, form, "Origin", "http://example.com", "Sec-Fetch-Site", "same-origin")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	page := parse(t, w.Body.String())
	checkPage(t, path, w.Result().Header, page)
	changes := page.id("changes")
	if text := changes.text(); !strings.Contains(text, "1 ▼ inbound closes") || !strings.Contains(text, "0 ▲ inbounds open") {
		t.Errorf("the changes are %s", text)
	}
	for _, a := range changes.tags("a") {
		if strings.HasPrefix(a.text(), "spiffe://shop.mesh/ns/batch") {
			if text := s.get(strings.TrimPrefix(a.attr("href"), prefix)).id("answer").text(); !strings.Contains(text, "ALLOW") {
				t.Errorf("the witness is answered with %s", text)
			}
		}
	}
	if s.current != before || s.current.View.Policy(before.Set.Policies[0].ID) == nil {
		t.Error("the state has changed")
	}
	for name, c := range map[string]struct {
		form    url.Values
		headers []string
		status  int
	}{
		"of another site":   {form, []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"of another origin": {form, []string{"Origin", "https://attacker.example"}, http.StatusForbidden},
		"not a policy":      {url.Values{"policy": {"{type: Mesh, name: default}"}}, nil, http.StatusBadRequest},
		"of another mesh":   {url.Values{"policy": {"{type: MeshTimeout, mesh: other, name: t, spec: {to: [{default: {idleTimeout: 1s}}]}}"}}, nil, http.StatusBadRequest},
		"without a text":    {url.Values{}, nil, http.StatusBadRequest},
		"bad":               {url.Values{"policy": {"{type: MeshTimeout, name: t, spec: {too: []}}"}}, nil, http.StatusBadRequest},
		"too large":         {url.Values{"policy": {strings.Repeat("#", 1<<20)}}, nil, http.StatusRequestEntityTooLarge},
	} {
		if w := s.ask(http.MethodPost, path, c.form, c.headers...); w.Code != c.status {
			t.Errorf("%s: status %d, want %d", name, w.Code, c.status)
		}
	}
}

// TestTryRequest has the JSON of _access.
func TestTryRequest(t *testing.T) {
	s := newSite(t, demo...)
	w := s.ask(http.MethodGet, "/meshes/default/try?o=json&dataplane=backend-1&inbound=http&spiffe-id=spiffe://shop.mesh/ns/shop/sa/web&path=/", nil)
	if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, `"decision": "ALLOW"`) {
		t.Errorf("status %d: %s", w.Code, body)
	}
}
