package e2e

import (
	"regexp"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Envoy accepts these bytes in an authority and refuses requests with any other; over
// HTTP/2 it also refuses an @. Package access answers only for authorities of these bytes.
func TestEnvoyRefusesAuthorities(t *testing.T) {
	envoytest.Path(t)
	taken := regexp.MustCompile(`^[!$-.0-;=@-Z\[\]_a-z~]$`)
	ca := envoytest.NewAuthority(t)
	closed := &permission.Permissions{Protocol: request.HTTP}
	e := startEnvoy(t, []object{listenerOf(t, ca, "closed", closed, printed(t, closed, formsOf(t)[0].form, "closed."), false)})
	certificate := ca.Issue(t, "spiffe://shop.mesh/a")
	each(256, func(b int) {
		if b == '\r' || b == '\n' {
			return // they end the line
		}
		for _, how := range []transport{http1, http2Raw} {
			if how == http2Raw && (b < ' ' || b > 0x80) {
				continue // Envoy waits for a second before it closes such a connection
			}
			want := taken.MatchString(string(rune(b))) && (b != '@' || how == http1)
			c := &permissiontest.Call{Method: "GET", Path: "/", Lines: []request.Header{{Name: "host", Value: "a" + string([]byte{byte(b)}) + "b"}}}
			got, err := send(e.ports["closed"], certificate, how, c)
			if taken := err == nil && !got.refused; taken != want { // then the filter denies it
				t.Errorf("%q by %s: taken %v, want %v: %v", rune(b), how, taken, want, err)
			}
		}
	})
}
