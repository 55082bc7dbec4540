package serve_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestOperators checks what each identity and each token may read (SPEC 12.1).
func TestOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = "0123456789abcdef"
		tokenFile := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(tokenFile, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity}, func(o *serve.Options) {
			o.TLS, o.State = c.files(), t.TempDir()
			o.Operators, o.OperatorToken = []string{"spiffe://ops.local/team"}, tokenFile
		})
		for _, k := range []struct {
			path, id, token string
			want            int
		}{
			{"/healthz", "", "", http.StatusOK},
			{"/meshes", "", "", http.StatusUnauthorized},
			{"/meshes", "", token, http.StatusOK},
			{"/meshes", "", token + "x", http.StatusUnauthorized},
			{"/meshes", "spiffe://ops.local/team", "", http.StatusOK},
			{"/meshes", "spiffe://ops.local/team/ada", "", http.StatusOK},
			{"/metrics", "spiffe://ops.local/team/ada", "", http.StatusOK},
			{"/meshes", "spiffe://ops.local/teams", "", http.StatusUnauthorized},
			{"/meshes", "spiffe://ops.local/other", "", http.StatusUnauthorized},
			{"/meshes", webID, "", http.StatusUnauthorized},
			{"/metrics", webID, "", http.StatusUnauthorized},
			{"/converged", webID, "", http.StatusUnauthorized},
			{"/dataplanes/" + webNode + "/status", webID, "", http.StatusOK},
			{"/dataplanes/" + apiNode + "/status", webID, "", http.StatusUnauthorized},
			{"/meshes/default/dataplanes/web/_rules", webID, "", http.StatusOK},
			{"/meshes/default/dataplanes/web/_rules?namespace=", webID, "", http.StatusOK},
			{"/meshes/default/dataplanes/api/_rules", webID, "", http.StatusUnauthorized},
			{"/meshes/default/dataplanes/web/../api/_rules", webID, "", http.StatusUnauthorized},
			{"/meshes/default/dataplanes/web%2F..%2Fapi/_rules", webID, "", http.StatusUnauthorized},
			{"/meshes/default/dataplanes/web", webID, "", http.StatusOK},
			{"/meshes/default/dataplanes/api", webID, "", http.StatusUnauthorized},
			{"/", webID, "", http.StatusUnauthorized},
			{"/events?path=/", webID, "", http.StatusUnauthorized},
			{"/findings", webID, "", http.StatusUnauthorized},
			{"/", "", token, http.StatusOK},
			{"/assets/style.css", "", "", http.StatusOK},
			{"/meshes/default/meshtimeouts/web/_dataplanes", webID, "", http.StatusUnauthorized},
			{"/meshes/default/_diff", webID, "", http.StatusUnauthorized},
		} {
			client := http.Client{Transport: r.transport(c.client(k.id))}
			request, err := http.NewRequest(http.MethodGet, "https://"+r.HTTPAddr().String()+k.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if k.token != "" {
				request.Header.Set("Authorization", "Bearer "+k.token)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			response.Body.Close()
			client.CloseIdleConnections()
			if response.StatusCode != k.want {
				t.Errorf("%s as %q with token %q: got %d, want %d: %s", k.path, k.id, k.token, response.StatusCode, k.want, body)
			}
		}
	})
}

// TestLogin logs in with the token, and uses the cookie.
func TestLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const token = "0123456789abcdef"
		tokenFile := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(tokenFile, []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.OperatorToken = tokenFile })
		site := "http://" + r.HTTPAddr().String()
		client := http.Client{Transport: r.transport(nil), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		ask := func(method, path, cookie string, form url.Values, status int) *http.Response {
			t.Helper()
			request, err := http.NewRequest(method, site+path, strings.NewReader(form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			if form != nil {
				request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			request.Header.Set("Accept", "text/html")
			if cookie != "" {
				request.Header.Set("Cookie", cookie)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != status {
				t.Errorf("%s %s: got %d, want %d", method, path, response.StatusCode, status)
			}
			return response
		}
		if to := ask("GET", "/meshes", "", nil, http.StatusSeeOther).Header.Get("Location"); to != "/login?next=%2Fmeshes" {
			t.Errorf("without a cookie the client is sent to %q", to)
		}
		ask("GET", "/login", "", nil, http.StatusOK)
		ask("POST", "/login", "", url.Values{"token": {"wrong"}}, http.StatusUnauthorized)
		ask("POST", "/login", "", url.Values{"token": {strings.Repeat("x", 1<<20)}}, http.StatusUnauthorized)
		cookie := ask("POST", "/login", "", url.Values{"token": {token}}, http.StatusSeeOther).Header.Get("Set-Cookie")
		for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("the cookie is %s, without %s", cookie, part)
			}
		}
		for next, want := range map[string]string{
			"/meshes/default/policies?kind=mt": "/meshes/default/policies?kind=mt",
			"":                                 "/",
			"https://elsewhere/":               "/",
			"//elsewhere/":                     "/",
			"/\\elsewhere/":                    "/",
			"/\t/elsewhere/":                   "/",
		} {
			if to := ask("POST", "/login", "", url.Values{"token": {token}, "next": {next}}, http.StatusSeeOther).Header.Get("Location"); to != want {
				t.Errorf("the login for %q leads to %q", next, to)
			}
		}
		value, _, _ := strings.Cut(cookie, ";")
		ask("GET", "/meshes", value, nil, http.StatusOK)
		time.Sleep(time.Second)
		for i := range 2 * 100 { // wrong tokens of one address in a second
			status := http.StatusUnauthorized
			if i >= 100 {
				status = http.StatusTooManyRequests
			}
			ask("POST", "/login", "", url.Values{"token": {"wrong"}}, status)
		}
		ask("POST", "/login", "", url.Values{"token": {token}}, http.StatusTooManyRequests)
		time.Sleep(time.Second)
		ask("POST", "/login", "", url.Values{"token": {token}}, http.StatusSeeOther)
		ask("GET", "/meshes", value+"0", nil, http.StatusSeeOther)
		ask("GET", "/meshes", "meshmatch-session=99999999999.00", nil, http.StatusSeeOther)

		// A new token ends the sessions of the previous one.
		if err := os.WriteFile(tokenFile, []byte("another token of operators"), 0o600); err != nil {
			t.Fatal(err)
		}
		r.eventually("end of the session", func() bool {
			request, _ := http.NewRequest("GET", site+"/meshes", nil)
			request.Header.Set("Cookie", value)
			response, err := client.Do(request)
			if err != nil {
				return false
			}
			response.Body.Close()
			return response.StatusCode == http.StatusUnauthorized
		})
	})
}

// TestHosts sends the Host headers of a browser with a page of another site.
func TestHosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.HTTPHosts = []string{"mesh.internal"} })
		for host, want := range map[string]int{
			"localhost": 200, "localhost:80": 200, "LOCALHOST": 200, "localhost.": 200, "127.0.0.1": 200, "127.0.0.1:80": 200,
			"[::1]": 200, "[::1]:80": 200, "mesh.internal": 200, "mesh.internal:5681": 200,
			"example.com": 421, "example.com:80": 421, "[example.com]": 421, "localhost.example.com": 421, "[127.0.0.1]": 421, "mesh.internal.example.com": 421, "127.0.0.1.example.com": 421,
		} {
			conn, err := r.dial(t.Context(), r.HTTPAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "GET /meshes HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			conn.Close()
			if response.StatusCode != want {
				t.Errorf("Host: %s: got %d, want %d", host, response.StatusCode, want)
			}
		}
	})
}

// TestIdleConnections opens more connections than the server admits. They send nothing, or
// only the beginning of a request. The health listener answers all the time, and the HTTP
// listener answers after the deadlines.
func TestIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.Health = "127.0.0.1:0" })
		for i := range 1100 {
			conn, err := r.dial(t.Context(), r.HTTPAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if i%2 == 0 {
				_, _ = io.WriteString(conn, "GET /meshes HTTP/1.1\r\nHost: local")
			}
		}
		client := http.Client{Transport: r.transport(nil)}
		defer client.CloseIdleConnections()
		response, err := client.Get("http://" + r.HealthAddr().String() + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("/readyz: got %d", response.StatusCode)
		}
		if response, err = client.Get("http://" + r.HealthAddr().String() + "/meshes"); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("the listener of health answers /meshes with %d", response.StatusCode)
		}
		answers := func() bool { status, _, err := r.get("/healthz", nil); return err == nil && status == http.StatusOK }
		if answers() {
			t.Error("/healthz answers before the deadlines")
		}
		time.Sleep(5 * time.Second)
		if !answers() {
			t.Error("/healthz does not answer after the deadlines of 5 s")
		}
	})
}

// TestPageOfReplacedFile: the page of a policy whose file has become a FIFO shows what is in
// effect. It does not wait for a writer, because other pages would wait with it.
func TestPageOfReplacedFile(t *testing.T) {
	const policy = "# from the file\n{type: MeshTimeout, name: slow, spec: {to: [{default: {idleTimeout: 7s}}]}}\n"
	r := startReal(t, map[string]string{"mesh.yaml": mesh, "policy.yaml": policy})
	const path = "/meshes/default/policies/MeshTimeout/slow"
	r.expect(path, http.StatusOK, "# from the file")
	file := filepath.Join(r.dir, "policy.yaml")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
	r.expect(path, http.StatusOK, "idleTimeout")

	// A link is followed only in the directory, even to the same policy.
	outside := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(outside, []byte(strings.Replace(policy, "the file", "elsewhere", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"a link", "a link to a link", "a relative link"} {
		target := outside
		switch way {
		case "a link to a link":
			target = filepath.Join(r.dir, "link")
			if err := os.Symlink(outside, target); err != nil {
				t.Fatal(err)
			}
			target = "link"
		case "a relative link":
			var err error
			if target, err = filepath.Rel(r.dir, outside); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, file); err != nil {
			t.Fatal(err)
		}
		if _, body, _ := r.get(path, nil); strings.Contains(body, "from elsewhere") || !strings.Contains(body, "idleTimeout") {
			t.Errorf("%s: the page has the text of a file elsewhere", way)
		}
	}
}

// A path below a mesh that does not exist answers a browser with a page, and a program with
// JSON.
func TestUnknownPaths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		client := http.Client{Transport: r.transport(nil)}
		defer client.CloseIdleConnections()
		for _, path := range []string{"/meshes/default/nope", "/meshes/default/a/b/c", "/meshes/default/dataplanes/web/nope", "/meshes/other/nope", "/nope", "/meshes/default/dataplanes/nope"} {
			for accept, want := range map[string]string{"text/html,*/*;q=0.8": "text/html", "application/json": "application/problem+json"} {
				if accept == "application/json" && (path == "/nope" || strings.HasSuffix(path, "dataplanes/nope")) {
					continue // a page for everyone
				}
				request, err := http.NewRequest("GET", "http://"+r.HTTPAddr().String()+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Header.Set("Accept", accept)
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusNotFound || !strings.HasPrefix(got, want) {
					t.Errorf("%s for %s: %d, %s", path, accept, response.StatusCode, got)
				}
			}
		}
	})
}

// TestEndWaitsForAnswers ends the server while a request waits. When Run has returned, the
// answer has been sent.
func TestEndWaitsForAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		web := r.client(webNode, nil)
		if err := web.Wildcard(wire.ClusterType); err != nil { // without listeners it does not converge soon
			t.Fatal(err)
		}
		synctest.Wait()
		var answer string
		go func() {
			status, body, err := r.get("/converged?timeout=5m", nil)
			answer = fmt.Sprint(status, err, body)
		}()
		if !r.settles(func() bool { return answer == "" }) {
			t.Fatalf("it does not wait: %q", answer)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if !r.settles(func() bool { return strings.HasPrefix(answer, "200 <nil>") && strings.Contains(answer, `"of": 2`) }) {
			t.Errorf("the answer is %q", answer)
		}
	})
}

// TestEqualTrustDomains gives two meshes the same trust domain and a dataplane of the same
// name. A client with the certificate of one gets no resources of either.
func TestEqualTrustDomains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		const id = "spiffe://shared.local/web"
		document := func(mesh string) string {
			return fmt.Sprintf(`
type: MeshIdentity
mesh: %s
name: own
spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: shared.local, path: "/web"}, provider: {type: Spire, spire: {}}}
---
type: Dataplane
mesh: %s
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
`, mesh, mesh)
		}
		r := start(t, map[string]string{"a.yaml": document("one"), "b.yaml": document("two")}, func(o *serve.Options) { o.TLS = c.files() })
		r.eventually("warning", func() bool {
			return strings.Count(r.log.String(), `conflict: the trust domain \"shared.local\" is also the trust domain of mesh`) == 2
		})
		path := "/dataplanes/kri_dp_one___web_/status"
		if status, _, err := r.get(path, c.client(id)); err != nil || status != http.StatusForbidden {
			t.Errorf("with two meshes: %d, %v", status, err)
		}
		checkServed(t, r, c.client(id), "kri_dp_one___web_", false)
		checkServed(t, r, c.client(id), "kri_dp_two___web_", false)

		// When the other mesh gives up the trust domain, the dataplane is served.
		r.write("b.yaml", strings.ReplaceAll(document("two"), "shared.local", "two.local"))
		checkServed(t, r, c.client(id), "kri_dp_one___web_", true)
		checkServed(t, r, c.client(id), "kri_dp_two___web_", false)
		if status, body, err := r.get(path, c.client(id)); err != nil || status != http.StatusOK {
			t.Errorf("with its own trust domain: %d, %v: %s", status, err, body)
		}
	})
}

// checkServed checks whether a client gets the listeners of a node.
func checkServed(t *testing.T, r *running, config *tls.Config, node string, want bool) {
	t.Helper()
	client := r.client(node, config)
	if err := client.Wildcard(wire.ListenerType); err != nil {
		t.Fatal(err)
	}
	if want {
		r.eventually("listeners of "+node, holds(client, wire.ListenerType))
		return
	}
	r.eventually("refusal of "+node, func() bool { _, refused := client.Error(wire.ListenerType, "*"); return refused })
	if holds(client, wire.ListenerType)() {
		t.Errorf("%s is served", node)
	}
}
