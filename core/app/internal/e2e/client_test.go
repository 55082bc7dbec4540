package e2e

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// transport is how a client sends a request.
type transport string

const (
	tcp      transport = "TCP"
	http1    transport = "HTTP/1.1"
	http2Raw transport = "HTTP/2"
)

// outcome is what a client gets.
type outcome struct {
	allowed bool
	refused bool   // the connection manager refuses the request before the filter
	path    string // as the workload would get it, with the query
}

// send makes one request. The error reports anything that is not a clear answer.
func send(port int, certificate tls.Certificate, how transport, c *permissiontest.Call) (outcome, error) {
	config := &tls.Config{
		// Package tls would not send a certificate that it cannot parse.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil },
		ServerName:           c.SNI, InsecureSkipVerify: true, // the server is not what is tested
	}
	if how == http2Raw {
		config.NextProtos = []string{"h2"}
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 10 * time.Second}, Config: config}
	return sendBy(dialer, port, how, c)
}

// sendPlain makes one request without TLS.
func sendPlain(port int, how transport, c *permissiontest.Call) (outcome, error) {
	return sendBy(&net.Dialer{Timeout: 10 * time.Second}, port, how, c)
}

func sendBy(dialer interface {
	Dial(network, address string) (net.Conn, error)
}, port int, how transport, c *permissiontest.Call) (outcome, error) {
	connection, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return outcome{}, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return outcome{}, err
	}
	switch how {
	case http1:
		return sendHTTP1(connection, c)
	case http2Raw:
		return sendHTTP2(connection, c)
	}
	return sendTCP(connection)
}

// sendHTTP1 writes the request by hand: clients of the standard library clean
// the path and the headers.
func sendHTTP1(connection net.Conn, c *permissiontest.Call) (outcome, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n", c.Method, c.Path)
	for _, line := range c.Lines {
		fmt.Fprintf(&b, "%s: %s\r\n", line.Name, line.Value)
	}
	if _, err := io.WriteString(connection, b.String()+"\r\n"); err != nil {
		return outcome{}, err
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return outcome{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return outcome{}, err
	}
	return read(response.StatusCode, response.Header.Get(pathHeader), string(body))
}

// sendHTTP2 sends a request with raw bytes in the path.
func sendHTTP2(connection net.Conn, c *permissiontest.Call) (outcome, error) {
	fields, body, err := exchangeHTTP2(connection, c)
	if err != nil {
		return outcome{}, err
	}
	status, err := strconv.Atoi(fields[":status"])
	if err != nil {
		return outcome{}, err
	}
	return read(status, fields[pathHeader], body)
}

// exchangeHTTP2 writes the frames of a request by hand, with further header
// fields, and returns the header fields of the response and its body.
func exchangeHTTP2(connection net.Conn, c *permissiontest.Call, further ...hpack.HeaderField) (fields map[string]string, body string, err error) {
	block, err := headerBlock(c, further)
	if err != nil {
		return nil, "", err
	}
	if _, err := io.WriteString(connection, http2.ClientPreface); err != nil {
		return nil, "", err
	}
	framer := http2.NewFramer(connection, connection)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := errors.Join(framer.WriteSettings(), framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block, EndStream: true, EndHeaders: true,
	})); err != nil {
		return nil, "", err
	}
	fields = map[string]string{}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return nil, "", err
		}
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			for _, f := range frame.Fields {
				fields[f.Name] = f.Value
			}
		case *http2.DataFrame:
			body += string(frame.Data())
		case *http2.RSTStreamFrame:
			return nil, "", fmt.Errorf("the stream was reset: %s", frame.ErrCode)
		case *http2.GoAwayFrame:
			return nil, "", fmt.Errorf("go away: %s", frame.ErrCode)
		}
		if h := frame.Header(); h.StreamID == 1 && h.Flags.Has(http2.FlagDataEndStream) {
			return fields, body, nil
		}
	}
}

// headerBlock returns the header fields of a request: the pseudo-headers first.
// Values have no blanks around them in HTTP/2 (RFC 9113, 8.2.1). If a client sends
// some, Envoy does not remove them from each line: an entry that allows may not
// match then.
func headerBlock(c *permissiontest.Call, further []hpack.HeaderField) ([]byte, error) {
	pseudo := []hpack.HeaderField{{Name: ":method", Value: c.Method}, {Name: ":scheme", Value: "https"}, {Name: ":path", Value: c.Path}}
	for _, line := range c.Lines {
		if name := strings.ToLower(line.Name); name == "host" {
			pseudo = append(pseudo, hpack.HeaderField{Name: ":authority", Value: line.Value})
		} else {
			further = append(further, hpack.HeaderField{Name: name, Value: strings.Trim(line.Value, " \t")})
		}
	}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range append(pseudo, further...) {
		if err := encoder.WriteField(f); err != nil {
			return nil, err
		}
	}
	return block.Bytes(), nil
}

func read(status int, path, body string) (outcome, error) {
	switch {
	case status == http.StatusOK && body == allowedBody:
		return outcome{allowed: true, path: path}, nil
	case status == http.StatusForbidden && body == "RBAC: access denied":
		return outcome{}, nil
	case status == http.StatusBadRequest:
		return outcome{refused: true}, nil
	}
	return outcome{}, fmt.Errorf("status %d, body %q", status, body)
}

// sendTCP gets an echo if the connection is allowed; otherwise the connection is closed.
func sendTCP(connection net.Conn) (outcome, error) {
	const ping = "ping"
	if _, err := io.WriteString(connection, ping); err != nil {
		return outcome{}, err
	}
	pong := make([]byte, len(ping))
	_, err := io.ReadFull(connection, pong)
	switch {
	case err == nil && string(pong) == ping:
		return outcome{allowed: true}, nil
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return outcome{}, nil
	}
	return outcome{}, fmt.Errorf("read %q: %v", pong, err)
}

// transportOf returns how to send a request to an inbound: an HTTP/1 request line
// has no bytes beyond ASCII.
func transportOf(protocol request.Protocol, c *permissiontest.Call, n int) transport {
	switch {
	case protocol == request.TCP:
		return tcp
	case n%2 == 0 || strings.ContainsFunc(c.Path, func(r rune) bool { return r > 0x7f }):
		return http2Raw
	}
	return http1
}

// seenBy returns the request as Envoy sees it: HTTP/1 joins the lines of cookie
// by commas, too (SPEC 7.2).
func seenBy(how transport, c *permissiontest.Call) *request.Request {
	joined := *c
	if how != http1 { // empty cookie lines in front of the others are dropped
		met := false
		joined.Lines = slices.DeleteFunc(slices.Clone(c.Lines), func(line request.Header) bool {
			if !strings.EqualFold(line.Name, "cookie") {
				return false
			}
			met = met || strings.Trim(line.Value, " \t") != ""
			return !met
		})
		return joined.Request()
	}
	joined.Lines = nil
	var cookies []string
	for _, line := range c.Lines {
		if strings.EqualFold(line.Name, "cookie") {
			cookies = append(cookies, strings.Trim(line.Value, " \t"))
		} else {
			joined.Lines = append(joined.Lines, line)
		}
	}
	if len(cookies) > 0 {
		joined.Lines = append(joined.Lines, request.Header{Name: "cookie", Value: strings.Join(cookies, ",")})
	}
	return joined.Request()
}
