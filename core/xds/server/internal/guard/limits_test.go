package guard

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// All streams of a client have one budget, until the last of them ends. A client may use
// exactly its limit; a relay ten times as much.
func TestBudgetOfOneClient(t *testing.T) {
	var b budgets
	b.init(100, 1_000, 1<<30, 1<<20)
	client, other := Peer{Identity: "a"}, Peer{Identity: "b"}
	use := func(u *Budget, names, bytes int, want string) {
		t.Helper()
		if err := u.Use(names, bytes); want == "" && err != nil || want != "" && (status.Code(err) != codes.ResourceExhausted || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%d names of %d bytes: %v, want %q", names, bytes, err, want)
		}
	}
	one, two := b.enter(client, false), b.enter(client, false)
	use(one, 60, 600, "")
	use(two, 40, 400, "")
	use(two, 1, 0, "the client subscribes 101 names and locators, the limit is 100")
	use(two, -1, 1, "the subscriptions of the client have 1001 bytes, the limit is 1000")
	use(two, -40, -401, "")
	b.leave(two, client)
	again := b.enter(client, false)
	use(again, 41, 0, "the client subscribes 101 names and locators, the limit is 100")
	use(again, -41, 0, "")
	use(b.enter(other, false), 100, 1_000, "")

	if err := one.Begin(700); err != nil {
		t.Errorf("a request of 700 bytes: %v", err)
	}
	if err := again.Begin(301); err == nil || !strings.HasSuffix(err.Error(), "have 1001 bytes, the limit is 1000") {
		t.Errorf("another one, of 301 bytes, at the same time: %v", err)
	}
	if err := again.Begin(300); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	one.End(700)
	again.End(300)

	use(one, -60, -600, "")
	b.leave(one, client)
	b.leave(again, client)
	if b.clients["a"] != nil || b.clients["b"] == nil || len(b.clients) != 1 {
		t.Errorf("the clients with streams are %v, want b", b.clients)
	}

	relay := b.enter(Peer{Identity: "relay"}, true)
	use(relay, 1_000, 10_000, "")
	use(relay, 1, 0, "the client subscribes 1001 names and locators, the limit is 1000")
	use(relay, -1, 1, "the subscriptions of the client have 10001 bytes, the limit is 10000")
	if err := relay.Begin(10_001); err == nil || !strings.HasSuffix(err.Error(), "have 10001 bytes, the limit is 10000") {
		t.Errorf("a request of a relay: %v", err)
	}
}

// Past three quarters of the total, a client that uses much gets no more, and may use less.
func TestTotalOfBudgets(t *testing.T) {
	const total = 8 * fewBytes
	var b budgets
	b.init(1<<30, 1<<30, total, 1<<20)
	large, few := b.enter(Peer{Identity: "large"}, false), b.enter(Peer{Identity: "few"}, false)
	if err := large.Use(1, 6*fewBytes-1); err != nil {
		t.Errorf("less than three quarters: %v", err)
	}
	if err := large.Use(0, 1); err != nil {
		t.Errorf("exactly three quarters: %v", err)
	}
	if err := few.Use(1, fewBytes); err != nil {
		t.Errorf("a client with few: %v", err)
	}
	if err := large.Use(1, 0); err == nil {
		t.Error("a client with much gets more past three quarters")
	}
	if err := large.Use(-1, 0); err != nil {
		t.Errorf("it unsubscribes: %v", err)
	}
	if err := large.Use(0, -1); err != nil {
		t.Errorf("it uses less: %v", err)
	}
}

// A client is known by its identity or, without one, by its host; an end of a stream makes
// room for another one.
func TestStreamsOfOneClient(t *testing.T) {
	var p peerLimit
	p.init(2, 0)
	address := func(address string) Peer { return Peer{Address: address} }
	identity := func(name string) Peer { return Peer{Identity: name, Address: "10.0.0.9:1"} }
	for _, c := range []Peer{address("10.0.0.1:1"), address("10.0.0.1:2"), identity("a"), identity("a"), identity("b"), address("[::1]:1"), address("[::1]:2"), address("pipe"), address("pipe")} {
		if err := p.enter(c, false); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []Peer{address("10.0.0.1:3"), identity("a"), address("[::1]:3"), address("pipe")} {
		if err := p.enter(c, false); err == nil || !strings.HasSuffix(err.Error(), "the limit of 2 streams for one client is reached") {
			t.Errorf("%+v has two streams, and the third one gets %v", c, err)
		}
	}
	for range 18 {
		if err := p.enter(identity("a"), true); err != nil {
			t.Errorf("a relay: %v", err)
		}
	}
	if err := p.enter(identity("a"), true); err == nil || !strings.HasSuffix(err.Error(), "the limit of 20 streams for one client is reached") {
		t.Errorf("the 21st stream of a relay gets %v", err)
	}
	p.leave(address("10.0.0.1:1"))
	if err := p.enter(address("10.0.0.1:3"), false); err != nil {
		t.Errorf("a stream that has ended counts: %v", err)
	}
	if err := p.enter(address("10.0.0.1:4"), false); err == nil {
		t.Error("the end of one stream makes room for two")
	}
	for range 2 {
		p.leave(address("10.0.0.1:2"))
	}
	if _, kept := p.streams["10.0.0.1"]; kept || len(p.streams) != 4 {
		t.Errorf("the clients with streams are %v, want four", p.streams)
	}
}

// One client cannot take all streams of a server: with more than a few it leaves a quarter to
// others. A relay has the streams of many clients.
func TestStreamsOfAllClients(t *testing.T) {
	const total = 100
	for _, c := range []struct {
		name   string
		client Peer
		relay  bool
		want   int
	}{
		{"by identity", Peer{Identity: "spiffe://td/a", Address: "10.0.0.1:1"}, false, total - total/4},
		{"by host", Peer{Address: "10.0.0.1:1"}, false, total - total/4},
		{"by connection on loopback", Peer{Address: "127.0.0.1:1"}, false, total - total/4},
		{"a relay", Peer{Identity: "spiffe://td/relay"}, true, total},
		{"not identified", Peer{Address: "pipe"}, false, total},
	} {
		var p peerLimit
		p.init(1000, total)
		n := 0
		for n <= total && p.enter(c.client, c.relay) == nil {
			n++
		}
		if n != c.want {
			t.Errorf("%s: one client has %d streams of %d, want %d", c.name, n, total, c.want)
		}
		for i := range total - n {
			if err := p.enter(Peer{Address: fmt.Sprintf("10.0.1.%d:1", i/fewStreams)}, false); err != nil {
				t.Errorf("%s: stream %d of others: %v", c.name, i, err)
			}
		}
		if err := p.enter(Peer{Address: "10.0.2.1:1"}, false); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: a stream past the limit: %v", c.name, err)
		}
		for range n {
			p.leave(c.client)
		}
		if p.many[budgetKey(c.client)] != 0 || p.all != total-n {
			t.Errorf("%s: after the end of its streams, %d are left", c.name, p.all)
		}
	}
}

// Past three quarters of the total, a client is admitted with exactly so few streams, and what
// counts is the streams that it has now.
func TestFewStreams(t *testing.T) {
	const total = 4 * fewStreams
	var p peerLimit
	p.init(1000, total)
	client := Peer{Identity: "a"}
	enter := func(c Peer, n int) {
		t.Helper()
		for range n {
			if err := p.enter(c, false); err != nil {
				t.Fatalf("%s: %v", c.Identity, err)
			}
		}
	}
	enter(Peer{Identity: "other"}, total*3/4-1)
	enter(client, fewStreams) // the other ones leave a quarter, and one
	if err := p.enter(client, false); status.Code(err) != codes.Unavailable {
		t.Errorf("one stream more: %v", err)
	}
	p.leave(client)
	enter(client, 1)
	if err := p.enter(client, false); status.Code(err) != codes.Unavailable {
		t.Errorf("one stream more, after another one has ended: %v", err)
	}
	for range fewStreams {
		p.leave(client)
	}
	if _, kept := p.many[client.Identity]; kept {
		t.Error("a client without streams is kept")
	}
}

// Addresses of one machine have one limit on connections.
func TestNetworkOf(t *testing.T) {
	for address, want := range map[string]string{
		"10.0.0.1:80":             "10.0.0.1",
		"[::ffff:10.0.0.1]:80":    "10.0.0.1",
		"[2001:db8:0:1:2::3]:80":  "2001:db8:0:1::/64",
		"[2001:db8:0:1:ff::]:443": "2001:db8:0:1::/64",
		"[fe80::1%eth0]:80":       "fe80::/64",
		"pipe":                    "pipe",
	} {
		if got := NetworkOf(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
