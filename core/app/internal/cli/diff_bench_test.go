package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkDiffPermission runs the whole command on what a zone control plane of Kuma exports:
// about 130 dataplanes, each with outbounds to more than a hundred services. The edit is a
// permission of one service, or of the mesh.
func BenchmarkDiffPermission(b *testing.B) {
	for name, selects := range map[string]string{"service": "{kind: Dataplane, labels: {app: shop-1}}", "mesh": "{kind: Mesh}"} {
		b.Run("of="+name, func(b *testing.B) {
			dir := b.TempDir()
			world, edit := filepath.Join(dir, "world.yaml"), filepath.Join(dir, "edit.yaml")
			permission := `
apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: added, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: ` + selects + `
  rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://default.west.mesh.local/ns/batch/sa/report'}}]}}]
`
			if err := errors.Join(os.WriteFile(world, newExported(true, "east", 18, 1).YAML(), 0o600), os.WriteFile(edit, []byte(permission), 0o600)); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				var stdout, stderr strings.Builder
				code := (Program{}).run(b.Context(), []string{"diff", "-f", world, "--apply", edit}, nil, &stdout, &stderr)
				if code != exitNo || !strings.Contains(stdout.String(), "sa/report") {
					b.Fatalf("exit status %d: %s%s", code, stdout.String(), stderr.String())
				}
			}
		})
	}
}
