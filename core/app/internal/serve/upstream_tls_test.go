package serve_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
)

// TestRelayRereadsTLS starts relays with a file that does not fit the upstream: its CA, or the
// own certificate, which another CA has signed. The log has the reason, and the relay connects
// once the file is replaced.
func TestRelayRereadsTLS(t *testing.T) {
	c := newCredentials(t)
	s := startReal(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity}, func(o *serve.Options) {
		o.TLS, o.State, o.Relays = c.files(), t.TempDir(), []string{relayID}
	})
	other, err := ca.Generate("other", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.Issue(relayID, time.Hour, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	right := c.relayFiles(relayID)
	for name, k := range map[string]struct {
		spoil  func(files *serve.TLSFiles)
		reason string // in the log
	}{
		"CA": {func(files *serve.TLSFiles) { c.write(filepath.Base(files.ClientCA), other.Bundle()) }, "certificate signed by unknown authority"},
		"certificate": {func(files *serve.TLSFiles) {
			c.write(filepath.Base(files.Certificate), foreign.Certificates)
			c.write(filepath.Base(files.Key), foreign.Key)
		}, "tls: certificate required"},
	} {
		t.Run(name, func(t *testing.T) {
			files := &serve.TLSFiles{}
			copies := map[*string]string{&files.Certificate: right.Certificate, &files.Key: right.Key, &files.ClientCA: right.ClientCA}
			restore := func() {
				for to, from := range copies {
					content, err := os.ReadFile(from)
					if err != nil {
						t.Fatal(err)
					}
					c.write(filepath.Base(*to), content)
				}
			}
			for to, from := range copies {
				*to = filepath.Join(c.dir, name+"-"+filepath.Base(from))
			}
			restore()
			k.spoil(files)
			log := &serve.LockedBuffer{}
			runRelay(t, serve.RelayOptions{
				Options:   serve.Options{TLS: c.files(), Logger: slog.New(slog.NewTextHandler(log, nil))},
				Upstreams: []string{s.XDSAddr().String()}, UpstreamTLS: files,
			})
			logs := func(text string) {
				t.Helper()
				s.eventually(text, func() bool { return strings.Contains(log.String(), text) })
			}
			logs(k.reason)
			restore()
			logs("the upstream is connected")
		})
	}
}
