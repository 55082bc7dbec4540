package shapes

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/shapes/shared"
)

func ptr[T any](v T) *T { return &v }

// TestLeavesAndOrigins has confs from the lowest to the highest, and every leaf of
// the result with its item.
func TestLeavesAndOrigins(t *testing.T) {
	tests := []struct {
		name    string
		confs   []*All
		leaves  string
		origins []int
	}{
		{"nothing set", []*All{{}, {}}, "", nil},
		{"a pointer to zero is set",
			[]*All{{Count: ptr(uint32(5))}, {Count: ptr(uint32(0))}},
			"/count 1", []int{1}},
		{"zero is not set with the tag omitzero",
			[]*All{{Mode: "x", Weight: 3}, {Mode: "y"}},
			"/mode 1, /weight 0", []int{0, 1}},
		{"an empty list resets",
			[]*All{{Headers: []shared.Header{{}, {}}}, {Headers: []shared.Header{}}},
			"/headers 1", []int{1}},
		{"an item that is overridden completely is not an origin",
			[]*All{{Name: ptr("a")}, {Name: ptr("b")}, {Name: ptr("c")}},
			"/name 2", []int{2}},
		{"JSON pointers are escaped",
			[]*All{{Tree: []Tree{}, Labels: map[string]string{"a/b~c": "x"}}},
			"/a~0tree~1list 0, /labels/a~1b~0c 0", []int{0}},
		{"an object with nothing set in it is a leaf of the highest item that has it",
			[]*All{{HTTP: &Inner{}}, {HTTP: &Inner{}}, {}},
			"/http 1", []int{1}},
		{"an object with something in it is not a leaf",
			[]*All{{HTTP: &Inner{Deeper: &Deeper{}}}, {HTTP: &Inner{}}},
			"/http/deeper 0", []int{0}},
		{"a type without fields",
			[]*All{{Empty: &Empty{}}, {}},
			"/empty 0", []int{0}},
		{"always replacing scalars are set together",
			[]*All{{Rate: &Rate{Num: 5, Interval: 1e9}}, {Rate: &Rate{}}},
			"/rate/num 1, /rate/interval 1", []int{1}},
		{"each element that is appended is a leaf",
			[]*All{{Filters: []string{"a", "b"}}, {Filters: []string{}}, {Filters: []string{"a"}}},
			"/filters/0 0, /filters/1 0, /filters/2 2", []int{0, 2}},
		{"so it is behind a pointer, and nil lists add none",
			[]*All{{FiltersBehind: &Words{"a"}}, {FiltersBehind: new(Words)}, {FiltersBehind: &Words{"a"}}, {}},
			"/filtersBehind/0 0, /filtersBehind/1 2", []int{0, 2}},
		{"a pointer to an empty list to append to is a leaf",
			[]*All{{FiltersBehind: &Words{}}, {FiltersBehind: new(Words)}, {}},
			"/filtersBehind 1", []int{1}},
		{"elements behind a pointer merge",
			[]*All{{RoutesBehind: &[]*Route{{Name: "a", Tags: []string{"x"}}}}, {RoutesBehind: &[]*Route{{Name: "a", Rate: &Rate{}}, {Name: "b"}}}},
			"/routesBehind/0 1, /routesBehind/1 1", []int{0, 1}},
		{"an empty list to append to is a leaf",
			[]*All{{Filters: []string{}}, {Filters: []string{}}},
			"/filters 1", []int{1}},
		{"an element that merges has the highest item, its parts have their own",
			[]*All{
				{Rules: []Rule{{Section: "a", Default: Inner{Timeout: ptr(Duration(1e9))}}}},
				{Rules: []Rule{{Section: "b"}}},
				{Rules: []Rule{{Section: "a", Default: Inner{Codes: []int32{1}}}}},
			},
			"/rules/0 1, /rules/1 2", []int{0, 1, 2}},
		{"nothing is left of an element that is overridden completely",
			[]*All{{Rules: []Rule{{Section: "a"}}}, {Rules: []Rule{{Section: "a"}}}},
			"/rules/0 1", []int{1}},
		{"entries of a map, in the order of keys",
			[]*All{{Labels: map[string]string{"b": "1", "a": "1"}}, {Labels: map[string]string{"b": "2", "c": "2"}}},
			"/labels/a 0, /labels/b 1, /labels/c 1", []int{0, 1}},
		{"an entry that is a struct",
			[]*All{{Services: map[string]Inner{"a": {Codes: []int32{}}}}, {Services: map[string]Inner{"a": {}}}},
			"/services/a 0", []int{0}},
		{"an empty map is a leaf",
			[]*All{{Labels: map[string]string{}}, {}},
			"/labels 0", []int{0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := mergeAll(test.confs)
			var leaves []string
			for pointer, item := range m.Leaves() {
				leaves = append(leaves, fmt.Sprintf("%s %d", pointer, item))
			}
			if got := strings.Join(leaves, ", "); got != test.leaves {
				t.Errorf("leaves %s\nwant   %s", got, test.leaves)
			}
			if got := m.Origins(nil); !slices.Equal(got, test.origins) {
				t.Errorf("origins %v, want %v", got, test.origins)
			}
		})
	}
}

func TestNilAndEmpty(t *testing.T) {
	tests := []struct {
		name  string
		confs []*All
		want  *All
	}{
		{"nil and nil are nil", []*All{{}, {}}, &All{}},
		{"nil and empty are empty",
			[]*All{{}, {Filters: []string{}, Rules: []Rule{}, Labels: map[string]string{}}},
			&All{Filters: []string{}, Rules: []Rule{}, Labels: map[string]string{}}},
		{"a nil element of a list by key and a nil entry are not set",
			[]*All{{Routes: []*Route{nil}, Pointers: map[string]*Service{"a": nil}, Lists: map[Mode][]string{"a": nil}}},
			&All{Routes: []*Route{}, Pointers: map[string]*Service{}, Lists: map[Mode][]string{}}},
		{"an element has the place of the last one with its key",
			[]*All{{Rules: []Rule{{Section: "a"}, {Section: "b"}, {Section: "a"}}}, {Rules: []Rule{{Section: "c"}}}},
			&All{Rules: []Rule{{Section: "b"}, {Section: "a"}, {Section: "c"}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := mergeAll(test.confs).Conf(); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %s\nwant %s", text(got), text(test.want))
			}
		})
	}
}

func TestHashOfEqualFloats(t *testing.T) {
	a, b := &All{Ratio: ptr(0.0)}, &All{Ratio: ptr(math.Copysign(0, -1))}
	if !a.Equal(b) || a.Hash() != b.Hash() {
		t.Errorf("0 and -0: equal %t, hashes %x and %x", a.Equal(b), a.Hash(), b.Hash())
	}
}

func TestHandWrittenMethodsAreCalled(t *testing.T) {
	a, b := &All{Host: &shared.Host{Name: "a.example"}}, &All{Host: &shared.Host{Name: "A.Example"}}
	if !a.Equal(b) || a.Hash() != b.Hash() {
		t.Error("hosts were not compared by their own Equal and Hash")
	}
}

// TestUnion merges unions: another type drops the arms below it, even if a higher
// conf has the dropped type again.
func TestUnion(t *testing.T) {
	x := func(b LoadBalancer) *Balancing { b.Type = "X"; return &Balancing{LoadBalancer: &b} }
	y := func(b LoadBalancer) *Balancing { b.Type = "Y"; return &Balancing{LoadBalancer: &b} }
	tests := []struct {
		name    string
		confs   []*Balancing
		want    *Balancing
		origins []int
	}{
		{"one type merges",
			[]*Balancing{x(LoadBalancer{Plain: ptr("low"), List: []string{"a"}}), x(LoadBalancer{Plain: ptr("high")})},
			x(LoadBalancer{Plain: ptr("high"), List: []string{"a"}}), []int{0, 1}},
		{"another type drops",
			[]*Balancing{x(LoadBalancer{Plain: ptr("low")}), y(LoadBalancer{List: []string{}})},
			y(LoadBalancer{List: []string{}}), []int{1}},
		{"a dropped arm is not restored",
			[]*Balancing{x(LoadBalancer{Plain: ptr("low")}), y(LoadBalancer{}), x(LoadBalancer{Random: &Empty{}})},
			x(LoadBalancer{Random: &Empty{}}), []int{2}},
		{"a conf without the union changes nothing",
			[]*Balancing{x(LoadBalancer{Plain: ptr("low")}), {Factor: ptr(1.5)}},
			&Balancing{LoadBalancer: &LoadBalancer{Type: "X", Plain: ptr("low")}, Factor: ptr(1.5)}, []int{0, 1}},
		{"each element is a separate union",
			[]*Balancing{
				{Balancers: []Balancer{{Name: "a", Type: "X", Plain: ptr("low")}, {Name: "b", Type: "X", Plain: ptr("low")}}},
				{Balancers: []Balancer{{Name: "a", Type: "Y"}, {Name: "b", Type: "X"}}},
			},
			&Balancing{Balancers: []Balancer{{Name: "a", Type: "Y"}, {Name: "b", Type: "X", Plain: ptr("low")}}}, []int{0, 1}},
		{"elements of one list with equal keys drop the arms of previous ones",
			[]*Balancing{
				{Balancers: []Balancer{{Name: "a", Type: "X", Plain: ptr("low")}}},
				{Balancers: []Balancer{{Name: "a", Type: "Y"}, {Name: "a", Type: "X"}}},
			},
			&Balancing{Balancers: []Balancer{{Name: "a", Type: "X"}}}, []int{1}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := new(mergerOfBalancing)
			for i := len(test.confs) - 1; i >= 0; i-- {
				m.Fill(test.confs[i], i)
			}
			if !reflect.DeepEqual(m.Conf(), test.want) {
				t.Errorf("got  %s\nwant %s", text(m.Conf()), text(test.want))
			}
			if got := m.Origins(nil); !slices.Equal(got, test.origins) {
				t.Errorf("origins %v, want %v", got, test.origins)
			}
		})
	}
}

// TestCost checks the allocation counts on which callers rely.
func TestCost(t *testing.T) {
	confs := timeouts(10)
	if n := testing.AllocsPerRun(100, func() {
		m := new(mergerOfTimeout)
		for i, c := range slices.Backward(confs) {
			m.Fill(c, i)
		}
		sink = m
	}); n != 1 {
		t.Errorf("merging allocates %.0f times, want 1: the merger", n)
	}
	a, b := confs[0], confs[0].Clone()
	if n := testing.AllocsPerRun(100, func() { a.Equal(b); a.Hash() }); n != 0 {
		t.Errorf("Equal and Hash allocate %.0f times", n)
	}
}

var sink *mergerOfTimeout

func TestComplete(t *testing.T) {
	d := ptr(Duration(1e9))
	m := new(mergerOfTimeout)
	if m.Fill(&Timeout{ConnectionTimeout: d, IdleTimeout: d, HTTP: &TimeoutHTTP{RequestTimeout: d, StreamIdleTimeout: d}}, 1) {
		t.Error("complete, with three timeouts not set")
	}
	if !m.Fill(&Timeout{HTTP: &TimeoutHTTP{MaxStreamDuration: d, MaxConnectionDuration: d, RequestHeadersTimeout: d}}, 0) {
		t.Error("not complete, with everything set")
	}
}
