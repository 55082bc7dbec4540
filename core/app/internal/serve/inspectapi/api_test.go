package inspectapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

const answers = "testdata/answers.txtar"

// newAPI returns the API of the mesh of an archive.
func newAPI(t testing.TB, archive *txtar.Archive) http.Handler {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: archive.Files[0].Name, Data: archive.Files[0].Data})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	state := &proxied.State{View: view, Set: set, Snapshots: snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)}
	return inspectapi.New(func() *proxied.State { return state }, translators.All())
}

func ask(api http.Handler, method, url string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w
}

func TestAnswers(t *testing.T) {
	golden.Archives(t, answers, func(t *testing.T, archive *txtar.Archive) golden.Answer {
		mesh, api := &archive.Files[0], newAPI(t, archive)
		return func(_ *testing.T, f *txtar.File) (string, bool) {
			if f == mesh {
				return "", false
			}
			method, url, _ := strings.Cut(f.Name, " ")
			w := ask(api, method, url)
			return fmt.Sprintf("%d %s\n%s", w.Code, w.Header().Get("Content-Type"), w.Body), true
		}
	})
}

func TestBeforeTheFirstLoad(t *testing.T) {
	api := inspectapi.New(func() *proxied.State { return nil }, nil)
	if w := ask(api, "GET", "/meshes"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "the first load has not finished") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestConcurrent asks more questions at once than the API answers at once.
func TestConcurrent(t *testing.T) {
	archive, err := txtar.ParseFile(answers)
	if err != nil {
		t.Fatal(err)
	}
	api := newAPI(t, archive)
	var group sync.WaitGroup
	for range 64 {
		group.Go(func() {
			if w := ask(api, "GET", "/meshes/default/dataplanes/backend-1/_rules"); w.Code != http.StatusOK {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
}

// FuzzAPI sends any request. The answer is always JSON.
func FuzzAPI(f *testing.F) {
	archive, err := txtar.ParseFile(answers)
	if err != nil {
		f.Fatal(err)
	}
	api := newAPI(f, archive)
	for _, file := range archive.Files[1:] {
		_, url, _ := strings.Cut(file.Name, " ")
		path, query, _ := strings.Cut(url, "?")
		f.Add(path, query)
	}
	f.Add("/meshes/default//../..", "kind=%00&tag=a=b&header=:")
	f.Fuzz(func(t *testing.T, path, query string) {
		r, err := http.NewRequest("GET", "http://host/", nil)
		if err != nil {
			t.Fatal(err)
		}
		unescaped, err := r.URL.Parse(path)
		if err != nil || !strings.HasPrefix(unescaped.Path, "/") {
			return // no server passes it on
		}
		r.URL, r.URL.RawQuery = unescaped, query
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError {
			t.Errorf("%s?%s: %d %s", path, query, w.Code, w.Body)
		}
		if w.Code != http.StatusMovedPermanently && w.Code != http.StatusTemporaryRedirect && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s?%s: %d with a body that is not JSON: %s", path, query, w.Code, w.Body)
		}
	})
}
