package rbac

import (
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
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

// A handshake accepts clients that are allowed and not denied. It refuses clients if it
// cannot express the decision about them (SPEC 7.5b).
func TestHandshake(t *testing.T) {
	for name, c := range map[string]struct {
		rule    meshtrafficpermission.RuleConf
		accept  []string
		refused []string // reasons
	}{
		"allowed": {
			rule:   meshtrafficpermission.RuleConf{Allow: []conf.Match{exactID("spiffe://td/a"), underID("spiffe://td/b/")}},
			accept: []string{"spiffe://td/a", `spiffe://td/b` + ofSegments},
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
			compareHandshake(t, h, c.accept, c.refused)
		})
	}
}

// The items of `from` select clients by their tags, the highest priority first.
func TestHandshakeByTags(t *testing.T) {
	item := func(action meshtrafficpermission.Action, tags map[string]string) resource.Item {
		return resource.Item{TargetRef: resource.Subset(tags), Conf: &meshtrafficpermission.Conf{Action: &action}}
	}
	const allow, deny = meshtrafficpermission.Allow, meshtrafficpermission.Deny
	v1, v2, prod := map[string]string{"version": "v1"}, map[string]string{"version": "v2"}, map[string]string{"env": "prod", "version": "v1"}
	for name, c := range map[string]struct {
		items   []resource.Item // the lowest priority first
		accept  []string
		refused []string // reasons
	}{
		"every client":        {[]resource.Item{item(allow, nil)}, []string{`\C*`}, nil},
		"clients with a tag":  {[]resource.Item{item(allow, v1)}, []string{`kuma://version/v1`}, nil},
		"denied":              {[]resource.Item{item(allow, v1), item(deny, v1)}, nil, nil},
		"another one denied":  {[]resource.Item{item(allow, v1), item(deny, v2)}, []string{`kuma://version/v1`}, nil},
		"partly denied":       {[]resource.Item{item(allow, v1), item(deny, prod)}, nil, []string{partlyDenied}},
		"denied, then every":  {[]resource.Item{item(deny, v1), item(allow, nil)}, []string{`\C*`}, nil},
		"with several tags":   {[]resource.Item{item(allow, prod)}, nil, []string{allowsByTags}},
		"denied by all items": {[]resource.Item{item(deny, nil)}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			clients := permission.NewClients([]*resource.Policy{{Type: meshtrafficpermission.Kind(), From: c.items}})
			h := NewHandshake(&permission.Permissions{Protocol: request.TCP, Clients: clients})
			compareHandshake(t, h, c.accept, c.refused)
		})
	}
}

func compareHandshake(t *testing.T, h Handshake, wantAccept, wantRefused []string) {
	t.Helper()
	var accept, refused []string
	for _, m := range h.Accept {
		accept = append(accept, m.GetExact()+m.GetSafeRegex().GetRegex())
	}
	for _, r := range h.Refused {
		refused = append(refused, r.Reason)
	}
	if !slices.Equal(accept, wantAccept) || !slices.Equal(refused, wantRefused) {
		t.Errorf("accepts %q and refuses %q, want %q and %q", accept, refused, wantAccept, wantRefused)
	}
}
