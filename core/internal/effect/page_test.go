package effect_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/effect"
)

const head = `# What an edit does to connections

An Envoy that gets another listener serves the connections of the old one until the drain time is over
(600 s by default, 60 s with ` + "`bootstrap --command`" + `), and then closes them. Another route, cluster, endpoint or
extension closes no connection of a client: the next request on it is served by the new configuration.

The table has the resources that a change of a field changes, in each part of a proxy. Where it has a
**listener**, connections drain. A field has the row of the longest pointer above it; ` + "`*`" + ` is any element of
a list, and ` + "`2+`" + ` any but the first two. An empty cell: the field has no effect there, with a warning.

| kind | field | HTTP inbound | TCP inbound | HTTP outbound | TCP outbound | proxy |
|---|---|---|---|---|---|---|
`

const tail = `
- A match of a rule, and the clients of an item of ` + "`from`" + `, are where the conf is: in routes for MeshTimeout,
  MeshRateLimit and MeshFaultInjection, in the listener for MeshAccessLog.
- Permissions of an HTTP inbound never drain. An open stream or upgrade keeps the decision that it got
  when it began. A TCP inbound decides once for each connection, so its permissions are in the listener:
  old connections, also those that are still allowed, close when the drain time is over.
- MeshTLS acts where the inbound has TLS. A connection of a client to its own proxy is not one of an inbound:
  if it is HTTP it stays when the listener of the other proxy changes, and its next request has another
  connection between the proxies. If it is TCP it is closed with the one between the proxies.
- "proxy" are the listeners of metrics and of passthrough. The first permission of a dataplane without
  identity closes the ports that no inbound declares, which is in ` + "`passthrough/inbound`" + `.
- What is in listeners because Envoy has it nowhere else: access logs, the backend of traces, TLS, idle
  timeouts and the limits of connections, and all of a TCP proxy.
- Sampling and tags of traces can be in routes, but each route would have a copy of them, as a virtual host
  cannot have them for its routes. They stay in listeners, where an edit of the backend drains as well.
- Each fault of a list needs a filter in the listener. Two are always there, so that they cost each HTTP inbound
  their bytes; the third and later ones come with the first list that has them.
- A change of a dataplane's address, ports or protocols, of its identity, and of the CAs that it trusts
  may change listeners too.

` + "`diff`" + ` lists the listeners that an edit drains, with the causes; ` + "`serve`" + ` counts and logs those of its
clients. Both compare the bytes of listeners, and take the causes from this table.

This page is made from package core/internal/effect: ` + "`UPDATE=1 go test ./core/internal/effect`" + `.
`

// The page core/DRAINS.md has the rows of the table. UPDATE=1 writes it.
func TestPage(t *testing.T) {
	const path = "../../DRAINS.md"
	var b strings.Builder
	b.WriteString(head)
	for _, row := range effect.Table() {
		field := "all"
		if row.Field != "" {
			field = "`" + row.Field + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |", row.Kind, field)
		for _, changes := range row.Changes {
			fmt.Fprintf(&b, " %s |", strings.Replace(changes.String(), "listener", "**listener**", 1))
		}
		b.WriteString("\n")
	}
	b.WriteString(tail)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table has; run the test with UPDATE=1 (%v)", path, err)
	}
}

// The longest row above a field decides.
func TestOf(t *testing.T) {
	for _, c := range []struct {
		kind, field string
		part        effect.Area
		want        string
	}{
		{"MeshAccessLog", "/backends/0/file/path", effect.TCPInbound, "listener"},
		{"MeshTimeout", "/http/requestTimeout", effect.HTTPInbound, "routes"},
		{"MeshTimeout", "/http/requestTimeout", effect.TCPInbound, ""},
		{"MeshLoadBalancingStrategy", "/loadBalancer/ringHash/hashPolicies/0/type", effect.TCPOutbound, "listener"},
		{"MeshLoadBalancingStrategy", "/loadBalancer/ringHash/minRingSize", effect.TCPOutbound, "cluster"},
		{"MeshFaultInjection", "/http/1/abort/httpStatus", effect.HTTPInbound, "routes"},
		{"MeshFaultInjection", "/http/2/abort/httpStatus", effect.HTTPInbound, "listener, routes"},
		{"MeshProxyPatch", "/appendModifications/12/virtualHost/value", effect.HTTPOutbound, "routes"},
	} {
		if got, known := effect.Of(c.kind, c.field, c.part); got.String() != c.want || !known {
			t.Errorf("%s %s of a %s changes %q, want %q", c.kind, c.field, c.part, got, c.want)
		}
	}
	if _, known := effect.Of("OwnKind", "/a", effect.Proxy); known || !effect.MayDrain("OwnKind", effect.Proxy) {
		t.Error("the fields of a kind that the table does not have may do anything")
	}
}

// Rows are sorted, so that a row is found where a reader looks for it.
func TestTableIsSorted(t *testing.T) {
	if !slices.IsSortedFunc(effect.Table(), func(a, b effect.Row) int {
		return strings.Compare(a.Kind+" "+a.Field, b.Kind+" "+b.Field)
	}) {
		t.Error("the rows are not sorted by kind and field")
	}
}
