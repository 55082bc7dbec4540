package inspect

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
)

// prefixWarnings returns a warning for each entry that the proxies of Kuma compare with the
// client otherwise than this answer: its prefix begins the text of the SPIFFE ID, but is no
// prefix by segments.
func prefixWarnings(by semantics.Semantics, p *permission.Permissions, id string) (warnings []diag.Diagnostic) {
	if by == semantics.TargetRef || p.Rules == nil || id == "" {
		return nil
	}
	for _, e := range p.Rules.Entries() {
		m := e.Match.SpiffeID
		if m == nil || m.Type != conf.SpiffeIDPrefix || !strings.HasPrefix(id, m.Value) || request.IsBelow(request.TrimSlash(m.Value), id) {
			continue
		}
		warnings = append(warnings, diag.Diagnostic{
			Code: diag.PrefixOfText, Pos: e.Policy.Rules[e.Rule].Pos,
			Path: fmt.Sprintf("spec.rules[%d].default.%s[%d].spiffeId", e.Rule, e.List, e.Index),
			What: fmt.Sprintf("Kuma compares the prefix %s as text: there the entry also matches %s, which this answer does not match", m.Value, id),
			Hint: "write an entry of type Exact for each identity that is meant",
		})
	}
	return warnings
}
