package world

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/bench/gate"
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Measure itself checks that each change of every shape touches the intended
// number of dataplanes. With -short, the shapes of tags and of destinations alone are measured.
func TestMeasure(t *testing.T) {
	shapes := Shapes()
	if testing.Short() {
		shapes = slices.DeleteFunc(shapes, func(s Shape) bool { return s.Name != "fleet" && s.Name != "reachable" })
	}
	for _, shape := range shapes {
		t.Run(shape.Name, func(t *testing.T) {
			steps := 0
			o := Options{Shape: shape, Dataplanes: 2_000, Policies: 300, Outbounds: 4, Samples: 2, Files: shape.Name == "fleet" || shape.objects != nil}
			r, err := Measure(context.Background(), o, func(string) { steps++ })
			if err != nil {
				t.Fatal(err)
			}
			want := len(changes()) - 1 // one change needs a larger world
			if shape.uneven {
				want--
			}
			if len(r.Changes) != want || steps < want {
				t.Errorf("%d changes, want %d", len(r.Changes), want)
			}
			if r.Sizes.Dataplanes != 2_000 || r.Sizes.Policies != policiesOf(&o) || r.Build <= 0 || r.Heap <= 0 || r.Resources <= 0 {
				t.Errorf("%+v", r)
			}
			if loaded := r.Load > 0 && r.FileBytes > 2_000*100 && r.Loaded > 0; loaded != o.Files {
				t.Errorf("loading took %v for %d bytes, and %.0f bytes per dataplane", r.Load, r.FileBytes, r.Loaded)
			}
			d := r.Destinations
			all := 2*services(&o) + externalServices
			outbounds := map[string]int{"transparent": all, "routed": all, "multi-zone": all + services(&o)/zones, "reachable": 4, "universal": 4}
			if (d != nil) != (outbounds[shape.Name] > 0) {
				t.Errorf("destinations: %+v", d)
			} else if d != nil && (d.Outbounds != outbounds[shape.Name] || (d.NewOutbounds > 0) == shape.listed || min(d.One, d.All, d.AfterPolicy, d.AddService, d.RemoveEndpoint, d.EndpointBytes, d.Export) <= 0) {
				t.Errorf("destinations: %+v", d)
			}
			if r.ReadAllocs != 0 {
				t.Errorf("a read allocates %d times", r.ReadAllocs)
			}
			for _, row := range r.Changes {
				if row.Least <= 0 || row.P50 < row.Least || row.P99 < row.P50 || row.Touched == 0 {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

// policiesOf returns the number of policies of a world, with its routes.
func policiesOf(o *Options) int {
	if o.Shape.routes == nil {
		return o.Policies
	}
	return o.Policies + services(o)/10
}

func TestMeasureSizes(t *testing.T) {
	attempts := meshretry.Kind()
	attempts.Name, attempts.Short = "Attempts", "at"
	attemptsOf := func(i int) resource.Conf {
		n := conf.Count(1 + i)
		return &meshretry.Conf{TCP: &meshretry.TCP{MaxConnectAttempt: &n}}
	}
	for name, o := range map[string]Options{
		"large enough for every change":                    {Dataplanes: cohort * teams, Policies: 20, Outbounds: 1, Samples: 2},
		"one outbound":                                     {Dataplanes: 1_000, Policies: 1, Outbounds: 1, Samples: 3},
		"a prime number of dataplanes":                     {Dataplanes: 7_919, Policies: 20, Outbounds: 2, Samples: 3},
		"more samples than dataplanes":                     {Dataplanes: cohort, Policies: 20, Outbounds: 2, Samples: cohort + 9},
		"one sample of each change":                        {Dataplanes: cohort, Policies: 20, Outbounds: 2, Samples: 1},
		"a kind of an embedder":                            {Kind: attempts, Conf: attemptsOf, Dataplanes: cohort, Policies: 20, Outbounds: 2, Samples: 2, Files: true},
		"one policy for destinations":                      {Shape: transparent(t), Dataplanes: cohort, Policies: 1, Outbounds: 1, Samples: 2},
		"a canary with the dataplane of an earlier change": {Dataplanes: 4 * cohort, Policies: 20, Outbounds: 1, Samples: samplesToCanary()},
	} {
		t.Run(name, func(t *testing.T) {
			if o.Shape.Name == "" {
				o.Shape = Shapes()[0]
			}
			r, err := Measure(context.Background(), o, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if all := len(r.Changes) == len(changes()); all != (o.Dataplanes >= cohort*teams) {
				t.Errorf("%d changes of %d", len(r.Changes), len(changes()))
			}
		})
	}
}

func transparent(tb testing.TB) Shape {
	for _, s := range Shapes() {
		if s.Name == "transparent" {
			return s
		}
	}
	tb.Fatal("there is no shape transparent")
	return Shape{}
}

// samplesToCanary returns a number of samples after which the last dataplane of a change is
// in the canary, and its policy sets each field of the canary's policy.
func samplesToCanary() int {
	w := newWorld(Options{Shape: Shapes()[0], Dataplanes: 4 * cohort, Policies: 1, Outbounds: 1})
	for n := 6; ; n += 6 {
		if rack := w.dataplaneOfRound(n).Labels.Value(rackLabel); rack == "r0" || rack == "r1" {
			return n
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		options Options
		want    string
	}{
		"few dataplanes": {context.Background(), Options{Dataplanes: 10, Policies: 1, Outbounds: 1, Samples: 1}, "10 dataplanes are too few; the minimum is 500"},
		"no samples":     {context.Background(), Options{Dataplanes: 500, Policies: 1, Outbounds: 1}, "0 samples; the minimum is 1"},
		"an interrupt":   {ended, Options{Dataplanes: 500, Policies: 1, Outbounds: 1, Samples: 1}, "context canceled"},
	} {
		c.options.Shape = Shapes()[0]
		_, err := Measure(c.ctx, c.options, func(string) {})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %s", name, err, c.want)
		}
	}
}

// Relabelling a dataplane changes its team, in every round and shape.
func TestRelabel(t *testing.T) {
	for _, shape := range Shapes() {
		w := newWorld(Options{Shape: shape, Dataplanes: 2_500, Policies: 1, Outbounds: 1})
		for round := range 2 * w.Dataplanes {
			before := w.dataplaneOfRound(round).Inbounds[0].Tags.Value("team")
			if after := w.relabel(round).Upsert.Dataplanes[0].Inbounds[0].Tags.Value("team"); before == after || before == "" {
				t.Fatalf("%s: round %d moves a dataplane from %s to %s", shape.Name, round, before, after)
			}
		}
	}
}

// A report in the format of Go benchmarks is read by benchgate: each change is a benchmark,
// with its least time.
func TestWriteBenchmarks(t *testing.T) {
	r := &Report{
		Shape: "fleet", Sizes: core.Sizes{Dataplanes: 1_000, Policies: 10}, Load: time.Second, Build: time.Millisecond, Read: 5, ReadCold: 7,
		Changes: []Row{{Change: "relabel a dataplane", Samples: 3, Least: 20 * time.Microsecond, Compare: 9, Touched: 1}},
	}
	var text strings.Builder
	if err := r.WriteBenchmarks(&text); err != nil {
		t.Fatal(err)
	}
	rules, err := gate.ParseRules(strings.NewReader(`
count   World/shape=fleet/dataplanes=1000/policies=10/*  5
ceiling World/shape=fleet/dataplanes=1000/policies=10/change=relabel-a-dataplane sec/op         21us
ceiling World/shape=fleet/dataplanes=1000/policies=10/change=relabel-a-dataplane dataplanes/op  1
`), "rules.txt")
	if err != nil {
		t.Fatal(err)
	}
	results, err := gate.Load(strings.NewReader(text.String()), "world.txt", "*")
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := rules.Check(results, true)
	if err != nil || !outcomes.OK() {
		t.Errorf("%+v, %v\n%s", outcomes, err, text.String())
	}
}

func TestSlopes(t *testing.T) {
	report := func(n int, least time.Duration) *Report {
		return &Report{Sizes: core.Sizes{Dataplanes: n}, Changes: []Row{{Change: "relabel a dataplane", Least: least}}}
	}
	for name, c := range map[string]struct {
		reports []*Report
		want    float64
	}{
		"flat":            {[]*Report{report(1_000, 50), report(10_000, 50), report(100_000, 50)}, 0},
		"linear":          {[]*Report{report(1_000, 50), report(10_000, 500)}, 1},
		"the square root": {[]*Report{report(100, 50), report(10_000, 500)}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			slopes := Slopes(c.reports)
			if len(slopes) != 1 || math.Abs(slopes[0].Slope-c.want) > 1e-9 || !slopes[0].Fixed {
				t.Errorf("got %+v, want %v", slopes, c.want)
			}
		})
	}
	for name, reports := range map[string][]*Report{
		"one world":              {report(1_000, 50)},
		"two worlds of one size": {report(1_000, 50), report(1_000, 60)},
	} {
		if slopes := Slopes(reports); len(slopes) != 0 {
			t.Errorf("%s: there are slopes %v", name, slopes)
		}
	}
}

func TestPercentile(t *testing.T) {
	times := make([]time.Duration, 200)
	for i := range times {
		times[i] = time.Duration(200 - i)
	}
	if p50, p99 := percentile(times, 50), percentile(times, 99); p50 != 100 || p99 != 198 {
		t.Errorf("p50 is %d, p99 %d", p50, p99)
	}
}
