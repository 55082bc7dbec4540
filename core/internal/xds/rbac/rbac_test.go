package rbac

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/fuzz"
)

var forms = map[string]Form{"matcher": MatcherForm, "rules": RulesForm}

// testedForms are forms, and the one for releases that compare characters.
var testedForms = map[string]Form{"matcher": MatcherForm, "rules": RulesForm, "characters": CharacterMatcherForm}

// rbacConfig is the config of either filter.
type rbacConfig interface {
	proto.Message
	GetMatcher() *xdsmatcher.Matcher
	GetShadowMatcher() *xdsmatcher.Matcher
	GetRules() *rbacconfig.RBAC
	GetShadowRules() *rbacconfig.RBAC
	ValidateAll() error
}

// received returns a filter's config as decoded from its bytes.
func received(t testing.TB, p *permission.Permissions, form Form) rbacConfig {
	t.Helper()
	filter, err := New(p, form, "inbound.")
	if err != nil {
		t.Fatal(err)
	}
	message, err := filter.Config.UnmarshalNew()
	if err != nil {
		t.Fatal(err)
	}
	config := message.(rbacConfig)
	if err := config.ValidateAll(); err != nil {
		t.Fatalf("refused by the generated validation: %v", err)
	}
	return config
}

// compareFilter compares a filter with the permissions that it was made from. The rules
// form is also evaluated as gRPC does, which does not evaluate expressions byte by byte. A
// client with several SPIFFE IDs does not get as far as the filter. A filter that compares
// characters may deny what is allowed, if a value of a header is not ASCII, and nothing else.
func compareFilter(t testing.TB, p *permission.Permissions, form Form, config rbacConfig, c *permissiontest.Call) error {
	q := c.Request()
	if p.Rules != nil && p.Rules.AsksForPath() && request.NewSeen(q).PathRefused {
		return nil // the inbound refuses it before the filter
	}
	if c.HasComma(p.Clients != nil) || c.HasSeveralIDs() {
		return nil
	}
	answer, in := p.Decide(q), newInterpreter(t, p, c)
	want := expected(form, p, answer)
	ascii := c.IsASCII(p)
	in.characters = form == CharacterMatcherForm
	for _, in.grpc = range []bool{false, form == RulesForm && ascii} {
		got := in.filter(config)
		// Where characters are compared, no entry that allows by a header matches a byte beyond
		// ASCII: the request is denied, or a later entry allows it. A client may be denied too.
		if in.characters && !ascii {
			if allows := func(decision string) bool { return strings.HasPrefix(decision, "ALLOW") }; !allows(got.enforced) || allows(want.enforced) {
				continue
			}
		}
		if got != want {
			return fmt.Errorf("%+v\n\tthe filter decides %+v, read by gRPC: %v\n\taccess decides     %+v (%s)", c, got, in.grpc, want, permissiontest.Text(answer))
		}
	}
	return nil
}

// A filter has as many bytes as the protobuf library writes, in another order (the library
// writes the fields of a oneof last), and the same bytes each time.
func TestFilterBytes(t *testing.T) {
	l, _ := permission.NewDecisionList(request.TCP, thousandRules())
	for word, form := range forms {
		for name, p := range map[string]*permission.Permissions{"entries": {Rules: l}, "none": {}} {
			filter, err := New(p, form, "inbound.")
			if err != nil {
				t.Fatal(err)
			}
			again, _ := New(p, form, "inbound.")
			want, err := proto.MarshalOptions{Deterministic: true}.Marshal(received(t, p, form))
			if err != nil {
				t.Fatal(err)
			}
			if len(filter.Config.Value) != len(want) || !bytes.Equal(again.Config.Value, filter.Config.Value) {
				t.Errorf("%s, %s: %d bytes, the library writes %d", word, name, len(filter.Config.Value), len(want))
			}
		}
	}
}

// The filters of the stories are golden files, refreshed by UPDATE=1, and decide as the
// stories do.
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
					filter, err := New(p, form, "inbound.")
					if err != nil {
						t.Fatal(err)
					}
					golden(t, filepath.Join("testdata", "rbac", story.Name+"."+inbound.Name+"."+word+".json"), filter)
					config := received(t, p, form)
					for _, x := range story.Requests {
						if x.Inbound != inbound.Name {
							continue
						}
						if err := compareFilter(t, p, form, config, x.Client); err != nil {
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
	if os.Getenv("UPDATE") == "1" {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; run the test with UPDATE=1 and check the difference. It is now\n%s", file, got)
	}
}

// Both forms of the filter decide as package access does, on random policies. Access agrees
// with the reference on the same policies.
func TestFiltersAgreeWithAccess(t *testing.T) {
	scenarios := 150 * fuzz.Soak(t)
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		set := permissiontest.Scenario(r)
		permissions, err := permissiontest.Permissions(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, inbound := range []string{"http", "tcp"} {
			p := permissions[inbound]
			for word, form := range testedForms {
				config := received(t, p, form)
				for range 8 {
					if err := compareFilter(t, p, form, config, permissiontest.RandomClient(r)); err != nil {
						t.Fatalf("seed %d, %s, %s: %v", seed, inbound, word, err)
					}
				}
			}
		}
	}
}
