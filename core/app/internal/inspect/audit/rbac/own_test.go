package rbac_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	filter "github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
)

// chainOf returns a chain with our filters for permissions, as a dump shows it.
func chainOf(t *testing.T, p *permission.Permissions, form filter.Form) *dump.Chain {
	t.Helper()
	own, err := filter.New(p, form, "x.")
	if err != nil {
		t.Fatal(err)
	}
	isHTTP := p.Protocol == request.HTTP
	c := &dump.Chain{HTTP: isHTTP, Normalizes: isHTTP, TLS: dump.WithClientCertificate}
	for i, f := range []filter.Filter{
		{Name: filter.CommaFilterName, Config: filter.CommaFilter()},
		{Name: filter.SeveralFilterName, Config: filter.SeveralFilter(p.Protocol)},
		own,
	} {
		data, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		var read dump.Object
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		out := dump.Filter{Name: read.Text("name"), HTTP: isHTTP && i > 0}
		out.Type, out.Config = read.Object("typed_config").Typed()
		c.Filters = append(c.Filters, out)
	}
	return c
}

// TestOwnFilters compares permissions with the filters that are made from them: they never
// differ, in both forms.
func TestOwnFilters(t *testing.T) {
	seeds := 30
	if testing.Short() {
		seeds = 10
	}
	compared := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		for inbound, p := range permissiontest.Random(t, r) {
			for _, form := range []filter.Form{filter.MatcherForm, filter.RulesForm} {
				space := &access.Space{Protocol: p.Protocol, NoTags: p.Clients == nil, Queries: true}
				filters := rbac.New(chainOf(t, p, form), rbac.Connection{TLS: true, NoTags: space.NoTags, Port: 80})
				found, err := access.CompareChain(space, access.ListOf(p), filters.Chain, access.Limits{Work: 1 << 21})
				if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				compared++
				for _, d := range found {
					name, policy := filters.By(d.After)
					t.Errorf("seed %d, %s, form %v: %+v: by policies %v, by the filter %v (%s %s, unknown %q)", seed, inbound, form, *d.Witness, d.Before, d.After.Decision, name, policy, d.Unknown)
				}
			}
		}
		if t.Failed() {
			t.Fatal(fmt.Sprint("after seed ", seed))
		}
	}
	if least := seeds * 2; compared < least {
		t.Errorf("%d filters were compared, want at least %d", compared, least)
	}
}
