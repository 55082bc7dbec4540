package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

const repository = "../../../../../../"

// demo are the files of the demo mesh, with identities and a Rollout.
var demo = []string{
	"testdata/demo/canary.yaml", "testdata/demo/dataplanes.yaml", "testdata/demo/observability.yaml", "testdata/demo/permissions.yaml",
	"testdata/demo/timeouts.yaml", "testdata/demo/traffic.yaml", "testdata/access/identity.yaml", "testdata/rollout/fleet.yaml",
}

// site is a server with its own directory of files.
type site struct {
	*serve.Server
	t    testing.TB
	dir  string
	url  string // of the overview, without the last slash
	stop func() // ends the server
}

func loader() *resource.Loader {
	return &resource.Loader{Kinds: kinds.All(), Documents: slices.Concat(ocm.Documents(), variant.Documents())}
}

// serveDemo serves the demo mesh from copies of its files.
func serveDemo(t testing.TB, change ...func(*serve.Options)) *site {
	t.Helper()
	texts := map[string]string{}
	for _, file := range demo {
		text, err := os.ReadFile(repository + file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	return serveTexts(t, texts, change...)
}

// serveTexts serves files with texts, and waits until they are loaded.
func serveTexts(t testing.TB, texts map[string]string, change ...func(*serve.Options)) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	for name, text := range texts {
		s.write(name, text)
	}
	s.start(append([]func(*serve.Options){func(o *serve.Options) { o.Files = []string{s.dir} }}, change...)...)
	return s
}

func (s *site) start(change ...func(*serve.Options)) {
	s.t.Helper()
	options := serve.Options{
		Loader: loader(), Translators: translators.All(), XDS: "127.0.0.1:0", HTTP: "127.0.0.1:0", Version: "v1.2.3", Grace: time.Millisecond,
	}
	for _, c := range change {
		c(&options)
	}
	server, err := serve.New(options)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := server.Listen(); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	s.Server, s.url = server, "http://"+server.HTTPAddr().String()+options.HTTPPrefix
	if options.TLS != nil {
		s.url = "https" + s.url[len("http"):]
	}
	s.stop = func() {
		cancel()
		ended <- <-ended
	}
	s.t.Cleanup(s.stop)
	s.await("the first load", func() bool { return s.status("/readyz") == http.StatusOK })
}

// status returns the status of the answer to a GET request, or 0 if there is none.
func (s *site) status(path string) int {
	response, err := http.Get("http://" + s.HTTPAddr().String() + path)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// await waits until a condition holds.
func (s *site) await(what string, holds func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s", what)
		}
	}
}

// write replaces a file at once, as an editor does.
func (s *site) write(name, text string) {
	s.t.Helper()
	hidden := filepath.Join(s.dir, "."+name)
	if err := os.WriteFile(hidden, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(hidden, filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) remove(name string) {
	s.t.Helper()
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// serveLarge serves a mesh of n dataplanes, of 500 services, with 1,000 policies.
func serveLarge(t testing.TB, n int) *site {
	t.Helper()
	set, err := loader().Decode(t.Context(), resource.Input{Name: "identity.yaml", Data: []byte(`
{type: MeshIdentity, name: all, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: large.mesh, path: '/{{ label "app" }}'}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
---
{type: MeshTrafficPermission, name: some, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: 'spiffe://large.mesh/svc-1'}}]}}]}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	const services = 500
	for j := range n {
		d := shape.Dataplane(j%services, 10)
		d.Name, d.Address = fmt.Sprintf("dp-%06d", j), fmt.Sprintf("10.%d.%d.%d", j>>16&255, j>>8&255, j&255)
		set.Dataplanes = append(set.Dataplanes, d)
	}
	kind := kinds.All().Lookup("MeshTimeout")
	set.Policies = append(set.Policies, shape.Fleet(kind, 1000)...)
	slices.SortFunc(set.Policies, func(a, b *resource.Policy) int { return a.ID.Compare(b.ID) })
	s := &site{t: t}
	s.start(func(o *serve.Options) { o.Set, o.PagesOnly = set, true })
	return s
}
