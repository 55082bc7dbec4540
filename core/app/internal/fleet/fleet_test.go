package fleet

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/world"
	"github.com/meshmatch/meshmatch/core/internal/usage"
)

func options(t testing.TB, streams int) Options {
	t.Helper()
	for _, s := range world.Shapes() {
		if s.Name == "mesh-perf-10" {
			return Options{Shape: s, Streams: streams, Relays: 3, Policies: 1000, Outbounds: 2, Samples: 1}
		}
	}
	t.Fatal("there is no such shape")
	return Options{}
}

// In each step of a small fleet, each proxy gets what the engine gives it: all, a team, or a
// third. Nothing runs afterwards.
func TestMeasure(t *testing.T) {
	before := runtime.NumGoroutine()
	const streams = 1000
	r, err := Measure(t.Context(), options(t, streams), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	const third = streams / 3
	reached := map[string][2]int{ // least and most
		ConnectSource: {streams, streams}, ConnectRelays: {streams, streams}, EditTeam: {1, streams / 10},
		EditAll: {streams, streams}, Storm: {third, third + 1}, EmptyRelay: {third, third + 1}, Renew: {streams, streams},
	}
	if len(r.Steps) != len(reached) {
		t.Errorf("%d steps, want %d", len(r.Steps), len(reached))
	}
	for _, s := range r.Steps {
		if limits := reached[s.Name]; s.Reached < limits[0] || s.Reached > limits[1] {
			t.Errorf("%s: %d proxies are reached, want %v", s.Name, s.Reached, limits)
		}
		if s.Median <= 0 || s.Last < s.Median || s.Responses < s.Reached || s.Reached == streams && s.CPU.Total() <= 0 {
			t.Errorf("%s: these figures cannot be right: %+v", s.Name, s)
		}
	}
	if r.Peak <= 0 && runtime.GOOS == "linux" || r.Took <= 0 {
		t.Errorf("these figures of the process cannot be right: %+v", r)
	}
	if r.Source <= 0 || r.Relay <= 0 || r.Bare <= 0 {
		t.Errorf("these figures of memory cannot be right: %+v", r)
	}
	checkGoroutines(t, before)
}

func checkGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 1_000_000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines are left", runtime.NumGoroutine()-before)
}

// A fleet that is stopped in a step ends, and nothing runs afterwards.
func TestMeasureStops(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Measure(ctx, options(t, 1000), func(step string) {
		if step == ConnectRelays {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	checkGoroutines(t, before)
}

// A fleet that may need more memory than there is does not begin. One that gets more than it should
// stops, and says why.
func TestMemoryLimit(t *testing.T) {
	o := options(t, 100_000)
	o.MaxMemory = 4 << 30
	if _, err := Measure(t.Context(), o, func(step string) { t.Error("it begins with", step) }); err == nil || !strings.Contains(err.Error(), "use at most ") {
		t.Errorf("the error is %v", err)
	}
	ctx, stop := guardMemory(t.Context(), 1<<20)
	defer stop()
	if runtime.GOOS == "linux" { // elsewhere the memory of the process is not known
		<-ctx.Done()
		if err := context.Cause(ctx); !strings.Contains(err.Error(), "the limit is 0.0 GiB") {
			t.Errorf("the reason is %v", err)
		}
	}
}

// The time of goroutines is that of their role, and of those that they start. That of checks is in no
// figure. A machine with other work takes few samples, so the test asks for a part of the times.
func TestMeter(t *testing.T) {
	var m meter
	if err := m.start(); err != nil {
		t.Fatal(err)
	}
	begin := usage.CPU()
	burn := func(d time.Duration) {
		for begin := usage.CPU(); usage.CPU()-begin < d; {
		}
	}
	relayRole.do(func() {
		done := make(chan struct{})
		go func() { burn(400 * time.Millisecond); close(done) }()
		<-done
	})
	clientRole.do(func() { burn(400 * time.Millisecond) })
	checkRole.do(func() { burn(400 * time.Millisecond) })
	all := (usage.CPU() - begin).Seconds()
	cpu, err := m.stop(nil)
	if err != nil {
		t.Fatal(err)
	}
	if cpu.Relays < all/20 || cpu.Clients < all/20 || cpu.Source > 0 || cpu.Total() > all*19/20 {
		t.Errorf("of %g s the processor times are %+v, want a third of relays and a third of clients", all, cpu)
	}
}

// A total that is too little to be measured in one of the fleets has no line.
func TestLines(t *testing.T) {
	fleet := func(streams int, source float64) *Report {
		return &Report{Streams: streams, Engine: 1, Resources: 1, Source: 1, Relay: 1, Steps: []Step{{Name: EditAll, CPU: CPU{Source: source, Relays: float64(streams) / 1000}}}}
	}
	names := func(reports ...*Report) (all []string) {
		for _, l := range Lines(reports) {
			if all = append(all, l.Name); math.Abs(l.Growth-1) > 1e-9 || math.Abs(l.Million-l.PerStream*Million) > 1e-3*l.Million {
				t.Errorf("the line is %+v, want one in proportion", l)
			}
		}
		return all
	}
	if all, some := names(fleet(1000, 1), fleet(2000, 2)), names(fleet(1000, 0), fleet(2000, 0)); len(all) != 7 || len(some) != 6 {
		t.Errorf("the lines are %q, and without a time of the source %q", all, some)
	}
	if got := Lines([]*Report{fleet(1000, 1)}); got != nil {
		t.Errorf("one fleet has the lines %v", got)
	}
}

func TestFit(t *testing.T) {
	if base, slope := fit([]float64{1, 2, 5}, []float64{13, 16, 25}); math.Abs(base-10) > 1e-9 || math.Abs(slope-3) > 1e-9 {
		t.Errorf("the line is %g + %g x, want 10 + 3 x", base, slope)
	}
}
