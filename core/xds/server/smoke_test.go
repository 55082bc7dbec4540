package server_test

import (
	"maps"
	"testing"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/server/xdstest"
)

func TestSmoke(t *testing.T) {
	for _, sotw := range []bool{false, true} {
		state := xdstest.NewState()
		a1, b1 := xdstest.Resource(xds.ClusterType, "a", "1"), xdstest.Resource(xds.ClusterType, "b", "1")
		state.Nodes["n"] = xdstest.Snapshot(a1, b1)
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Wildcard(xds.ClusterType))
		if !c.Wait(patience, func() bool { return maps.Equal(contents(c, xds.ClusterType), bodies(a1, b1)) }) {
			t.Fatal(contents(c, xds.ClusterType), c.Err())
		}
		a2 := xdstest.Resource(xds.ClusterType, "a", "2")
		r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot(a2) })
		if !c.Wait(patience, func() bool { return maps.Equal(contents(c, xds.ClusterType), bodies(a2)) }) {
			t.Fatal(contents(c, xds.ClusterType), c.Err())
		}
		n, err := r.WaitConverged(t.Context(), []string{"n"})
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		r.Drain()
		if !c.Wait(patience, func() bool { return c.Err() != nil }) {
			t.Fatal("no end")
		}
		t.Log(c.Err(), r.Status("n"))
	}
}
