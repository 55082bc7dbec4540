package server_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/server/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// on starts a client on a connection of its own.
func on(t *testing.T, conn *grpc.ClientConn, options xdstest.Options) *xdstest.Client {
	t.Helper()
	c, err := xdstest.New(t.Context(), conn, options)
	must(t, err)
	t.Cleanup(c.Close)
	must(t, c.Wildcard(wire.ClusterType))
	return c
}

// A server refuses streams past its limit, and closes their connection unless it has other
// streams. A stream that ends makes room.
func TestMaxStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxStreams: 2})
		isServed := func(c *xdstest.Client) bool {
			return settles(func() bool { return c.Err() == nil && len(c.Responses()) > 0 })
		}
		busy, other := r.dial(t), r.dial(t)
		first, second := on(t, busy, xdstest.Options{}), on(t, busy, xdstest.Options{})
		if !isServed(first) || !isServed(second) {
			t.Fatalf("streams within the limit: %v, %v", first.Err(), second.Err())
		}
		for _, conn := range []*grpc.ClientConn{busy, other} {
			c, err := xdstest.New(t.Context(), conn, xdstest.Options{})
			must(t, err)
			awaitEnd(t, c, codes.Unavailable)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := busy.GetState(); got != connectivity.Ready || first.Err() != nil {
			t.Errorf("a connection with other streams is %v", got)
		}
		if got := other.GetState(); got == connectivity.Ready {
			t.Error("the connection of a refused stream is open")
		}
		second.Close()
		synctest.Wait()
		if third := on(t, other, xdstest.Options{}); !isServed(third) {
			t.Errorf("a stream that has ended counts: %v", third.Err())
		}
	})
}

// Connections end at their age, each at another time. A client that connects again gets
// only what has changed.
func TestMaxConnectionAge(t *testing.T) {
	const age, grace = time.Hour, 5 * time.Second
	resources := []*wire.Resource{xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.ClusterType, "b", "1")}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(resources...), MaxConnectionAge: age})
		var clients []*xdstest.Client
		for range 20 {
			c := on(t, r.dial(t), xdstest.Options{Node: node("n")})
			await(t, c, wire.ClusterType, resources...)
			clients = append(clients, c)
		}
		ended := func() (n int) {
			synctest.Wait()
			for _, c := range clients {
				if c.Err() != nil {
					n++
				}
			}
			return n
		}
		time.Sleep(age*9/10 - time.Second)
		if n := ended(); n > 0 {
			t.Errorf("%d connections end before 90 %% of the age", n)
		}
		var ends []int // streams that have ended, at each minute
		for range 13 {
			time.Sleep(time.Minute)
			ends = append(ends, ended())
		}
		if n := ended(); n != len(clients) {
			t.Errorf("%d of %d connections have ended after 110 %% of the age and %v", n, len(clients), grace)
		}
		if different := slices.Compact(ends); len(different) < 5 {
			t.Errorf("the connections end together: %v", ends)
		}
		setNode(r.source, resources[0], xdstest.Resource(wire.ClusterType, "b", "2"))
		for _, c := range clients {
			again, err := xdstest.New(t.Context(), r.dial(t), xdstest.Options{Node: node("n"), Resume: c})
			must(t, err)
			t.Cleanup(again.Close)
			synctest.Wait()
			var got []string
			for _, response := range again.Responses() {
				for _, resource := range response.Resources {
					got = append(got, resource.Name)
				}
			}
			if fmt.Sprint(got) != "[b]" {
				t.Errorf("a client that comes back gets %v, want [b]", got)
			}
		}
	})
}
