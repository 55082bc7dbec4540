package pages_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
)

// TestEvents follows pages while the state changes, a load fails, and a commit converges. A
// stream begins with hello; then it has one event for each change.
func TestEvents(t *testing.T) {
	const dataplane = "{type: Dataplane, name: d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: a}}]}}\n"
	s := ofText(t, dataplane)
	var mu sync.Mutex // of what the server reads
	load, changed := pages.Load{}, make(chan struct{})
	s.options.Current = func() *proxied.State { mu.Lock(); defer mu.Unlock(); return s.current }
	s.options.Load = func() pages.Load { mu.Lock(); defer mu.Unlock(); return load }
	s.options.Changes = func() []pages.Commit { mu.Lock(); defer mu.Unlock(); return s.changes }
	s.options.Changed = func() <-chan struct{} { mu.Lock(); defer mu.Unlock(); return changed }
	server := httptest.NewServer(http.StripPrefix(prefix, pages.New(s.options)))
	t.Cleanup(server.Close)

	follow := func(path string) (next func() string) {
		response, err := http.Get(server.URL + prefix + "/events?path=" + url.QueryEscape(path))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { response.Body.Close() })
		if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || !strings.HasPrefix(got, "text/event-stream") {
			t.Fatalf("status %d, %s", response.StatusCode, got)
		}
		lines := bufio.NewScanner(response.Body)
		return func() string {
			t.Helper()
			for lines.Scan() {
				if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
					return event
				}
			}
			t.Fatalf("the stream of %s ended: %v", path, lines.Err())
			return ""
		}
	}
	overview, one := follow(prefix+"/"), follow(prefix+"/meshes/default/dataplanes/d")
	for _, next := range []func() string{overview, one} {
		if got := next(); got != "hello" {
			t.Errorf("the first event is %s", got)
		}
	}
	for _, c := range []struct {
		name   string
		change func()
		reach  []func() string
	}{
		{"another state", func() {
			s.publishText(dataplane + "---\n{type: MeshTimeout, name: t, spec: {rules: [{default: {idleTimeout: 9s}}]}}\n")
		}, []func() string{overview, one}},
		{"a load that fails", func() { load.StaleWhy = "the files have 1 error" }, []func() string{overview}},
		{"a commit", func() { s.changes = []pages.Commit{{Number: 2}}; close(changed); changed = make(chan struct{}) }, []func() string{overview}},
		{"the dataplane is gone", func() { s.publishText("{type: Mesh, name: default}\n") }, []func() string{overview, one}},
	} {
		mu.Lock()
		c.change()
		mu.Unlock()
		for _, next := range c.reach {
			if got := next(); got != "changed" {
				t.Errorf("%s: the event is %s", c.name, got)
			}
		}
	}
	if w := s.ask(http.MethodGet, "/events?path=nowhere", nil); w.Code != http.StatusBadRequest {
		t.Errorf("a path that is none: status %d", w.Code)
	}
}
