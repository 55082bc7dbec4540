package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamples runs the examples of the help texts on the files of the demo mesh. It leaves
// out benchmarks, serve, relay and page, which do not end, and examples of stores, which the
// script store.txtar runs.
func TestExamples(t *testing.T) {
	testdata, err := filepath.Abs("../../../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, target := range map[string]string{
		"policies": "demo", "old": "demo", "new": "demo",
		"kuma2": "kuma2", "rollout.yaml": "rollout/fleet.yaml", "fragments.yaml": "variants/routes.yaml",
		"access.log": "access/backend.log", "access.log.gz": "access/backend.log",
	} {
		if err := os.Symlink(filepath.Join(testdata, target), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "hub"), os.DirFS(filepath.Join(testdata, "demo"))); err != nil {
		t.Fatal(err)
	}
	const mesh = "{type: Dataplane, name: extra, networking: {address: 10.0.0.1}}"
	for _, name := range []string{"dataplanes", "dumps"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const dump = `{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.BootstrapConfigDump", "bootstrap": {"node": {"id": "default.backend-1"}}},
  {"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "static_listeners": [{"listener": {"name": "in", "address": {"socket_address": {"address": "10.0.0.21", "port_value": 8080}},
    "filter_chains": [{"filters": [{"name": "tcp", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy"}}]}]}}]}]}`
	for name, content := range map[string]string{
		"hub/audit.yaml": `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: audit, namespace: hub}
spec: {disabled: false, policy-templates: []}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: all, namespace: hub}
spec: {clusters: [{name: riga}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: all, namespace: hub}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: all}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: audit}]
`,
		"backend-1.json": dump, "dumps/backend-1.json": dump,
		"mesh.yaml": mesh, "wave.yaml": mesh, "dataplanes.yaml": mesh, "dataplanes/mesh.yaml": mesh,
		"tests.yaml": "{type: AccessTest, mesh: default, name: t, always: [{to: {service: backend, inbound: http}, from: {spiffeIdPrefix: 'spiffe://shop.mesh/ns/legacy'}, expect: DENY}]}",
		"variants.yaml": `
type: ResourceVariants
name: routes
variants:
  - constraints: {notConstraints: {andConstraints: {constraints: [{constraint: {key: env, value: prod}}, {constraint: {key: version, value: v1}}]}}}
    content: {}
  - constraints: {andConstraints: {constraints: [{constraint: {key: env, value: prod}}, {constraint: {key: version, value: v1}}]}}
    content: {a: b}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	n := 0
	for _, example := range examplesOf(newRoot(Program{}.globals())) {
		_, args, ok := strings.Cut(example, "meshmatch ")
		if !ok || strings.HasPrefix(args, "bench ") || strings.HasPrefix(args, "serve ") || strings.HasPrefix(args, "page ") || strings.HasPrefix(args, "relay ") || strings.HasPrefix(args, "mcp ") || strings.Contains(args, "etcd") {
			continue
		}
		if strings.Contains(args, "kuma3") {
			args = strings.ReplaceAll(args, "policies/", "kuma2/") // Kuma refuses a policy of the demo mesh (SPEC 17.1)
		}
		n++
		var stdout, stderr bytes.Buffer
		code := Program{}.run(t.Context(), strings.Fields(strings.ReplaceAll(args, "'", "")), strings.NewReader(strings.Replace(mesh, "extra", "other", 1)), &stdout, &stderr)
		if code == exitUsage || stdout.Len() == 0 {
			t.Errorf("%s: exit code %d: %s", example, code, stderr.String())
		}
		for _, line := range strings.Split(strings.TrimSpace(stderr.String()), "\n") {
			if line != "" && !strings.HasPrefix(line, "warning: ") && !strings.HasPrefix(line, "nothing differs: ") {
				t.Errorf("%s: %s", example, line)
			}
		}
	}
	if n < 25 {
		t.Errorf("found only %d examples", n)
	}
}

// examplesOf returns the examples of a command and its subcommands, one line each.
func examplesOf(c *cobra.Command) []string {
	lines := strings.Split(strings.ReplaceAll(c.Example, "\\\n", ""), "\n")
	for _, sub := range c.Commands() {
		lines = append(lines, examplesOf(sub)...)
	}
	return lines
}
