package serving

import (
	"os"
	"os/exec"
)

// otherGo is a program of testdata/peer with another release of grpc-go than the one that is
// required here. make grpc-versions builds such programs.
var otherGo = os.Getenv("GRPC_GO")

// dialOtherGo returns a client by another release of grpc-go.
func dialOtherGo(m *mesh, server string) *greeters {
	m.t.Helper()
	return m.greetersOf(m.startPeer("client", server, exec.Command(otherGo, "client", greeterTarget)))
}

// startOtherGo is startServer by another release of grpc-go.
func (m *mesh) startOtherGo(server, name, address string) string {
	m.t.Helper()
	address = m.network.Replace(address)
	_, lines := m.startPeer(name, server, exec.Command(otherGo, "server", address, name))
	return m.waitServer(name, address, lines)
}
