package results_test

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkMergeTimeout merges MeshTimeout confs: by generated code, by the same
// code with the origins of the result, by the naive reference, and by a library for
// JSON merge patches, which other control planes use.
func BenchmarkMergeTimeout(b *testing.B) {
	for _, n := range []int{2, 10} {
		confs := make([]*meshtimeout.Conf, n)
		items := make([]results.Contribution, n)
		for i := range confs {
			confs[i] = shape.Timeout(i)
			items[i] = results.Contribution{Origin: results.Origin{Index: i}, Conf: confs[i]}
		}
		kind := meshtimeout.Kind()
		want := results.Merge(kind.To.Conf, items).Conf

		b.Run(fmt.Sprintf("confs=%d/impl=generated", n), func(b *testing.B) {
			b.ReportAllocs()
			var merged *meshtimeout.Conf
			for b.Loop() {
				merger := kind.To.Conf.NewMerger()
				for i := n - 1; i >= 0; i-- {
					if merger.Fill(confs[i], i) {
						break
					}
				}
				merged = merger.Conf().(*meshtimeout.Conf)
			}
			assertJSON(b, want, merged)
		})
		b.Run(fmt.Sprintf("confs=%d/impl=effective", n), func(b *testing.B) {
			b.ReportAllocs()
			var merged *results.Effective
			for b.Loop() {
				merged = results.Merge(kind.To.Conf, items)
			}
			assertJSON(b, want, merged.Conf)
		})
		b.Run(fmt.Sprintf("confs=%d/impl=naive", n), func(b *testing.B) {
			b.ReportAllocs()
			list := make([]any, n)
			for i := range confs {
				list[i] = confs[i]
			}
			var merged any
			for b.Loop() {
				merged, _, _ = naive.Merge(list...)
			}
			assertJSON(b, want, merged)
		})
		b.Run(fmt.Sprintf("confs=%d/impl=jsonpatch", n), func(b *testing.B) {
			b.ReportAllocs()
			var merged meshtimeout.Conf
			for b.Loop() {
				merged = meshtimeout.Conf{}
				if err := mergeByPatches(confs, &merged); err != nil {
					b.Fatal(err)
				}
			}
			assertJSON(b, want, &merged)
		})
	}
}

// mergeByPatches marshals each conf and applies it as a merge patch.
func mergeByPatches(confs []*meshtimeout.Conf, out *meshtimeout.Conf) error {
	result := []byte("{}")
	for _, c := range confs {
		patch, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if result, err = jsonpatch.MergePatch(result, patch); err != nil {
			return err
		}
	}
	return json.Unmarshal(result, out)
}

func assertJSON(tb testing.TB, want, got any) {
	tb.Helper()
	if diff := fuzz.Difference(want, got); diff != "" {
		tb.Fatal(diff)
	}
}
