package translators_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// costly are modifications of one policy that would take much time or memory, or a policy that
// does not load.
var costly = map[string]func() string{
	"copies of copies": func() string {
		patches := []string{`{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}`}
		for range 60 {
			patches = append(patches, `{op: copy, from: /metadata/filterMetadata/a/x, path: /metadata/filterMetadata/a/x/-}`)
		}
		return "\n    - listener: {operation: Patch, jsonPatches: [" + strings.Join(patches, ", ") + "]}"
	},
	"copies in each of many modifications": func() string {
		text := "\n    - listener: {operation: Patch, jsonPatches: [{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}]}"
		return text + strings.Repeat("\n    - listener: {operation: Patch, jsonPatches: [{op: copy, from: /metadata/filterMetadata/a/x, path: /metadata/filterMetadata/a/x/-}]}", 60)
	},
	"a filter in front, 4,000 times": func() string {
		return strings.Repeat("\n    - httpFilter: {operation: AddFirst, value: '{name: s, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.grpc_stats.v3.FilterConfig}}'}", 4000)
	},
	"2,000 routes": func() string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "\n    - virtualHost: {operation: Patch, jsonPatches: [{op: add, path: /routes/0, value: {match: {path: /p%d}, directResponse: {status: 200}}}]}", i)
		}
		return b.String()
	},
	"far indices": func() string {
		return patchOfMetadata(repeatedText(200, func(i int) string {
			return fmt.Sprintf("{op: add, path: /metadata/filterMetadata/a/y%d%s, value: 1}", i, strings.Repeat("/999", 40))
		}))
	},
	"insertions into a long list": func() string { return longList("{op: add, path: /metadata/filterMetadata/a/x/0, value: 1}") },
	"removals from a long list":   func() string { return longList("{op: remove, path: /metadata/filterMetadata/a/x/0}") },
	"moves in a long list": func() string {
		return longList("{op: move, from: /metadata/filterMetadata/a/x/1, path: /metadata/filterMetadata/a/x/0}")
	},
	"a long value for each of many hosts": func() string {
		add := func(i int) string {
			return fmt.Sprintf("\n    - virtualHost: {operation: Add, value: '{name: h%[1]d, domains: [h%[1]d], routes: []}'}", i)
		}
		return addedTexts(100, add) + strings.Repeat("\n    - virtualHost: {operation: Patch, value: '{metadata: {filter_metadata: {a: {x: \""+strings.Repeat("x", 100_000)+"\"}}}}'}", 20)
	},
	"copies for each of many hosts": func() string {
		add := func(i int) string {
			return fmt.Sprintf("\n    - virtualHost: {operation: Add, value: '{name: h%[1]d, domains: [h%[1]d], routes: []}'}", i)
		}
		return addedTexts(100, add) + "\n    - virtualHost: {operation: Patch, jsonPatches: [{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}" + strings.Repeat(", {op: copy, from: /metadata/filterMetadata/a/x, path: /metadata/filterMetadata/a/x/-}", 18) + "]}"
	},
	"a value of 1 MiB": func() string {
		return "\n    - cluster: {operation: Patch, value: '{metadata: {filter_metadata: {a: {x: \"" + strings.Repeat("x", 1_000_000) + "\"}}}}'}" +
			"\n    - listener: {operation: Patch, value: '{metadata: {filter_metadata: {a: {x: \"" + strings.Repeat("x", 1_000_000) + "\"}}}}'}"
	},
	"a value of aliases": func() string {
		list := "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a], c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b], d: [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]"
		return strings.Repeat("\n    - cluster: {operation: Patch, value: '{metadata: {filter_metadata: {a: {"+list+"}}}}'}", 10)
	},
	"added clusters that later modifications change": func() string {
		add := func(i int) string {
			return fmt.Sprintf("\n    - cluster: {operation: Add, value: '{name: added%d, type: STATIC}'}", i)
		}
		return addedTexts(500, add) + addedTexts(500, func(i int) string {
			return fmt.Sprintf("\n    - cluster: {operation: Patch, match: {name: added%d}, jsonPatches: [{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}]}"+
				"\n    - cluster: {operation: Patch, jsonPatches: [{op: add, path: /altStatName, value: s%[1]d}]}", i)
		})
	},
	"2,000 virtual hosts": func() string {
		var b strings.Builder
		for i := range 2000 {
			fmt.Fprintf(&b, "\n    - virtualHost: {operation: Add, value: '{name: h%[1]d, domains: [h%[1]d], routes: []}'}", i)
		}
		return b.String()
	},
}

// patchOfMetadata returns a modification of listeners that has JSON patches of /metadata/filterMetadata/a.
func patchOfMetadata(patches string) string {
	return "\n    - listener: {operation: Patch, jsonPatches: [{op: add, path: /metadata, value: {filterMetadata: {a: {x: [1]}}}}, " + patches + "]}"
}

// addedTexts returns texts one after the other.
func addedTexts(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

func repeatedText(n int, text func(i int) string) string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = text(i)
	}
	return strings.Join(texts, ", ")
}

// longList returns a modification that changes a list of 20,000 elements 20,000 times.
func longList(patch string) string {
	list := "{op: add, path: /metadata/filterMetadata/a/x, value: [" + strings.Repeat("1, ", 20_000) + "1]}, "
	return patchOfMetadata(list + repeatedText(20_000, func(int) string { return patch }))
}

// Whatever the modifications of a policy are, a snapshot with them takes little memory,
// and is the same each time (SPEC 11.5).
func TestCostlyPatches(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes large messages")
	}
	for name, modifications := range costly {
		t.Run(name, func(t *testing.T) {
			made, limited := costOf(t, modifications(), 0)
			if t.Logf("%d MiB", made); made > 250 {
				t.Errorf("the snapshot allocated %d MiB", made)
			}
			if !limited {
				t.Error("no warning names the limit")
			}
		})
	}
}

// What a policy costs for each resource of a dataplane is limited for all together: it has many
// outbounds and inbounds, and a policy adds resources.
func TestCostlyPatchesOfOutbounds(t *testing.T) {
	if testing.Short() {
		t.Skip("it makes large messages")
	}
	for _, name := range []string{"2,000 routes", "copies of copies", "copies for each of many hosts", "a value of 1 MiB", "a filter in front, 4,000 times"} {
		t.Run(name, func(t *testing.T) {
			made, limited := costOf(t, costly[name](), 100)
			if t.Logf("%d MiB", made); made > 900 || !limited {
				t.Errorf("the snapshot allocated %d MiB; a warning names the limit: %v", made, limited)
			}
		})
	}
}

// costOf returns the MiB that a snapshot allocates for a dataplane with patches, and whether a
// warning names a limit. What is allocated stands for the work: it does not depend on the load of
// the machine.
func costOf(t *testing.T, modifications string, outbounds int) (made uint64, limited bool) {
	t.Helper()
	text := `
type: MeshProxyPatch
mesh: default
name: p
spec:
  default:
    appendModifications:` + modifications + `
---
type: Dataplane
mesh: default
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
  outbound:` + " [" + repeatedText(outbounds, func(i int) string { return fmt.Sprintf("{port: %d, tags: {kuma.io/service: s%d}}", 9000+i, i) }) + "]"
	for i := range outbounds {
		text += fmt.Sprintf("\n---\n{type: Dataplane, mesh: default, name: s%d, networking: {address: 10.0.1.%[1]d, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: s%[1]d}}]}}", i)
	}
	view := coretest.View(t, text+"\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"})
	built := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(d, xds.Envoy)
	runtime.ReadMemStats(&after)
	for _, w := range built.Warnings() {
		limited = limited || strings.Contains(w.String(), "MiB") || strings.Contains(w.String(), "size")
	}
	return (after.TotalAlloc - before.TotalAlloc) >> 20, limited
}
