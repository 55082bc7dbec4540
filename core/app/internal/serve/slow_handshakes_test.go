package serve_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
)

// recorded is a connection that keeps what is written.
type recorded struct {
	net.Conn
	written bytes.Buffer
}

func (c *recorded) Write(b []byte) (int, error) { return c.written.Write(b) }

// A client begins a TLS handshake and does not end it. Its connection to ADS and to HTTPS is
// closed in time, even if it goes on byte by byte.
func TestSlowHandshakes(t *testing.T) {
	for name, attack := range map[string]func(raw net.Conn, hello []byte){
		"nothing":                 func(net.Conn, []byte) {},
		"half of a message":       func(raw net.Conn, hello []byte) { _, _ = raw.Write(hello[:len(hello)/2]) },
		"the first message alone": func(raw net.Conn, hello []byte) { _, _ = raw.Write(hello) },
		"byte by byte": func(raw net.Conn, hello []byte) {
			for i := range hello {
				if _, err := raw.Write(hello[i : i+1]); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCredentials(t)
				r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.TLS = c.files() })
				hello := firstMessage(t, c)
				for address, within := range map[string]time.Duration{
					r.XDSAddr().String(): 20 * time.Second, r.HTTPAddr().String(): 10 * time.Second,
				} {
					raw, err := r.dial(t.Context(), address)
					if err != nil {
						t.Fatal(err)
					}
					begin, attacked := time.Now(), make(chan struct{})
					go func() {
						defer close(attacked)
						attack(raw, hello)
					}()
					_, _ = io.Copy(io.Discard, raw) // until the server closes it
					if took := time.Since(begin); took > within {
						t.Errorf("%s is closed after %v", address, took)
					}
					_ = raw.Close()
					<-attacked
				}
			})
		})
	}
}

// firstMessage returns the first message of a client in a TLS handshake.
func firstMessage(t *testing.T, c *credentialsOf) []byte {
	t.Helper()
	client, server := net.Pipe()
	_ = server.Close() // the handshake ends when it reads
	config := c.client(webID)
	config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
	first := &recorded{Conn: client}
	if err := tls.Client(first, config).HandshakeContext(t.Context()); err == nil || first.written.Len() == 0 {
		t.Fatalf("the client wrote %d bytes: %v", first.written.Len(), err)
	}
	return first.written.Bytes()
}

// A connection of HTTP/2 to the pages has a limited number of requests at a time.
func TestRequestsOfOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.TLS = c.files() })
		raw, err := r.dial(t.Context(), r.HTTPAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		config := c.client("")
		config.NextProtos, config.ServerName = []string{"h2"}, "127.0.0.1"
		conn := tls.Client(raw, config)
		defer conn.Close()
		if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
			t.Fatal(err)
		}
		framer := http2.NewFramer(conn, conn)
		if err := framer.WriteSettings(); err != nil {
			t.Fatal(err)
		}
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		settings, _ := frame.(*http2.SettingsFrame)
		if most, _ := settings.Value(http2.SettingMaxConcurrentStreams); most != 32 {
			t.Errorf("a connection may have %d requests at a time", most)
		}
	})
}
