package translators_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// warningsOf returns the warnings of an HTTP inbound with policies of the mesh, one in a line.
func warningsOf(t *testing.T, policies string) (lines []string) {
	t.Helper()
	view := coretest.View(t, `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}, {port: 81, protocol: tcp, tags: {kuma.io/service: raw}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: "spiffe://a/"}}]}}]}}
`+policies)
	built := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy)
	for _, w := range built.Warnings() {
		lines = append(lines, w.Code.String()+" "+w.String())
	}
	return lines
}

// A limit or a fault by a header applies only if a client wants it (SPEC 7.2).
func TestChosenHeaders(t *testing.T) {
	limit := func(matches string) string {
		return "---\n{type: MeshRateLimit, name: l, spec: {rules: [{default: {local: {http: {requestRate: {num: 9, interval: 1s}}}}}, {matches: " + matches + ", default: {local: {http: {requestRate: {num: 1, interval: 1s}}}}}]}}\n"
	}
	fault := func(matches string) string {
		return "---\n{type: MeshFaultInjection, name: f, spec: {rules: [{matches: " + matches + ", default: {http: [{abort: {httpStatus: 503, percentage: 1}}]}}]}}\n"
	}
	for _, c := range []struct{ name, policies, header string }{
		{"a limit by a value", limit("[{headers: [{name: X-User, type: Exact, value: a}]}]"), "x-user"},
		{"a limit by an expression", limit("[{path: {type: Exact, value: /a}, headers: [{name: host, value: a}, {name: x-b, type: RegularExpression, value: b.*}]}]"), "x-b"},
		{"a limit by absence in the second match", limit("[{method: GET}, {headers: [{name: x-c, type: Absent}]}]"), "x-c"},
		{"a fault by presence", fault("[{headers: [{name: x-d, type: Present}]}]"), "x-d"},
		{"a limit by the host", limit("[{headers: [{name: Host, type: Exact, value: a}]}]"), ""},
		{"a limit by a path", limit("[{path: {type: Exact, value: /a}}]"), ""},
		{"a fault by the client", fault(`[{spiffeId: {type: Exact, value: "spiffe://a/b"}}]`), ""},
		{"a timeout", "---\n{type: MeshTimeout, name: t, spec: {rules: [{matches: [{headers: [{name: x, type: Present}]}], default: {http: {requestTimeout: 1s}}}]}}\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var found []string
			for _, line := range warningsOf(t, c.policies) {
				if strings.HasPrefix(line, diag.EvadableEntry.String()) {
					found = append(found, line)
				}
			}
			switch {
			case c.header == "" && found != nil:
				t.Errorf("warnings %q", found)
			case c.header != "" && (len(found) != 1 || !strings.Contains(found[0], "by the header "+c.header+",")):
				t.Errorf("warnings %q, want one of %s", found, c.header)
			}
		})
	}
}

// A patch in the content of a permission filter finds nothing there, because the content is a
// resource of its own. The warning names this cause.
func TestPatchesOfPermissions(t *testing.T) {
	patch := func(modification string) string {
		return "---\n{type: MeshProxyPatch, name: p, spec: {default: {appendModifications: [" + modification + "]}}}\n"
	}
	const discovered = "cannot be patched"
	for _, c := range []struct {
		name, modification string
		names              bool
	}{
		{"removed rules", "httpFilter: {operation: Patch, match: {name: envoy.filters.http.rbac}, jsonPatches: [{op: remove, path: /typedConfig/rules}]}", true},
		{"a replaced action", "httpFilter: {operation: Patch, match: {name: envoy.filters.http.rbac}, jsonPatches: [{op: replace, path: /typedConfig/rules/action, value: DENY}]}", true},
		{"a second content", `httpFilter: {operation: Patch, match: {name: envoy.filters.http.rbac}, jsonPatches: [{op: add, path: /typedConfig, value: {"@type": type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC}}]}`, true},
		{"removed rules, by the listener", "listener: {operation: Patch, match: {name: inbound/10.0.0.1/80}, jsonPatches: [{op: remove, path: /filterChains/0/filters/0/typedConfig/httpFilters/0/typedConfig/rules}]}", true},
		{"replaced rules, by the connection manager", "networkFilter: {operation: Patch, match: {name: envoy.filters.network.http_connection_manager}, jsonPatches: [{op: replace, path: /typedConfig/httpFilters/0/typedConfig/rules/action, value: DENY}]}", true},
		{"another filter, by the listener", "listener: {operation: Patch, match: {name: inbound/10.0.0.1/80}, jsonPatches: [{op: remove, path: /filterChains/0/filters/0/typedConfig/httpFilters/1/typedConfig/absent}]}", false},
		{"another filter", "httpFilter: {operation: Patch, match: {name: envoy.filters.http.router}, jsonPatches: [{op: remove, path: /typedConfig/absent}]}", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := warningsOf(t, patch(c.modification))
			at := -1
			for i, line := range lines {
				if strings.HasPrefix(line, diag.PatchNotApplied.String()) {
					at = i
				}
			}
			if at < 0 || strings.Contains(lines[at], discovered) != c.names {
				t.Errorf("warnings %q", lines)
			}
		})
	}
}
