package serving

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The programs of core/app/internal/e2e/hello, which its README shows, work as they are.
func TestHello(t *testing.T) {
	for name, run := range map[string]func(m *mesh) string{"Go": helloGo, "Python": helloPython} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := grpcMesh(t)
			m.serve(firstReplica)
			if got := run(m); got != "SERVING\n" {
				t.Errorf("the program prints %q", got)
			}
		})
	}
}

func helloGo(m *mesh) string {
	dir := m.t.TempDir()
	program, bootstrap := filepath.Join(dir, "hello"), filepath.Join(dir, "bootstrap.json")
	if output, err := exec.CommandContext(m.t.Context(), "go", "build", "-o", program, "../hello").CombinedOutput(); err != nil {
		m.t.Fatalf("%v\n%s", err, output)
	}
	if err := os.WriteFile(bootstrap, m.grpcBootstrap("client", firstReplica), 0o600); err != nil {
		m.t.Fatal(err)
	}
	hello := exec.CommandContext(m.t.Context(), program, greeterTarget)
	hello.Env = append(os.Environ(), "GRPC_XDS_BOOTSTRAP="+bootstrap)
	hello.Stderr = os.Stderr
	output, err := hello.Output()
	if err != nil {
		m.t.Error(err)
	}
	return string(output)
}

func helloPython(m *mesh) string {
	_, lines := m.startPython("client", firstReplica, "../hello/hello.py", greeterTarget)
	line, err := lines.ReadString('\n')
	if err != nil {
		m.t.Error(err)
	}
	return line
}
