package replicas

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// An etcd with TLS, certificates of clients and users is written and followed, even after
// a restart, which ends all sessions of users. Each refusal names its cause.
func TestTLSAndUsers(t *testing.T) {
	etcdtest.Binary(t)
	dir, foreign := t.TempDir(), t.TempDir()
	authority := envoytest.NewAuthority(t)
	authority.WriteHostFiles(t, dir, "127.0.0.1")
	authority.WriteFiles(t, dir, "client")
	envoytest.NewAuthority(t).WriteFiles(t, foreign, "client")
	file := func(name string) string { return filepath.Join(dir, name) }
	pool := x509.NewCertPool()
	pool.AddCert(authority.Certificate)
	server := etcdtest.StartTLS(t, file("127.0.0.1.pem"), file("127.0.0.1.key"), file("ca.pem"),
		&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{authority.Issue(t)}})
	server.Users("mesh/", []string{"reader"}, []string{"writer"})

	flags := func(ca, certificate, user string) []string {
		all := []string{"--store-ca", ca}
		if certificate != "" {
			all = append(all, "--store-cert", certificate+".pem", "--store-key", certificate+".key")
		}
		if user != "" {
			all = append(all, "--store-user", user)
		}
		return all
	}
	document := sourcetest.Dataplane("web", "10.0.0.1")
	apply := func(password string, flags []string) string {
		t.Helper()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command(self, append([]string{"apply", "-f", "-", "--to", server.URL("mesh")}, flags...)...)
		c.Env = append(os.Environ(), commandVariable+"=1", "MESHMATCH_STORE_PASSWORD="+password)
		c.Stdin = strings.NewReader(document.Universal())
		output, err := c.CombinedOutput()
		if failed := err != nil; failed == strings.Contains(string(output), "in revision") {
			t.Errorf("%v: %s", err, output)
		}
		return string(output)
	}
	for _, c := range []struct {
		name, password string
		flags          []string
		want           string
	}{
		{"another CA", "secret", flags(filepath.Join(foreign, "ca.pem"), file("client"), "writer"), "certificate signed by unknown authority"},
		{"no certificate", "secret", flags(file("ca.pem"), "", "writer"), "tls: certificate required"},
		{"a certificate of another CA", "secret", flags(file("ca.pem"), filepath.Join(foreign, "client"), "writer"), "tls: "},
		{"a wrong password", "wrong", flags(file("ca.pem"), file("client"), "writer"), "authentication failed"},
		{"no user", "", flags(file("ca.pem"), file("client"), ""), "give a user with a password"},
		{"a user who may only read", "secret", flags(file("ca.pem"), file("client"), "reader"), "permission denied; grant the user a role for keys with the prefix mesh/"},
		{"a user who may write", "secret", flags(file("ca.pem"), file("client"), "writer"), "1 change, in revision"},
	} {
		if got := apply(c.password, c.flags); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}

	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	r := newReplica(t, network, 0, []string{"MESHMATCH_STORE_PASSWORD=secret"}, append(flags(file("ca.pem"), file("client"), "reader"), "-f", server.URL("mesh"))...)
	r.ready()
	for range 2 {
		before := r.revision()
		server.Kill()
		eventually(t, "the loss is reported", func() bool { s := r.status(); return s != nil && !s.Store.Connected })
		server.Restart()
		document = sourcetest.Dataplane("web", "10.0.0."+string('2'+rune(before%7)))
		if got := apply("secret", flags(file("ca.pem"), file("client"), "writer")); !strings.Contains(got, "in revision") {
			t.Errorf("got %s", got)
		}
		eventually(t, "the change is served", func() bool { s := r.status(); return s != nil && s.Store.Connected && s.Store.Revision > before })
	}
}
