package stories

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// A tcpApp is a workload that answers each line by "NAME: LINE", and a client that begins
// with TLS by "NAME by TLS: LINE".
type tcpApp struct {
	name        string
	greeting    string
	listener    net.Listener
	certificate tls.Certificate
	connections atomic.Int64
	mu          sync.Mutex
	open        map[net.Conn]bool
}

// newTCPApp starts a workload at an address until it is closed. A greeting that is not
// empty is sent to each client before its first byte.
func newTCPApp(name, address, greeting string, certificate tls.Certificate) (*tcpApp, error) {
	listener, err := envoytest.Listen(address)
	if err != nil {
		return nil, err
	}
	a := &tcpApp{name: name, greeting: greeting, listener: listener, certificate: certificate, open: map[net.Conn]bool{}}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			a.connections.Add(1)
			a.track(connection, true)
			go a.serve(connection)
		}
	}()
	return a, nil
}

// Close stops the workload; its connections end.
func (a *tcpApp) Close() error {
	err := a.listener.Close()
	a.mu.Lock()
	defer a.mu.Unlock()
	for c := range a.open {
		_ = c.Close()
	}
	return err
}

// Connections returns how many connections there were.
func (a *tcpApp) Connections() int { return int(a.connections.Load()) }

func (a *tcpApp) track(c net.Conn, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if open {
		a.open[c] = true
	} else {
		delete(a.open, c)
	}
}

func (a *tcpApp) serve(c net.Conn) {
	defer c.Close()
	defer a.track(c, false)
	if _, err := fmt.Fprint(c, a.greeting); err != nil {
		return
	}
	reader, name := bufio.NewReader(c), a.name
	var answers net.Conn = c
	if first, err := reader.Peek(1); err == nil && first[0] == handshakeRecord {
		answers = tls.Server(peeked{c, reader}, &tls.Config{Certificates: []tls.Certificate{a.certificate}})
		reader, name = bufio.NewReader(answers), a.name+" by TLS"
	}
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		if _, err := fmt.Fprintf(answers, "%s: %s\n", name, lines.Text()); err != nil {
			return
		}
	}
}

// handshakeRecord is the first byte of TLS (RFC 8446, 5.1).
const handshakeRecord = 22

// peeked is a connection with a reader that has read ahead.
type peeked struct {
	net.Conn
	reader *bufio.Reader
}

func (p peeked) Read(b []byte) (int, error) { return p.reader.Read(b) }
