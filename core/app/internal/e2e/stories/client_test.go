package stories

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// patience is how long a client waits for an answer.
const patience = 10 * time.Second

// A call is a request of a client to an address of a story.
type call struct {
	method, path, host string
	header             http.Header
	tls                bool
	certificate        []string // the URI SANs of the client's certificate
	usage              envoytest.Usage
	other              bool // the certificate is of the other CA
	sni                string
	maxTLS             uint16
	http2              bool
	alpn               []string
	original           string // the destination before redirection
}

// An option changes a call.
type option func(*call)

func header(name, value string) option    { return func(c *call) { c.header.Add(name, value) } }
func method(name string) option           { return func(c *call) { c.method = name } }
func host(name string) option             { return func(c *call) { c.host = name } }
func sni(name string) option              { return func(c *call) { c.sni = name } }
func maxTLS(version uint16) option        { return func(c *call) { c.maxTLS = version } }
func byOtherCA(c *call)                   { c.other = true }
func overHTTP2(c *call)                   { c.http2 = true }
func offering(protocols ...string) option { return func(c *call) { c.alpn = protocols } }

// usage makes the client's certificate one for other purposes than a workload's.
func usage(key x509.KeyUsage, extended ...x509.ExtKeyUsage) option {
	return func(c *call) { c.usage = envoytest.Usage{Key: key, Extended: extended} }
}

// as makes the client present a certificate of the mesh's CA with the URI SANs.
func as(uris ...string) option { return func(c *call) { c.tls, c.certificate = true, uris } }

// A reply is what a client got for a call.
type reply struct {
	status  int
	header  http.Header
	body    string
	elapsed time.Duration
	err     error
}

// String returns the status and the workload that answered, or "closed" if there was
// no answer.
func (r reply) String() string {
	if r.err != nil {
		return "closed"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.status, r.header.Get("x-app")))
}

// get returns a step that sends one request to ADDRESS/PATH.
func get(url string, options ...option) func(*world) string {
	return func(w *world) string { return w.get(url, options...).String() }
}

// status is get, without the workload that answered.
func status(url string, options ...option) func(*world) string {
	return func(w *world) string {
		status, _, _ := strings.Cut(w.get(url, options...).String(), " ")
		return status
	}
}

// get sends a request to ADDRESS/PATH over a connection of its own.
func (w *world) get(url string, options ...option) reply {
	address, path, _ := strings.Cut(url, "/")
	c := &call{usage: envoytest.Workload, method: http.MethodGet, path: "/" + path, header: http.Header{}}
	for _, o := range options {
		o(c)
	}
	request, err := http.NewRequest(c.method, "http://"+w.local(address)+c.path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	request.Header, request.Host = c.header, c.host
	transport := w.transport(c)
	defer transport.CloseIdleConnections()
	begin := time.Now()
	response, err := (&http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}).Do(request)
	if err != nil {
		return reply{err: err, elapsed: time.Since(begin)}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, string(body), time.Since(begin), err}
}

// transport returns a transport for one call. The scheme of the URL is http also where
// the connection is over TLS.
func (w *world) transport(c *call) *http.Transport {
	t := &http.Transport{Protocols: new(http.Protocols), DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
		return w.dial(address, c)
	}}
	t.Protocols.SetHTTP1(!c.http2)
	t.Protocols.SetUnencryptedHTTP2(c.http2)
	return t
}

// dial connects to an address of the run.
func (w *world) dial(address string, c *call) (net.Conn, error) {
	connection, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	if c.original != "" {
		err = writeProxyLine(connection, w.local(c.original))
	}
	if err == nil && c.tls {
		connection, err = w.handshake(connection, c)
	}
	if err != nil {
		_ = connection.Close()
		return nil, err
	}
	return connection, nil
}

// handshake begins TLS with the client's certificate. The proxy's certificate is not
// verified.
func (w *world) handshake(connection net.Conn, c *call) (net.Conn, error) {
	ca := w.ca
	if c.other {
		ca = w.other
	}
	config := &tls.Config{
		InsecureSkipVerify: true, ServerName: c.sni, MinVersion: tls.VersionTLS10, MaxVersion: c.maxTLS,
		Certificates: []tls.Certificate{ca.IssueFor(w.t, c.usage, c.certificate...)},
	}
	if c.http2 {
		config.NextProtos = []string{"h2"}
	}
	config.NextProtos = append(config.NextProtos, c.alpn...)
	client := tls.Client(connection, config)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return client, client.HandshakeContext(ctx)
}

// line returns a step that sends a line to a TCP service and returns the line that it
// answers; "closed" if the connection ends before, "silence" if nothing comes.
func line(address string, options ...option) func(*world) string {
	return func(w *world) string {
		connection, err := w.connect(address, options...)
		if err != nil {
			return "closed"
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, "ping\n"); err != nil {
			return "closed"
		}
		return readLine(connection, patience)
	}
}

// connect connects to an address of a story.
func (w *world) connect(address string, options ...option) (net.Conn, error) {
	c := &call{usage: envoytest.Workload, header: http.Header{}}
	for _, o := range options {
		o(c)
	}
	return w.dial(w.local(address), c)
}

func readLine(connection net.Conn, wait time.Duration) string {
	if err := connection.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return err.Error()
	}
	text, err := bufio.NewReader(connection).ReadString('\n')
	var timeout net.Error
	switch {
	case err == nil:
		return strings.TrimSuffix(text, "\n")
	case errors.As(err, &timeout) && timeout.Timeout():
		return "silence"
	}
	return "closed"
}

// each repeats a step and returns its different results, sorted.
func each(times int, do func(*world) string) func(*world) string {
	return func(w *world) string {
		var seen []string
		for range times {
			if got := do(w); !slices.Contains(seen, got) {
				seen = append(seen, got)
			}
		}
		slices.Sort(seen)
		return strings.Join(seen, ", ")
	}
}

// inOrder returns the results of several steps.
func inOrder(do ...func(*world) string) func(*world) string {
	return func(w *world) string {
		var seen []string
		for _, f := range do {
			seen = append(seen, f(w))
		}
		return strings.Join(seen, ", ")
	}
}
