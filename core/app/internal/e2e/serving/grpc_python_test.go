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
//
// While no call is in progress, C-core 1.62 to 1.78 reads its xDS stream once in an interval alone,
// one response after the other. The tests set this interval, which is 5 s, to 100 ms.
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
	python := exec.Command("python3", append([]string{script}, args...)...)
	python.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1", "GRPC_VERBOSITY=NONE",
		"GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS=100")
	return m.startPeer(dataplane, server, python)
}

// startPeer starts a process that is gRPC, with the bootstrap of a dataplane. It ends when its
// input is closed, at the end of the test.
func (m *mesh) startPeer(dataplane, server string, peer *exec.Cmd) (input io.Writer, output *bufio.Reader) {
	m.t.Helper()
	bootstrap := filepath.Join(m.t.TempDir(), "bootstrap.json")
	if err := os.WriteFile(bootstrap, m.grpcBootstrap(dataplane, server), 0o600); err != nil {
		m.t.Fatal(err)
	}
	envoytest.EndWithParent(peer)
	peer.Env = append(peer.Environ(), "GRPC_XDS_BOOTSTRAP="+bootstrap)
	peer.Stderr = os.Stderr
	stdin, err := peer.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	stdout, err := peer.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := peer.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = stdin.Close()
		if err := peer.Wait(); err != nil {
			m.t.Errorf("%s: %v", peer, err)
		}
	})
	return stdin, bufio.NewReader(stdout)
}

// dialPython returns a client by gRPC of Python.
func dialPython(m *mesh, server string) *greeters {
	m.t.Helper()
	return m.greetersOf(m.startPython("client", server, "grpc_client.py", greeterTarget))
}

// greetersOf returns a client that is a process: grpc_client.py, or one like it.
func (m *mesh) greetersOf(requests io.Writer, answers *bufio.Reader) *greeters {
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
	return m.waitServer(name, address, lines)
}

// waitServer waits until a server that is a process serves, and returns its address.
func (m *mesh) waitServer(name, address string, lines *bufio.Reader) string {
	m.t.Helper()
	if _, err := lines.ReadString('\n'); err != nil {
		m.t.Fatalf("%s does not serve: %v", name, err)
	}
	return address
}
