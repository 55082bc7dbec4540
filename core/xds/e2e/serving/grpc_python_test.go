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

	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
)

// dialPython returns a client by gRPC of Python, which is C-core: it accepts other
// resources than grpc-go. Without the variable GRPCIO, the directory of its modules, the
// test is skipped; in CI, where CI=true, it fails.
func dialPython(m *mesh, server string) *greeters {
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
	if err := os.WriteFile(bootstrap, m.grpcBootstrap("client", server), 0o600); err != nil {
		m.t.Fatal(err)
	}
	client := exec.Command("python3", "grpc_client.py", greeterTarget)
	envoytest.EndWithParent(client)
	client.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1", "GRPC_XDS_BOOTSTRAP="+bootstrap, "GRPC_VERBOSITY=NONE")
	client.Stderr = os.Stderr
	requests, err := client.StdinPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	output, err := client.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = requests.Close()
		if err := client.Wait(); err != nil {
			m.t.Errorf("the client of Python: %v", err)
		}
	})
	answers := bufio.NewReader(output)
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
