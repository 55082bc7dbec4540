package xdstest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An Actor is a client that acts at random, for tests that compare what clients hold in
// the end with a state. It has the subscriptions of its client in a form of its own. It
// is not safe for concurrent use.
type Actor struct {
	*Client
	// Node is what the server keeps of the node in the options; the zero one has no id.
	Node    server.Node
	options Options
	frozen  bool
	types   [wire.NumTypes]asked
}

// asked is what an actor asks for in one type.
type asked struct {
	any      bool // there was a request
	all      bool // by the wildcard
	names    map[string]bool
	locators map[string]Locator // by name
}

// NewActor starts an actor without subscriptions.
func NewActor(conn grpc.ClientConnInterface, options Options) (*Actor, error) {
	a := &Actor{options: options}
	if n := options.Node; n != nil {
		a.Node = server.Node{ID: n.GetId(), UserAgent: n.GetUserAgentName(), Version: n.GetUserAgentVersion()}
	}
	for t := range a.types {
		a.types[t] = asked{names: map[string]bool{}, locators: map[string]Locator{}}
	}
	return a, a.connect(conn)
}

// connect starts a stream. After an error the actor has its previous client, whose stream
// has ended.
func (a *Actor) connect(conn grpc.ClientConnInterface) error {
	a.frozen = false
	c, err := New(context.Background(), conn, a.options)
	a.options.Resume = nil
	if err == nil {
		a.Client = c
	}
	return err
}

// Reconnect ends the stream and resumes it on a connection. It can be called again after an
// error.
func (a *Actor) Reconnect(conn grpc.ClientConnInterface) error {
	a.Close()
	a.options.Resume = a.Client
	return a.connect(conn)
}

// Restart ends the stream and subscribes the same on a connection, as a client that has
// lost what it held.
func (a *Actor) Restart(conn grpc.ClientConnInterface) error {
	a.Close()
	if err := a.connect(conn); err != nil {
		return err
	}
	for t := range a.types {
		if err := a.repeat(wire.Type(t)); err != nil {
			return err
		}
	}
	return nil
}

// repeat subscribes what the actor asks for in a type.
func (a *Actor) repeat(t wire.Type) error {
	asked := &a.types[t]
	asked.any = asked.all || len(asked.names)+len(asked.locators) > 0
	if asked.all {
		if err := a.Wildcard(t); err != nil {
			return err
		}
	}
	if len(asked.names) > 0 {
		if err := a.Subscribe(t, slices.Sorted(maps.Keys(asked.names))...); err != nil {
			return err
		}
	}
	if len(asked.locators) > 0 {
		return a.SubscribeLocators(t, slices.Collect(maps.Values(asked.locators))...)
	}
	return nil
}

// String returns the protocol and the node.
func (a *Actor) String() string {
	protocol := "delta"
	if a.options.StateOfTheWorld {
		protocol = "sotw"
	}
	return fmt.Sprintf("%s, node %q, %s %s", protocol, a.Node.ID, a.Node.UserAgent, a.Node.Version)
}

// FreezeOrThaw stops reading, or reads again if the actor has stopped.
func (a *Actor) FreezeOrThaw() {
	if a.frozen = !a.frozen; a.frozen {
		a.Freeze()
	} else {
		a.Thaw()
	}
}

// Asked reports whether the actor has sent a request.
func (a *Actor) Asked() bool {
	return slices.ContainsFunc(a.types[:], func(t asked) bool { return t.any })
}

// Ask sends a random request of a type: for the wildcard, or about a name, or about the
// name as a locator with the parameters.
func (a *Actor) Ask(random *rand.Rand, t wire.Type, name string, parameters map[string]string) error {
	asked := &a.types[t]
	first := !asked.any
	asked.any = true
	// In state of the world, only listeners and clusters that go can be removed from a
	// wildcard.
	wildcard := !a.options.StateOfTheWorld || t == wire.ListenerType || t == wire.ClusterType
	switch random.IntN(6) {
	case 0:
		if first && wildcard {
			asked.all = true
			return a.Wildcard(t)
		}
		if asked.names[name] {
			delete(asked.names, name)
			return a.Unsubscribe(t, name)
		}
	case 1:
		if l, ok := asked.locators[name]; ok {
			delete(asked.locators, name)
			return a.UnsubscribeLocators(t, l)
		}
	case 2, 3:
		// A removal without constraints is of the only variant, or means that there is no
		// variant. A client with several locators of a name cannot decide which of them it
		// is about, so each name has one.
		if _, ok := asked.locators[name]; ok {
			return nil
		}
		l := Locator{Name: name, Parameters: parameters}
		asked.locators[name] = l
		return a.SubscribeLocators(t, l)
	}
	asked.names[name] = true
	return a.Subscribe(t, name)
}

// Differences compares what the actor holds with what it should hold of a state. It
// returns a line for each type and locator that differs.
func (a *Actor) Differences(state server.State) []string {
	var out []string
	snapshot, ok := state.Node(&a.Node)
	for t := range wire.Type(wire.NumTypes) {
		asked := &a.types[t]
		if !asked.any {
			continue
		}
		want := map[string]string{}
		if a.Node.ID != "" && ok {
			want = asked.selected(&snapshot[t])
		}
		got := map[string]string{}
		for name, held := range a.Named(t) {
			if _, wanted := want[name]; wanted || !a.drains(t, name) {
				got[name] = held.Body
			}
		}
		if !maps.Equal(got, want) {
			out = append(out, fmt.Sprintf("%s: %s", t, differenceOf(got, want)))
		}
		for _, l := range asked.locators {
			v, _ := state.Locate(&a.Node, t, l.Name, l.Parameters)
			want := ""
			if v.Resource != nil {
				want = string(v.Resource.Append(nil))
			}
			if got, _ := a.Located(t, l); got.Body != want || got.Constraints != v.Constraints {
				out = append(out, fmt.Sprintf("%s: locator %v: holds %q, wants %q", t, l, got.Body, want))
			}
		}
	}
	return out
}

// drains reports whether a resource that a snapshot no longer has may stay for the drain time,
// because open connections can use it (SPEC 12.3). For gRPC nothing drains.
func (a *Actor) drains(t wire.Type, name string) bool {
	return !strings.HasPrefix(a.Node.UserAgent, "gRPC") &&
		(t == wire.ExtensionType || t == wire.RouteType || t == wire.ClusterType && strings.HasPrefix(name, "local/"))
}

// selected returns the bodies of the resources that are asked for, by name.
func (a *asked) selected(r *wire.Resources) map[string]string {
	want := map[string]string{}
	for _, r := range r.Listed {
		if a.all || a.names[r.Name] {
			want[r.Name] = string(r.Append(nil))
		}
	}
	for _, r := range r.Named {
		if a.names[r.Name] {
			want[r.Name] = string(r.Append(nil))
		}
	}
	return want
}

// differenceOf returns the elements of two maps that differ.
func differenceOf(got, want map[string]string) string {
	without := func(m, o map[string]string) map[string]string {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(name, body string) bool { other, ok := o[name]; return ok && other == body })
		return m
	}
	return fmt.Sprintf("holds %q, wants %q", without(got, want), without(want, got))
}
