package audit

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
)

func TestUnescapedID(t *testing.T) {
	for source, want := range map[string]string{
		`spiffe://shop.mesh/ns/web`:                      `spiffe://shop\.mesh/ns/web`,
		`^spiffe://shop\.mesh/ns/web$`:                   "",
		`spiffe://shop\.mesh/ns/.*`:                      "",
		`spiffe://shop.mesh/ns/[^/]+/sa/web`:             `spiffe://shop\.mesh/ns/`,
		`(?:\C*,)?spiffe://shop\.mesh/a(?:,\C*)?`:        "",
		`spiffe://shop\.mesh/ns/a.b|spiffe://x\.y/ns/.+`: `spiffe://shop\.mesh/ns/a\.b`,
		`.*/ns/web/.*`:                                   "",
	} {
		found := findingsOf("in", &rbac.Filters{Expressions: []rbac.Expression{{Filter: "f", Policy: "p", Source: source}}})
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: %+v", source, found)
		case want != "" && (len(found) != 1 || !strings.HasSuffix(found[0].Message, "write "+want) || found[0].Witness.SpiffeID == ""):
			t.Errorf("%s: %+v, want a finding", source, found)
		}
	}
}
