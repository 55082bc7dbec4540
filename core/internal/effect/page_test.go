package effect_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/effect"
)

// The table is between these lines of the page, which has a blank line after the first one and
// before the second one.
const (
	begin = "<!-- The table of package core/internal/effect begins. -->\n\n"
	end   = "\n<!-- The table of package core/internal/effect ends. -->\n"
)

// The page core/DRAINS.md has the rows of the table. UPDATE=1 writes them.
func TestPage(t *testing.T) {
	const path = "../../DRAINS.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(page), begin)
	got, after, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s lacks the lines around the table, %q and %q", path, begin, end)
	}
	want := tableText()
	switch {
	case got == want:
	case os.Getenv("UPDATE") != "":
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table of %s differs (-want +got); run the test with UPDATE=1:\n%s", path, cmp.Diff(want, got))
	}
}

// tableText returns the table with its heading.
func tableText() string {
	var b strings.Builder
	b.WriteString("| kind | field | HTTP inbound | TCP inbound | HTTP outbound | TCP outbound | proxy |\n|---|---|---|---|---|---|---|\n")
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
	return b.String()
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
		if got, known := effect.ChangedBy(c.kind, c.field, c.part); got.String() != c.want || !known {
			t.Errorf("%s %s of a %s changes %q, want %q", c.kind, c.field, c.part, got, c.want)
		}
	}
	if _, known := effect.ChangedBy("OwnKind", "/a", effect.Proxy); known || !effect.MayDrain("OwnKind", effect.Proxy) {
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
