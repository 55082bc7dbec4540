package rbac

import (
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
)

func exactID(id string) conf.Match {
	return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDExact, Value: id}}
}

func underID(id string) conf.Match {
	return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: id}}
}

func named(m conf.Match, name string) conf.Match {
	sni := conf.SNI(name)
	m.SNI = &sni
	return m
}

// A handshake accepts what is allowed and not denied. What it cannot express it refuses
// (SPEC 7.5b).
func TestHandshake(t *testing.T) {
	for name, c := range map[string]struct {
		rule    meshtrafficpermission.RuleConf
		accept  []string
		refused []string // reasons
	}{
		"allowed": {
			rule:   meshtrafficpermission.RuleConf{Allow: []conf.Match{exactID("spiffe://td/a"), underID("spiffe://td/b/")}},
			accept: []string{"spiffe://td/a", `spiffe://td/b(?:/[^,]*)?`},
		},
		"denied": {
			rule: meshtrafficpermission.RuleConf{
				Deny:  []conf.Match{exactID("spiffe://td/a"), underID("spiffe://td/b")},
				Allow: []conf.Match{exactID("spiffe://td/a"), underID("spiffe://td/b/c"), exactID("spiffe://td/bc")},
			},
			accept: []string{"spiffe://td/bc"},
		},
		"partly denied": {
			rule:    meshtrafficpermission.RuleConf{Deny: []conf.Match{exactID("spiffe://td/b/c")}, Allow: []conf.Match{underID("spiffe://td/b")}},
			refused: []string{partlyDenied},
		},
		"allowed by name": {
			rule:    meshtrafficpermission.RuleConf{Allow: []conf.Match{named(exactID("spiffe://td/a"), "n")}},
			refused: []string{allowsByName},
		},
		"denied by name": {
			rule: meshtrafficpermission.RuleConf{
				Deny:  []conf.Match{named(exactID("spiffe://td/a"), "n")},
				Allow: []conf.Match{exactID("spiffe://td/a"), exactID("spiffe://td/b")},
			},
			accept: []string{"spiffe://td/b"}, refused: []string{deniesByName},
		},
		"a name is denied": {
			rule:    meshtrafficpermission.RuleConf{Deny: []conf.Match{named(conf.Match{}, "n")}, Allow: []conf.Match{exactID("spiffe://td/a")}},
			refused: []string{deniesUnnamed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			list, _ := permission.NewDecisionList(request.TCP, []permission.Rule{{KRI: "p", Conf: &c.rule}})
			h := NewHandshake(&permission.Permissions{Protocol: request.TCP, Rules: list})
			var accept, refused []string
			for _, m := range h.Accept {
				accept = append(accept, m.GetExact()+m.GetSafeRegex().GetRegex())
			}
			for _, r := range h.Refused {
				refused = append(refused, r.Reason)
			}
			if !slices.Equal(accept, c.accept) || !slices.Equal(refused, c.refused) {
				t.Errorf("accepts %q and refuses %q, want %q and %q", accept, refused, c.accept, c.refused)
			}
		})
	}
}
