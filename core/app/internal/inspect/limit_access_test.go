package inspect_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/resource"
)

// hostilePermissions returns a policy for each of some services. Its entries divide
// requests into more parts than any limit, by many headers with several expressions
// each.
func hostilePermissions(services int, denied string) []string {
	var documents []string
	for n := range services {
		var entries []string
		for i := range 200 {
			var headers []string
			for k := range 3 {
				headers = append(headers, fmt.Sprintf(`{type: RegularExpression, name: x-%d, value: "a.*%d"}`, (i*7+k*11+i/5)%40, (i+n)%9))
			}
			entries = append(entries, "{headers: ["+strings.Join(headers, ", ")+"]}")
		}
		documents = append(documents,
			fmt.Sprintf(`{type: Dataplane, name: d%d, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: s%d, kuma.io/protocol: http}}]}}`, n, n),
			fmt.Sprintf(`{type: MeshTrafficPermission, mesh: default, name: p%d, spec: {targetRef: {kind: MeshService, name: s%d}, rules: [{default: {deny: [%s], allow: [{method: %s}, %s]}}]}}`,
				n, n, strings.Join(entries[:100], ", "), denied, strings.Join(entries[100:], ", ")))
	}
	return documents
}

// The answer to a question about permissions past a limit is unknown. All questions of a
// mesh share one limit.
func TestPermissionsPastTheLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("the work of a limit, in one goroutine")
	}
	before, after := viewOf(t, hostilePermissions(6, "GET")...), viewOf(t, hostilePermissions(6, "PUT")...)
	diff, err := diff.New(before, after, "default", inspect.Options{})
	if limit := (*access.LimitError)(nil); !errors.As(err, &limit) || !strings.Contains(err.Error(), "5 more like this") {
		t.Errorf("error %v, want a limit", err)
	}
	if len(diff.Opens) != 6 || len(diff.Closes) != 6 || len(diff.Access) != 0 {
		t.Errorf("unknown inbounds open and close: %d, %d", len(diff.Opens), len(diff.Closes))
	}
	reach, err := traffic.NewReach(before, "default", traffic.ReachQuery{}, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range reach.Cells {
		if cell.Access != access.Unknown.String() || cell.Why == "" {
			t.Errorf("cell %+v, want unknown and why", cell)
		}
	}
	check := check.New(before, new(resource.Set))
	if !slices.ContainsFunc(check.Warnings, func(w diag.Diagnostic) bool {
		return strings.HasPrefix(w.What, "it is unknown whether entries for 6 inbounds")
	}) {
		t.Errorf("no warning says what is unknown: %v", check.Warnings)
	}
}
