package snapshot_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/choices"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// maxMerges is the maximum number of merges to detect that a view has more than
// 10,000 rules.
const maxMerges = 250_000

// FuzzManyItems makes meshes in which each service has a separate `from` policy with up to
// 260 items. The items set up to five fields in turn, each for clients with one value of up
// to 260 keys. A rule view is correct for clients, or fails early with the error about the
// number of rules; a snapshot builds it once (SPEC 5.5).
//
//fuzz:executions 40
func FuzzManyItems(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(fuzz.SeededBytes(seed))
	}
	for _, keys := range []byte{0, 1, 19, 255} {
		f.Add([]byte{255, keys, 4, 0})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var merges atomic.Int64
		m := manyItems(choices.New(data))
		all := countingMerges(&merges)
		loader := resource.Loader{Kinds: all}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(m.text)})
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), all, set)
		if err != nil {
			t.Fatal(err)
		}
		builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
		for _, d := range view.Dataplanes("default") {
			config, err := view.Config(d, "MeshTimeout", core.Enforced)
			if err != nil {
				t.Fatal(err)
			}
			merges.Store(0)
			ordered, err := config.Inbounds[0].From.Ordered(partition.Limits{})
			once := merges.Swap(0)
			var limit *results.LimitError
			switch {
			case err == nil:
				compareClients(t, all, set, d, m, ordered)
			case !errors.As(err, &limit) || limit.Limit.Resource != partition.RulesResource || once > maxMerges:
				t.Errorf("%s: the error %v after %d merges", d.Name, err, once)
			}
			merges.Store(0)
			builder.At(view).Snapshot(d, xds.Envoy)
			if n := merges.Load(); n > once {
				t.Errorf("%s: a snapshot takes %d merges, and the view %d", d.Name, n, once)
			}
		}
	})
}

// manyItemsMesh is a mesh of [FuzzManyItems], and clients of it.
type manyItemsMesh struct {
	text    string
	clients []map[string]string
}

func manyItems(c *choices.Choices) manyItemsMesh {
	fields := []string{"connectionTimeout: %ds", "idleTimeout: %ds", "http: {requestTimeout: %ds}", "http: {streamIdleTimeout: %ds}", "http: {maxStreamDuration: %ds}"}
	n, keys, set := 5+c.Below(256), 1+c.Below(256), 1+c.Below(len(fields))
	var items []string
	if c.Rarely(2) {
		items = append(items, "{default: {connectionTimeout: 777s}}")
	}
	for i := range n {
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {k%d: v%d}}, default: {%s}}", i%keys, i/keys, fmt.Sprintf(fields[i%set], i+1)))
	}
	var m manyItemsMesh
	for range 10 {
		client := map[string]string{}
		for range c.Below(7) {
			client[fmt.Sprint("k", c.Below(min(keys, 256)))] = fmt.Sprint("v", c.Below(n/keys+1))
		}
		m.clients = append(m.clients, client)
	}
	text := []string{"{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Extension, extension: {name: files, config: {certificate: /a, privateKey: /b, trustBundle: /c}}}}}"}
	for s := range 2 {
		text = append(text,
			fmt.Sprintf("{type: Dataplane, name: s%d, networking: {address: 10.0.0.%d, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: s%d}}]}}", s, s+1, s),
			fmt.Sprintf("{type: MeshTimeout, name: own-%d, spec: {targetRef: {kind: MeshService, name: s%d}, from: [%s]}}", s, s, strings.Join(items[s:], ", ")))
	}
	m.text = strings.Join(text, "\n---\n")
	return m
}

// countingMerges returns all kinds. It counts the mergers for `from` confs of MeshTimeout.
func countingMerges(merges *atomic.Int64) *resource.Kinds {
	all := kinds.BuiltIn()
	for _, kind := range all {
		if kind.Name == "MeshTimeout" {
			kind.From.Conf = countedConf{kind.From.Conf, merges}
		}
	}
	return resource.NewKinds(all...)
}

type countedConf struct {
	resource.ConfType
	merges *atomic.Int64
}

func (c countedConf) NewMerger() resource.Merger {
	c.merges.Add(1)
	return c.ConfType.NewMerger()
}

// compareClients compares the first rule that selects each client with the reference.
func compareClients(t *testing.T, all *resource.Kinds, set *resource.Set, d *resource.Dataplane, m manyItemsMesh, view []results.SelectorRule) {
	t.Helper()
	reference, err := naive.FromOf(all, set, d.Mesh, d.Namespace, d.Name, d.Inbounds[0].SectionName(), naive.Options{Kind: "MeshTimeout"})
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range m.clients {
		var got any
		for _, r := range view {
			if r.Selector.Matches(client) {
				got = r.Conf
				break
			}
		}
		if diff := fuzz.Difference(reference.C(client)["conf"], got); diff != "" {
			t.Errorf("%s: the confs of client %v differ %s", d.Name, client, diff)
		}
	}
}
