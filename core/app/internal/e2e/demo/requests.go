package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// The clients of backend-1 besides web-1.
const legacyID = "spiffe://shop.mesh/ns/legacy/sa/report"

// show sends the requests of the demo.
func (d *demo) show() error {
	for _, x := range []struct {
		about, url, spiffeID string
		why                  func() (string, error)
	}{
		{about: "web-1 asks backend through its proxy, and the proxy of backend-1:",
			url: "http://127.10.0.11:10001/orders"},
		{about: "web-1 asks payments, which takes three seconds:",
			url: "http://127.10.0.11:10002/v1/info?delay=3s", why: d.whyTimeout},
		{about: "a client of the namespace legacy asks backend-1:",
			url: "https://127.10.0.21:8080/orders", spiffeID: legacyID, why: d.whyDenied},
	} {
		fmt.Fprintf(d.out, "\n%s\n$ curl %s%s\n", x.about, certificateFlags(x.spiffeID), x.url)
		answer, err := d.get(x.url, x.spiffeID)
		if err != nil {
			return err
		}
		fmt.Fprintln(d.out, answer)
		if x.why == nil {
			continue
		}
		why, err := x.why()
		if err != nil {
			return err
		}
		fmt.Fprintln(d.out, why)
	}
	return nil
}

func certificateFlags(spiffeID string) string {
	if spiffeID == "" {
		return ""
	}
	return "--cert legacy.pem --key legacy.key --cacert ca.pem "
}

// get returns the answer to a request of a client, with a certificate if it has a SPIFFE
// ID. It also returns after how many whole seconds the answer came, if not at once. A
// slow machine adds parts of one, and a timeout of Envoy may be early by a part of a
// millisecond.
func (d *demo) get(url, spiffeID string) (string, error) {
	transport := &http.Transport{}
	if spiffeID != "" {
		// What is shown is how the proxy verifies its client.
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{d.ca.Issue(fatal{}, spiffeID)}}
	}
	defer transport.CloseIdleConnections()
	begin := time.Now()
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get(url)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	answer := fmt.Sprintf("%d %s", response.StatusCode, strings.TrimSpace(string(body)))
	if took := (time.Since(begin) + 10*time.Millisecond).Truncate(time.Second); took > 0 {
		answer += fmt.Sprintf(" (after %s)", took)
	}
	return answer, err
}

// whyTimeout returns the policy that limits requests of web-1 to the route of payments.
func (d *demo) whyTimeout() (string, error) {
	web, err := dataplane(d.view, "web-1")
	if err != nil {
		return "", err
	}
	const field = "/http/requestTimeout"
	config, err := d.view.Config(web, "MeshTimeout", core.Enforced)
	if err != nil {
		return "", err
	}
	for _, o := range config.Outbounds {
		for _, r := range o.Routes {
			for pointer, origin := range r.Fields() {
				if pointer == field {
					return fmt.Sprintf("%s of %s is by item %d of %s", field, r.Route.KRI(), origin.Index, origin.Policy.KRI()), nil
				}
			}
		}
	}
	return "", fmt.Errorf("no route of web-1 has %s", field)
}

// whyDenied returns the entry that denies the client.
func (d *demo) whyDenied() (string, error) {
	backend, err := dataplane(d.view, "backend-1")
	if err != nil {
		return "", err
	}
	config, err := d.view.Config(backend, permission.KindName, core.Enforced)
	if err != nil {
		return "", err
	}
	permissions := permission.ForInbound(config, backend, 0)
	answer := permissions.Decide(&request.Request{SpiffeID: legacyID, Method: http.MethodGet, Path: "/orders"})
	if answer.Decision.Allow || answer.Decision.By == nil {
		return "", fmt.Errorf("backend-1 does not deny %s by an entry", legacyID)
	}
	by := answer.Decision.By
	return fmt.Sprintf("%s[%d] of rule %d of %s denies %s", by.List, by.Index, by.Rule, by.KRI, legacyID), nil
}
