package serve

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
)

// fleet returns a set with the dataplanes from..to-1 of each mesh, as "mesh:from:to".
func fleet(t *testing.T, texts ...string) *resource.Set {
	t.Helper()
	set := &resource.Set{}
	for _, text := range texts {
		var mesh string
		var from, to int
		if _, err := fmt.Sscanf(text, "%1s:%d:%d", &mesh, &from, &to); err != nil {
			t.Fatal(err)
		}
		for i := from; i < to; i++ {
			d := &resource.Dataplane{}
			d.ID = resource.ID{Kind: resource.DataplaneKind, Mesh: mesh, Name: fmt.Sprintf("dp-%03d", i)}
			set.Dataplanes = append(set.Dataplanes, d)
		}
	}
	slices.SortFunc(set.Dataplanes, compareDataplanes)
	return set
}

func count(set *resource.Set) string {
	n := map[string]int{}
	for _, d := range set.Dataplanes {
		n[d.Mesh]++
	}
	return fmt.Sprintf("a=%d b=%d", n["a"], n["b"])
}

// TestRemovals applies loads at given times, and compares the applied dataplanes of each
// mesh.
func TestRemovals(t *testing.T) {
	type step struct {
		at    time.Duration
		files []string
		want  string
	}
	for name, c := range map[string]struct {
		percent float64
		grace   time.Duration
		steps   []step
	}{
		"a part of a mesh that is not large": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:0:80"}, "a=80 b=0"}}},
		"more than that waits": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:0:79"}, "a=100 b=0"},
			{10 * time.Second, []string{"a:0:79"}, "a=100 b=0"}, {10*time.Second + 1, []string{"a:0:79"}, "a=79 b=0"}}},
		"ten dataplanes never wait": {20, 10 * time.Second, []step{
			{0, []string{"a:0:10"}, "a=10 b=0"}, {1, nil, "a=0 b=0"}}},
		"eleven do": {20, 10 * time.Second, []step{
			{0, []string{"a:0:11"}, "a=11 b=0"}, {1, nil, "a=11 b=0"}}},
		"each mesh by itself": {20, 10 * time.Second, []step{
			{0, []string{"a:0:500", "b:0:20"}, "a=500 b=20"}, {1, []string{"a:0:450"}, "a=450 b=20"}}},
		"what comes back is not held": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:50:100"}, "a=100 b=0"}, {2, []string{"a:0:100"}, "a=100 b=0"},
			{20 * time.Second, []string{"a:1:100"}, "a=99 b=0"}}},
		"a part of it comes back": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:50:100"}, "a=100 b=0"}, {2, []string{"a:20:100"}, "a=100 b=0"},
			{10*time.Second + 1, []string{"a:20:100"}, "a=80 b=0"}}},
		"other edits do not wait": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:50:100"}, "a=100 b=0"}, {2, []string{"a:51:110"}, "a=109 b=0"},
			{10*time.Second + 1, []string{"a:51:110"}, "a=59 b=0"}}},
		"each edit has its own time": {20, 10 * time.Second, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, []string{"a:40:100"}, "a=100 b=0"}, {5 * time.Second, []string{"a:80:100"}, "a=100 b=0"},
			{10*time.Second + 1, []string{"a:80:100"}, "a=60 b=0"}, {15 * time.Second, []string{"a:80:100"}, "a=20 b=0"}}},
		"a replaced fleet is added at once": {20, 10 * time.Second, []step{
			{0, []string{"a:0:50"}, "a=50 b=0"}, {1, []string{"a:50:100"}, "a=100 b=0"}, {10*time.Second + 1, []string{"a:50:100"}, "a=50 b=0"}}},
		"without a grace nothing waits": {20, 0, []step{
			{0, []string{"a:0:100"}, "a=100 b=0"}, {1, nil, "a=0 b=0"}}},
		"any part": {0, time.Second, []step{
			{0, []string{"a:0:900"}, "a=900 b=0"}, {1, []string{"a:11:900"}, "a=900 b=0"}}},
		"no part": {100, time.Second, []step{
			{0, []string{"a:0:900"}, "a=900 b=0"}, {1, nil, "a=0 b=0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := removals{percent: c.percent, grace: c.grace}
			begin := time.Now()
			var applied *resource.Set
			for _, s := range c.steps {
				files := fleet(t, s.files...)
				applied, _ = r.hold(applied, files, begin.Add(s.at))
				if got := count(applied); got != s.want {
					t.Errorf("at %v: got %s, want %s", s.at, got, s.want)
				}
				if !slices.IsSortedFunc(applied.Dataplanes, compareDataplanes) {
					t.Errorf("at %v: not sorted", s.at)
				}
				next, held := r.next()
				if extra := len(applied.Dataplanes) - len(files.Dataplanes); extra != len(r.until) || held != (extra > 0) || held && !next.After(begin.Add(s.at)) {
					t.Errorf("at %v: %d are held, next at %v, want %d", s.at, len(r.until), next, extra)
				}
			}
		})
	}
}
