package xds

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/permission/permissiontest"
)

var update = flag.Bool("update", false, "write the golden files")

var forms = map[string]RBACForm{"matcher": MatcherForm, "rules": RulesForm}

// rbacConfig is the config of either filter.
type rbacConfig interface {
	proto.Message
	GetMatcher() *xdsmatcher.Matcher
	GetShadowMatcher() *xdsmatcher.Matcher
	GetRules() *rbacconfig.RBAC
	GetShadowRules() *rbacconfig.RBAC
	ValidateAll() error
}

// received returns a filter's config after it went over the wire.
func received(t testing.TB, p *permission.Permissions, form RBACForm) rbacConfig {
	t.Helper()
	data, err := RBAC(p, form, "inbound.").Any()
	if err != nil {
		t.Fatal(err)
	}
	message, err := data.UnmarshalNew()
	if err != nil {
		t.Fatal(err)
	}
	config := message.(rbacConfig)
	if err := config.ValidateAll(); err != nil {
		t.Fatalf("refused by the generated validation: %v", err)
	}
	return config
}

// compare asks a filter and the permissions that it was made of; the rules form
// as gRPC reads it too.
func compare(t testing.TB, p *permission.Permissions, form RBACForm, config rbacConfig, q *permission.Request) error {
	want, in := p.Decide(q), newInterpreter(t, p, q)
	expected := verdict{enforced: said(form, want.Decision)}
	if want.HasShadow {
		expected.shadow = said(form, want.Shadow)
	}
	for _, in.grpc = range []bool{false, form == RulesForm} {
		if got := in.filter(config); got != expected {
			return fmt.Errorf("%+v\n\tthe filter says %+v, read by gRPC: %v\n\taccess says     %+v", q, got, in.grpc, expected)
		}
	}
	return nil
}

// A filter's bytes are those of the protobuf library.
func TestFilterBytes(t *testing.T) {
	l, _ := permission.NewDecisionList(permission.TCP, thousandRules())
	for word, form := range forms {
		filter := RBAC(&permission.Permissions{Rules: l}, form, "inbound.")
		got, err := filter.Any()
		if err != nil {
			t.Fatal(err)
		}
		want, err := proto.MarshalOptions{Deterministic: true}.Marshal(filter.Config)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Value, want) {
			t.Errorf("%s: %d bytes, the library writes %d others", word, len(got.Value), len(want))
		}
	}
}

// The stories' filters are golden files, refreshed by -update, and decide what
// the stories say.
func TestStories(t *testing.T) {
	stories, err := permissiontest.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		permissions, err := permissiontest.Permissions(story.Set)
		if err != nil {
			t.Fatal(err)
		}
		for _, inbound := range story.Set.Dataplanes[0].Inbounds {
			p := permissions[inbound.Name]
			for word, form := range forms {
				t.Run(story.Name+"/"+inbound.Name+"/"+word, func(t *testing.T) {
					golden(t, filepath.Join("testdata", "rbac", story.Name+"."+inbound.Name+"."+word+".json"), RBAC(p, form, "inbound."))
					config := received(t, p, form)
					for _, x := range story.Requests {
						if x.Inbound != inbound.Name {
							continue
						}
						if err := compare(t, p, form, config, x.Request); err != nil {
							t.Errorf("%s: %v", x.Line, err)
						}
					}
				})
			}
		}
	}
}

func golden(t *testing.T, file string, f Filter) {
	t.Helper()
	got, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what comes out; run the test with -update and look at the difference. It is now\n%s", file, got)
	}
}

// Both forms of the filter decide as access does, on random policies. Access
// agrees with the reference on the same ones.
func TestFiltersAgreeWithAccess(t *testing.T) {
	scenarios := 1500
	if testing.Short() {
		scenarios = 100
	}
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		set := permissiontest.Scenario(r)
		permissions, err := permissiontest.Permissions(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, inbound := range []string{"http", "tcp"} {
			p := permissions[inbound]
			for word, form := range forms {
				config := received(t, p, form)
				for range 8 {
					if err := compare(t, p, form, config, permissiontest.Request(r)); err != nil {
						t.Fatalf("seed %d, %s, %s: %v", seed, inbound, word, err)
					}
				}
			}
		}
	}
}
