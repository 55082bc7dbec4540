package e2e

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/permission"
)

// certificateFor is the client's: for from it carries the tags, else it is an
// SVID.
func certificateFor(t testing.TB, a *authority, p *permission.Permissions, q *permission.Request) tls.Certificate {
	id := q.SpiffeID
	if id == "" {
		id = "spiffe://default/client"
	}
	uris := []string{id}
	if p.Clients != nil {
		for _, tag := range q.Tags {
			uris = append(uris, "kuma://"+tag.Key+"/"+tag.Value)
		}
	}
	return a.issue(t, uris...)
}

// send makes one request and reports whether it was let in. The error is of
// anything but a clear yes or no.
func send(port int, certificate tls.Certificate, protocol permission.Protocol, q *permission.Request) (bool, error) {
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: &tls.Config{
		Certificates: []tls.Certificate{certificate}, ServerName: q.SNI,
		InsecureSkipVerify: true, // the server is not what is tested
	}}
	connection, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return false, err
	}
	if protocol == permission.HTTP {
		return sendHTTP(connection, q)
	}
	return sendTCP(connection)
}

// sendHTTP writes the request by hand, as clients of the standard library
// would clean the path and the headers.
func sendHTTP(connection net.Conn, q *permission.Request) (bool, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: backend\r\nConnection: close\r\nContent-Length: 0\r\n", q.Method, q.Path)
	for _, h := range q.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", h.Name, h.Value)
	}
	if _, err := io.WriteString(connection, b.String()+"\r\n"); err != nil {
		return false, err
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return false, err
	case response.StatusCode == http.StatusOK && string(body) == letIn:
		return true, nil
	case response.StatusCode == http.StatusForbidden && string(body) == "RBAC: access denied":
		return false, nil
	}
	return false, fmt.Errorf("status %d, body %q", response.StatusCode, body)
}

// sendTCP is echoed where the connection is let in, and closed where not.
func sendTCP(connection net.Conn) (bool, error) {
	const ping = "ping"
	if _, err := io.WriteString(connection, ping); err != nil {
		return false, err
	}
	pong := make([]byte, len(ping))
	_, err := io.ReadFull(connection, pong)
	switch {
	case err == nil && string(pong) == ping:
		return true, nil
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return false, nil
	}
	return false, fmt.Errorf("read %q: %v", pong, err)
}
