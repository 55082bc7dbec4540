package snapshot

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Lists with the same pointers are one list, and lists that differ in one place are not,
// even if a pointer moved from one list to the next.
func TestPool(t *testing.T) {
	a, b := &results.Effective{}, &results.Effective{Origins: []results.Origin{}}
	p, q := &resource.Policy{}, &resource.Policy{TargetRef: resource.WholeMesh()}
	list := func(e ...*results.Effective) []*results.Effective { return e }
	makers := []func() *confList{
		func() *confList { return &confList{} },
		func() *confList { return &confList{own: list(nil)} },
		func() *confList { return &confList{own: list(a)} },
		func() *confList { return &confList{own: list(b)} },
		func() *confList { return &confList{own: list(a, b)} },
		func() *confList { return &confList{own: list(b, a)} },
		func() *confList { return &confList{own: list(a), finish: finishConfs{confs: list(b)}} },
		func() *confList { return &confList{finish: finishConfs{confs: list(a, b)}} },
		func() *confList { return &confList{own: list(a), routes: []routeConfs{{p, list(b)}}} },
		func() *confList { return &confList{own: list(a), routes: []routeConfs{{q, list(b)}}} },
		func() *confList { return &confList{own: list(a), routes: []routeConfs{{p, list(b)}, {q, nil}}} },
	}
	var lists pool[confList, *confList]
	first := map[*confList]string{}
	get := func(i int) *confList { return lists.get(makers[i](), makers[i]) }
	for i := range makers {
		l := get(i)
		if other, twice := first[l]; twice {
			t.Errorf("list %d is list %s", i, other)
		}
		first[l] = fmt.Sprint(i)
	}
	for i := range makers {
		if l := get(i); first[l] != fmt.Sprint(i) {
			t.Errorf("list %d is %q when it is asked for again", i, first[l])
		}
	}
	runtime.KeepAlive(first)
}
