package gate

import (
	"testing"

	"golang.org/x/perf/benchmath"
)

func TestUnitByName(t *testing.T) {
	for name, want := range map[string]unit{
		"sec/op":          {"sec/op", Time, false},
		"p99-sec/req":     {"p99-sec/req", Time, false},
		"ms/query":        {"ms/query", Time, false},
		"answers/s":       {"answers/s", Time, true},
		"answers/sec":     {"answers/sec", Time, true},
		"B/s":             {"B/s", Derived, true},
		"B/op":            {"B/op", Bytes, false},
		"heap-B/proxy":    {"heap-B/proxy", Bytes, false},
		"allocs/op":       {"allocs/op", Counter, false},
		"candidates/op":   {"candidates/op", Counter, false},
		"seconds-wasted":  {"seconds-wasted", Counter, false}, // not a word of time
		"transmissions/B": {"transmissions/B", Counter, false},
	} {
		if got := unitByName(name); got != want {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
}

func TestUnitReduce(t *testing.T) {
	sample := benchmath.NewSample([]float64{9, 1, 4}, DefaultLimits().thresholds())
	for _, test := range []struct {
		name string
		unit unit
		want float64
	}{
		{"the least time", unit{"sec/op", Time, false}, 1},
		{"the highest rate", unit{"answers/s", Time, true}, 9},
		{"the median count", unit{"allocs/op", Counter, false}, 4},
		{"the median size", unit{"B/op", Bytes, false}, 4},
	} {
		if got := test.unit.reduce(sample); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestLimitsValidate(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Limits)
		ok     bool
	}{
		{"the defaults", func(*Limits) {}, true},
		{"no tolerance of bytes", func(l *Limits) { l.BytesTolerance = 0 }, true},
		{"a threshold that equal programs miss", func(l *Limits) { l.TimeRatio = 1 }, false},
		{"a p-value that always agrees", func(l *Limits) { l.Alpha = 1 }, false},
		{"a p-value that never agrees", func(l *Limits) { l.Alpha = 0 }, false},
		{"a tolerance in percent", func(l *Limits) { l.BytesTolerance = 1 }, false},
	} {
		limits := DefaultLimits()
		test.change(&limits)
		if err := limits.Validate(); (err == nil) != test.ok {
			t.Errorf("%s: got error %v", test.name, err)
		}
	}
}
