package serve_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An author writes documents of one name to a store. Each of them would take much time or memory
// if nothing limited it (SECURITY.md, "A policy author").
type author struct {
	name  string
	write func(random *rand.Rand) sourcetest.Document
}

// authors are those of TestSoakHostile.
var authors = []author{
	{"templates that never end", func(random *rand.Rand) sourcetest.Document {
		loops := []string{
			`{{ range $i := 1000000000000 }}{{ end }}`, `{{ define \"x\" }}{{ template \"x\" }}{{ end }}{{ template \"x\" }}`,
			`{{ printf \"%99999999d\" 1 }}`, `{{ .Name }}` + strings.Repeat(`{{ label \"a\" }}`, 100_000),
		}
		return sourcetest.Document{Kind: "HostnameGenerator", Name: "endless",
			Spec: `{"selector": {"meshService": {"matchLabels": {}}}, "template": "` + loops[random.IntN(len(loops))] + `"}`}
	}},
	{"copies of copies", func(random *rand.Rand) sourcetest.Document {
		patches := []string{`{"op": "add", "path": "/metadata", "value": {"filterMetadata": {"a": {"x": [1]}}}}`}
		for range 20 + random.IntN(60) {
			patches = append(patches, `{"op": "copy", "from": "/metadata/filterMetadata/a/x", "path": "/metadata/filterMetadata/a/x/-"}`)
		}
		return patchOf("copies", `{"listener": {"operation": "Patch", "jsonPatches": [`+strings.Join(patches, ", ")+`]}}`)
	}},
	{"a far index", func(random *rand.Rand) sourcetest.Document {
		return patchOf("far", fmt.Sprintf(`{"cluster": {"operation": "Patch", "jsonPatches": [{"op": "add", "path": "/healthChecks/%d", "value": {}}]}}`, 1<<random.IntN(40)))
	}},
	{"a long list that changes", func(random *rand.Rand) sourcetest.Document {
		changes := []string{
			`{"op": "add", "path": "/metadata/filterMetadata/a/x/0", "value": 1}`, `{"op": "remove", "path": "/metadata/filterMetadata/a/x/0"}`,
			`{"op": "move", "from": "/metadata/filterMetadata/a/x/1", "path": "/metadata/filterMetadata/a/x/0"}`,
			`{"op": "add", "path": "/metadata/filterMetadata/a/y` + strings.Repeat("/999", 90) + `", "value": 1}`,
		}
		change := changes[random.IntN(len(changes))]
		list := `{"op": "add", "path": "/metadata", "value": {"filterMetadata": {"a": {"x": [` + strings.Repeat("1, ", 20_000) + `1]}}}}, `
		return patchOf("list", `{"listener": {"operation": "Patch", "jsonPatches": [`+list+repeated(1+random.IntN(5000), func(int) string { return change })+`]}}`)
	}},
	{"many filters in front", func(random *rand.Rand) sourcetest.Document {
		return patchOf("front", repeated(1+random.IntN(4000), func(int) string {
			return `{"httpFilter": {"operation": "AddFirst", "value": "{name: s, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.grpc_stats.v3.FilterConfig}}"}}`
		}))
	}},
	{"many routes", func(random *rand.Rand) sourcetest.Document {
		return patchOf("routes", repeated(1+random.IntN(2000), func(i int) string {
			return fmt.Sprintf(`{"virtualHost": {"operation": "Patch", "jsonPatches": [{"op": "add", "path": "/routes/0", "value": {"match": {"path": "/p%d"}, "directResponse": {"status": 200}}}]}}`, i)
		}))
	}},
	{"expressions", func(random *rand.Rand) sourcetest.Document {
		value, _ := json.Marshal(strings.Repeat("(", random.IntN(900)) + strings.Repeat("a{1,99}", random.IntN(100)))
		return sourcetest.Document{Kind: "MeshTrafficPermission", Name: "expressions",
			Spec: `{"targetRef": {"kind": "Dataplane", "name": "authored"}, "rules": [{"default": {"allow": [{"path": {"type": "RegularExpression", "value": ` + string(value) + `}}]}}]}`}
	}},
}

func patchOf(name, modifications string) sourcetest.Document {
	return sourcetest.Document{Kind: "MeshProxyPatch", Name: name, Spec: `{"targetRef": {"kind": "MeshSubset", "tags": {"authored": "yes"}}, "default": {"appendModifications": [` + modifications + `]}}`}
}

func repeated(n int, text func(int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = text(i)
	}
	return strings.Join(list, ", ")
}

// The dataplanes that all authors' policies select, and the inbounds and outbounds of each.
const authored, manyPlaces = 4, 100

// startAuthors starts clients of dataplanes that all authors' policies select, and lets an
// author write at a random time until the returned function is called. With a pause of 0, each
// author writes once. In the end, what the authors wrote is deleted and forgotten by the store.
func startAuthors(t *testing.T, r *running, m *sourcetest.Memory, pause time.Duration) (end func()) {
	t.Helper()
	for i := range authored {
		name := "authored"
		if i > 0 {
			name += fmt.Sprint(i)
		}
		write(m, sourcetest.Document{Kind: "Dataplane", Name: name, Spec: fmt.Sprintf(`{"networking": {"address": "127.0.1.%d", "inbound": [%s], "outbound": [%s]}}`, i+1,
			repeated(manyPlaces, func(k int) string {
				return fmt.Sprintf(`{"port": %d, "protocol": "http", "tags": {"kuma.io/service": "s%d-%d", "authored": "yes"}}`, 1000+k, i, k)
			}),
			repeated(manyPlaces, func(k int) string {
				return fmt.Sprintf(`{"port": %d, "tags": {"kuma.io/service": "s%d-%d"}}`, 9000+k, i, k)
			}))})
		c := r.client("kri_dp_default___"+name+"_", nil)
		if err := c.Wildcard(wire.ListenerType); err != nil {
			t.Fatal(err)
		}
		r.eventually("the authors' dataplane", func() bool { return len(c.Named(wire.ListenerType)) > 0 })
	}
	stop := make(chan struct{})
	var written sync.WaitGroup
	written.Go(func() {
		random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 7))
		for i := 0; pause > 0 || i < len(authors); i++ {
			a := authors[i%len(authors)]
			if pause > 0 {
				a = authors[random.IntN(len(authors))]
			}
			d := a.write(random)
			if pause > 0 && random.IntN(3) == 0 {
				d = sourcetest.Deleted(d)
			}
			write(m, d)
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(random.Int64N(int64(pause) + 1))):
			}
		}
	})
	return func() {
		close(stop)
		written.Wait()
		random := rand.New(rand.NewPCG(1, 1))
		for _, a := range authors {
			write(m, sourcetest.Deleted(a.write(random)))
		}
		m.Forget() // its log of changes has all texts
	}
}
