package serving

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// startPython starts a script by gRPC of Python, which is C-core: it accepts other
// resources than grpc-go. It has the bootstrap of a dataplane. It ends when its input is
// closed, at the end of the test. Without the variable GRPCIO, the directory of its
// modules, the test is skipped; in CI, where CI=true, it fails.
func (m *mesh) startPython(dataplane, server, script string, args ...string) (input io.Writer, output *bufio.Reader) {
	m.t.Helper()
	modules := os.Getenv("GRPCIO")
	switch {
	case modules != "":
	case os.Getenv("CI") == "true":
		m.t.Fatal("GRPCIO is not set; run make e2e")
	default:
		m.t.Skip("GRPCIO is not set; make e2e fetches gRPC of Python and runs this test")
	}
	bootstrap := filepath.Join(m.t.TempDir(), "bootstrap.json")
	if err := os.WriteFile(bootstrap, m.grpcBootstrap(dataplane, server), 0o600); err != nil {
		m.t.Fatal(err)
	}
	python := exec.Command("python3", append([]string{script}, args...)...)
	envoytest.EndWithParent(python)
	python.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1", "GRPC_XDS_BOOTSTRAP="+bootstrap, "GRPC_VERBOSITY=NONE")
	python.Stderr = os.Stderr
	stdin, err := python.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	stdout, err := python.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := python.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = stdin.Close()
		if err := python.Wait(); err != nil {
			m.t.Errorf("%s: %v", script, err)
		}
	})
	return stdin, bufio.NewReader(stdout)
}

// dialPython returns a client by gRPC of Python.
func dialPython(m *mesh, server string) *greeters {
	m.t.Helper()
	requests, answers := m.startPython("client", server, "grpc_client.py", greeterTarget)
	return &greeters{m.t, func(service string) (string, error) {
		if _, err := io.WriteString(requests, service+"\n"); err != nil {
			m.t.Fatal(err)
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			m.t.Fatal(err)
		}
		return parseAnswer(strings.TrimSuffix(answer, "\n"))
	}}
}

// parseAnswer returns the workload of an answer of grpc_client.py, or its status.
func parseAnswer(answer string) (app string, err error) {
	failed, found := strings.CutPrefix(answer, "! ")
	if !found {
		return answer, nil
	}
	name, details, _ := strings.Cut(failed, " ")
	var code codes.Code
	if err := code.UnmarshalJSON(fmt.Appendf(nil, "%q", name)); err != nil {
		return "", err
	}
	return "", status.Error(code, details)
}

// startPythonServer is startServer by gRPC of Python.
func (m *mesh) startPythonServer(server, name, address string) string {
	m.t.Helper()
	address = m.network.Replace(address)
	_, lines := m.startPython(name, server, "grpc_server.py", address, name)
	if _, err := lines.ReadString('\n'); err != nil {
		m.t.Fatalf("%s does not serve: %v", name, err)
	}
	return address
}
