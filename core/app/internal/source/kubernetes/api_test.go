package kubernetes_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
)

// api is an API server of the kinds MeshTimeout and ConfigMap. A test scripts the answers of
// MeshTimeout: each list or watch of the kind is one call. There is no ConfigMap.
type api struct {
	*httptest.Server
	held     chan struct{} // unless nil: the list of ConfigMaps ends when it is closed
	calls    atomic.Int32
	notReady atomic.Bool
	missing  atomic.Bool // the group kuma.io
	answer   func(call int, w http.ResponseWriter, r *http.Request)
}

func newAPI(t *testing.T, answer func(call int, w http.ResponseWriter, r *http.Request)) *api {
	a := &api{answer: answer}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	t.Cleanup(a.CloseClientConnections)
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/readyz":
		if a.notReady.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	case "/apis":
		if a.missing.Load() {
			fmt.Fprint(w, `{"groups": []}`)
			return
		}
		fmt.Fprint(w, `{"groups": [{"name": "kuma.io", "preferredVersion": {"groupVersion": "kuma.io/v1alpha1"}}, {"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}}]}`)
	case "/apis/kuma.io/v1alpha1":
		fmt.Fprint(w, `{"resources": [{"name": "meshtimeouts", "kind": "MeshTimeout", "verbs": ["list", "watch"]}, {"name": "meshtimeouts/status", "kind": "MeshTimeout", "verbs": ["get"]}, {"name": "others", "kind": "Other", "verbs": ["list", "watch"]}]}`)
	case "/api/v1/namespaces/kuma-system/configmaps":
		if a.held != nil {
			<-a.held
		}
		initial(w, 1)
		hold(w, r)
	case "/apis/kuma.io/v1alpha1/meshtimeouts":
		if a.missing.Load() {
			http.NotFound(w, r)
			return
		}
		a.answer(int(a.calls.Add(1)), w, r)
	default:
		http.Error(w, `{"message": "there is no `+r.URL.Path+`"}`, http.StatusNotFound)
	}
}

// event is an event of a watch.
func event(w http.ResponseWriter, kind, name string, version int) {
	fmt.Fprintf(w, `{"type": %q, "object": %s}`+"\n", kind, timeout(name, version))
	w.(http.Flusher).Flush()
}

func timeout(name string, version int) string {
	return fmt.Sprintf(`{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshTimeout", "metadata": {"name": %q, "namespace": "ns", "resourceVersion": "%d"}}`, name, version)
}

// initial ends the initial events of a watch.
func initial(w http.ResponseWriter, version int) {
	fmt.Fprintf(w, `{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "%d", "annotations": {"k8s.io/initial-events-end": "true"}}}}`+"\n", version)
	w.(http.Flusher).Flush()
}

func expired(w http.ResponseWriter) {
	fmt.Fprintln(w, `{"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}}`)
}

// hold keeps a watch open until the client ends it.
func hold(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// store returns the store of an API.
func (a *api) store(t *testing.T) *kubernetes.Store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, fmt.Appendf(nil, "{apiVersion: v1, kind: Config, current-context: a, clusters: [{name: a, cluster: {server: %q}}], contexts: [{name: a, context: {cluster: a}}]}", a.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, path, "")
}

// changes writes the objects of a page, such as "+ns/a@1 -ns/b".
func changes(p *source.Page) string {
	var words []string
	for _, o := range p.Objects {
		name := strings.TrimPrefix(o.Key, "kuma.io/MeshTimeout/")
		if o.Data == nil {
			words = append(words, "-"+name)
		} else {
			_, version, _ := strings.Cut(o.At, "@")
			words = append(words, "+"+name+"@"+version)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// inPages answers as a server without WatchList: a and b are listed in two pages, and a is
// deleted afterwards.
func inPages(t *testing.T) func(_ int, w http.ResponseWriter, r *http.Request) {
	return func(_ int, w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Get("sendInitialEvents") != "":
			http.Error(w, `{"code": 422, "message": "sendInitialEvents is forbidden"}`, http.StatusUnprocessableEntity)
		case query.Get("watch") == "" && query.Get("continue") == "":
			fmt.Fprintf(w, `{"metadata": {"resourceVersion": "7", "continue": "next"}, "items": [%s]}`, timeout("a", 3))
		case query.Get("watch") == "":
			fmt.Fprintf(w, `{"metadata": {"resourceVersion": "7"}, "items": [%s]}`, timeout("b", 5))
		default:
			if query.Get("resourceVersion") != "7" {
				t.Errorf("the watch begins at %s", query.Get("resourceVersion"))
			}
			event(w, "DELETED", "a", 8)
			hold(w, r)
		}
	}
}

// A server without WatchList is listed in pages, and watched from their resource version.
// The kinds are listed at the same time, so the list of ConfigMaps may end before any of
// these pages, or after the deletion: the state is complete when both have come.
func TestPages(t *testing.T) {
	a := newAPI(t, inPages(t))
	var pages []string
	for p, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if pages = append(pages, changes(p)); p.Revision == 8 && !p.More {
			break
		}
	}
	if got := strings.Join(strings.Fields(strings.Join(pages, " ")), " "); got != "+ns/a@3 +ns/b@5 -ns/a" {
		t.Errorf("the pages are %q", pages)
	}
}

// Until each kind was listed, no state is complete: not even after a change of a kind that
// was listed.
func TestListedTogether(t *testing.T) {
	a := newAPI(t, inPages(t))
	a.held = make(chan struct{})
	release := sync.OnceFunc(func() { close(a.held) })
	t.Cleanup(release)
	deleted := false
	for p, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if !deleted && !p.More {
			t.Fatalf("the page of %q is complete without the ConfigMaps", changes(p))
		}
		if changes(p) == "-ns/a" {
			deleted = true
			release()
		}
		if !p.More {
			if p.Revision != 8 || changes(p) != "" {
				t.Errorf("the empty list of ConfigMaps completes revision %d with %q", p.Revision, changes(p))
			}
			break
		}
	}
}

// After a resource version that is too old, the kind is listed again. Only the differences
// are passed on, as one state. A server that is busy is asked again.
func TestExpired(t *testing.T) {
	a := newAPI(t, func(call int, w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("resourceVersionMatch") == "Exact" {
			listExactly(w, "") // it is compacted
			return
		}
		switch call - 1 {
		case 0:
			http.Error(w, `{"message": "storage is (re)initializing"}`, http.StatusTooManyRequests)
		case 1:
			event(w, "ADDED", "a", 3)
			event(w, "ADDED", "b", 4)
			event(w, "ADDED", "c", 5)
			initial(w, 7)
			expired(w)
		case 2:
			expired(w)
		default:
			event(w, "ADDED", "a", 3)
			event(w, "ADDED", "b", 9)
			initial(w, 10)
			hold(w, r)
		}
	})
	seen := ""
	for p, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen += changes(p) + " "; p.Revision == 10 && !p.More {
			break
		}
	}
	if got := strings.Join(strings.Fields(seen), " "); got != "+ns/a@3 +ns/b@4 +ns/c@5 +ns/b@9 -ns/c" {
		t.Errorf("passed on are %s", got)
	}
}

// A watch that the server ends continues from the last resource version, even from the version
// of a bookmark.
func TestContinues(t *testing.T) {
	a := newAPI(t, func(call int, w http.ResponseWriter, r *http.Request) {
		if call == 1 {
			initial(w, 7)
			fmt.Fprintln(w, `{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "12"}}}`)
			return
		}
		if at := r.URL.Query().Get("resourceVersion"); at != "12" {
			t.Errorf("the watch continues from %s", at)
		}
		event(w, "MODIFIED", "a", 13)
		hold(w, r)
	})
	for p, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err != nil {
			t.Fatal(err)
		}
		if changes(p) == "+ns/a@13" {
			break
		}
	}
}

// A cluster that was restored from a backup is reported, unless any state is accepted.
func TestSetBack(t *testing.T) {
	var version atomic.Int32
	version.Store(100)
	a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		initial(w, int(version.Load()))
		hold(w, r)
	})
	s := a.store(t)
	complete := func(since source.Since) (source.Revision, error) {
		for p, err := range s.Follow(t.Context(), since) {
			if err != nil || !p.More {
				return pageRevision(p), err
			}
		}
		return 0, errors.New("the sequence ended")
	}
	if at, err := complete(source.Since{List: true}); at != 100 || err != nil {
		t.Fatalf("revision %d, %v", at, err)
	}
	version.Store(50)
	if _, err := complete(source.Since{Revision: 100}); !errors.Is(err, source.ErrSetBack) {
		t.Errorf("the error is %v", err)
	}
	if at, err := complete(source.Since{List: true}); at != 50 || err != nil {
		t.Errorf("revision %d, %v", at, err)
	}
}

// A cluster that was restored from a backup, and whose resource version has passed the one that was
// read, is reported if an object shows that: after a loss, and when a watch cannot go on.
func TestSetBackThatPassed(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    string // what is there at version 20; at 10 it was "a@3 b@5"
		exactly string // what is there at version 10 then; "" if that is compacted
		setBack bool
	}{
		{"an object is older", "a@3 b@4", "a@3 b@4", true},
		{"an object is another", "a@3 b@7", "a@3 b@7", true},
		{"an object that is gone was never there", "a@3", "a@3", true},
		{"an object that is gone was another", "a@3", "a@3 b@6", true},
		{"an object is there that was deleted", "a@3 b@5 c@4", "a@3 b@5 c@4", true},
		{"an object that was deleted was made by a restore", "a@3 b@5 c@10", "a@3 b@5 c@10", true},
		{"nothing is there, and nothing was", "", "-", true},
		{"an object was deleted", "a@3", "a@3 b@5", false},
		{"the version is compacted", "a@3", "", false},
		{"objects were changed and added", "a@3 b@12 c@11", "a@3 b@5", false},
		{"an object was deleted and made again", "a@3 b@20", "a@3 b@5", false},
		{"nothing changed", "a@3 b@5", "a@3 b@5", false},
	} {
		for _, lost := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %t", c.name, lost), func(t *testing.T) {
				var later atomic.Bool
				a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) {
					query := r.URL.Query()
					list := "a@3 b@5"
					if later.Load() {
						list = c.list
					}
					switch {
					case query.Get("resourceVersionMatch") == "Exact":
						if query.Get("resourceVersion") != "10" || !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
							t.Errorf("asked for %s as %s", r.URL, r.Header.Get("Accept"))
						}
						listExactly(w, c.exactly)
						return
					case query.Get("sendInitialEvents") == "": // it goes on
						later.Store(true)
						expired(w)
						return
					case !later.Load():
						sendList(w, list, 10)
						if !lost {
							return // this watch ends, and the next one cannot go on
						}
					default:
						sendList(w, list, 20)
					}
					hold(w, r)
				})
				s, since := a.store(t), source.Since{List: true}
				for range 2 {
					for p, err := range s.Follow(t.Context(), since) {
						if errors.Is(err, source.ErrSetBack) && c.setBack {
							return
						}
						if err != nil {
							t.Fatal(err)
						}
						if p.More {
							continue
						}
						since = source.Since{Revision: p.Revision}
						if later.Load() && p.Revision == 20 {
							if c.setBack {
								t.Error("the set-back is not reported")
							}
							return
						}
						if lost {
							break
						}
					}
					later.Store(true)
				}
				t.Error("the sequence ended")
			})
		}
	}
}

// objectsOf returns the names and versions of "a@3 b@5".
func objectsOf(list string, visit func(name string, version int)) {
	for _, word := range strings.Fields(list) {
		if name, version, found := strings.Cut(word, "@"); found {
			number, _ := strconv.Atoi(version)
			visit(name, number)
		}
	}
}

// sendList begins a watch with all objects.
func sendList(w http.ResponseWriter, list string, version int) {
	objectsOf(list, func(name string, of int) { event(w, "ADDED", name, of) })
	initial(w, version)
}

// listExactly answers with the objects of an earlier version.
func listExactly(w http.ResponseWriter, list string) {
	if list == "" {
		http.Error(w, `{"code": 410, "message": "the provided resource version is compacted"}`, http.StatusGone)
		return
	}
	var items []string
	objectsOf(list, func(name string, of int) { items = append(items, timeout(name, of)) })
	fmt.Fprintf(w, `{"metadata": {"resourceVersion": "10"}, "items": [%s]}`, strings.Join(items, ", "))
}

func pageRevision(p *source.Page) source.Revision {
	if p == nil {
		return 0
	}
	return p.Revision
}

// A list without what is in the objects that does not end is an error: all kinds wait for it.
func TestListOfMetadataDoesNotEnd(t *testing.T) {
	kubernetes.SetPageTimeout(t, 50*time.Millisecond)
	var later atomic.Bool
	a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		switch {
		case query.Get("resourceVersionMatch") == "Exact": // it does not answer
		case query.Get("sendInitialEvents") == "":
			later.Store(true)
			expired(w)
			return
		case later.Load():
			sendList(w, "a@3", 20)
		default:
			sendList(w, "a@3 b@5", 10)
			return
		}
		hold(w, r)
	})
	for _, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err == nil {
			continue
		}
		if !strings.Contains(err.Error(), "the API server has not listed ") {
			t.Error(err)
		}
		return
	}
	t.Error("the sequence ended without an error")
}

// While the server is not ready, such as without its etcd, no state is confirmed.
func TestNotReady(t *testing.T) {
	a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) { initial(w, 7); hold(w, r) })
	confirmed := 0
	begin := time.Now()
	for p, err := range a.store(t).Follow(t.Context(), source.Since{List: true}) {
		if err != nil {
			if !strings.Contains(err.Error(), "500 Internal Server Error") || confirmed < 3 {
				t.Errorf("after %d pages: %v", confirmed, err)
			}
			return
		}
		if !p.More {
			confirmed++
		}
		if confirmed == 3 {
			a.notReady.Store(true)
		}
		if time.Since(begin) > time.Minute {
			t.Fatal("the loss is not reported")
		}
	}
}

// A server that starts does not serve all kinds yet. What it does not serve is not gone: no
// state is passed on until it is ready. When it is ready, a kind that is missing was deleted.
func TestStarting(t *testing.T) {
	a := newAPI(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		event(w, "ADDED", "a", 3)
		initial(w, 7)
		hold(w, r)
	})
	s := a.store(t)
	states, since := 0, source.Since{List: true}
	for p, err := range s.Follow(t.Context(), since) {
		if err != nil {
			break
		}
		if strings.Contains(changes(p), "-") {
			t.Fatalf("the server starts, and passed on is %q", changes(p))
		}
		if !p.More && p.Revision == 7 {
			if states++; states == 1 {
				a.notReady.Store(true)
				a.missing.Store(true)
				a.CloseClientConnections()
			}
		}
	}
	if states == 0 {
		t.Fatal("there was no state")
	}
	since.Revision = 7
	for p, err := range s.Follow(t.Context(), since) {
		if err == nil {
			t.Fatalf("the server is not ready, and passed on is %q", changes(p))
		}
	}

	a.missing.Store(false)
	a.notReady.Store(false)
	seen := ""
	for p, err := range s.Follow(t.Context(), since) {
		if err != nil {
			t.Fatal(err)
		}
		if seen += changes(p); strings.HasSuffix(seen, "-ns/a") {
			break
		}
		if !p.More && seen == "+ns/a@3" && !a.missing.Swap(true) {
			a.CloseClientConnections()
		}
	}
	if seen != "+ns/a@3-ns/a" {
		t.Errorf("passed on are %s", seen)
	}
}
