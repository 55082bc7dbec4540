package rbac

import (
	"math/rand/v2"
	"slices"
	"testing"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshmatch/meshmatch/core/internal/request"
)

// A guard reports whether a filter in front of the permissions denies the client of a
// certificate with the URI SANs.
type guard func(uris []string) bool

// guardsOf returns the guards in front of the permissions of an inbound: against URI SANs with
// commas, and against several SPIFFE IDs.
func guardsOf(t *testing.T, p request.Protocol) []guard {
	t.Helper()
	comma := &networkrbac.RBAC{}
	if err := CommaFilter().UnmarshalTo(comma); err != nil {
		t.Fatal(err)
	}
	several, err := SeveralFilter(p).UnmarshalNew()
	if err != nil {
		t.Fatal(err)
	}
	return []guard{
		func(uris []string) bool { return refuses(t, comma.Rules, uris) },
		func(uris []string) bool {
			matcher := several.(interface{ GetMatcher() *matcherv3.Matcher }).GetMatcher()
			action := (&interpreter{t: t, uris: uris}).matcher(matcher)
			return action == nil || action.GetAction() == rbacconfig.RBAC_DENY
		},
	}
}

// refuses reports whether rules deny the client of a certificate with the URI SANs. Envoy
// compares each URI SAN as the name of a principal.
func refuses(t *testing.T, rules *rbacconfig.RBAC, uris []string) bool {
	t.Helper()
	if rules.GetAction() != rbacconfig.RBAC_DENY || len(rules.GetPolicies()) != 1 {
		t.Fatalf("the rules are %v", rules)
	}
	in := &interpreter{t: t}
	for _, policy := range rules.GetPolicies() {
		for _, p := range policy.GetPrincipals() {
			expression := p.GetAuthenticated().GetPrincipalName().GetSafeRegex().GetRegex()
			if slices.ContainsFunc(uris, func(uri string) bool { return in.matches(expression, uri) }) {
				return true
			}
		}
	}
	return false
}

// An inbound with TLS refuses a client with several SPIFFE IDs, or with a URI SAN that could
// show the ID or the tag of another client, whatever its permissions are (SPEC 7.2).
func TestGuards(t *testing.T) {
	const a, b = "spiffe://td/a", "spiffe://td/b"
	for _, test := range []struct {
		name    string
		uris    []string
		refused bool
	}{
		{"no URI", nil, false},
		{"an empty URI", []string{""}, false},
		{"an ID", []string{a}, false},
		{"an ID and an empty URI", []string{"", a, ""}, false},
		{"tags", []string{"kuma://team/x", "kuma://team/y"}, false},
		{"an ID and tags", []string{"kuma://team/x", a, "kuma://team/y"}, false},
		{"an ID inside another URI", []string{a, "https://x/?spiffe://td/b"}, false},
		{"a scheme that begins alike", []string{a, "spiffes://td/b", "spiffe:td/b", "xspiffe://td/b"}, false},
		{"a long s", []string{a, "\u017fpiffe://td/b"}, false},

		{"two IDs", []string{a, b}, true},
		{"one ID twice", []string{a, a}, true},
		{"three IDs", []string{a, b, "spiffe://td/c"}, true},
		{"two IDs after another URI", []string{"urn:a:b", a, b}, true},
		{"two IDs around another URI", []string{a, "urn:a:b", b}, true},
		{"two IDs around an empty URI", []string{a, "", b}, true},
		{"letters of both cases", []string{a, "sPiFFe://td/b"}, true},
		{"upper case", []string{"SPIFFE://td/a", b}, true},
		{"two that are invalid", []string{"spiffe://", "spiffe://../.."}, true},
		{"bytes that are not UTF-8", []string{"urn:\xff", a, "urn:\xff\n", b + "\xff"}, true},

		{"an ID after a comma", []string{"https://x/," + a}, true},
		{"an ID before a comma", []string{a + ",x"}, true},
		{"an ID after a comma, without a scheme", []string{"," + a}, true},
		{"an ID in upper case after a comma", []string{"x,SPIFFE://td/a"}, true},
		{"a tag after a comma, without a scheme", []string{"x,kuma://team/x"}, true},
		{"a comma in a URI", []string{a, "https://x/,y"}, true},
		{"a subject, which has no scheme", []string{"CN=a,O=b"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, p := range []request.Protocol{request.HTTP, request.TCP} {
				got := slices.ContainsFunc(guardsOf(t, p), func(refuses guard) bool { return refuses(test.uris) })
				if got != test.refused {
					t.Errorf("%v: %q is refused: %v, want %v", p, test.uris, got, test.refused)
				}
			}
		})
	}
}

// The filter against several SPIFFE IDs counts them as [request.ClaimsID] does.
func TestSeveralFilterCounts(t *testing.T) {
	several := guardsOf(t, request.HTTP)[1]
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"spiffe://", "SPIFFE://", "spiffe:/", "kuma://", "urn:", "/", "a", "\n", "\xff", ""}
	for range 5000 {
		uris := make([]string, r.IntN(5))
		ids := 0
		for i := range uris {
			for range r.IntN(4) {
				uris[i] += parts[r.IntN(len(parts))]
			}
			if request.ClaimsID(uris[i]) {
				ids++
			}
		}
		if got := several(uris); got != (ids > 1) {
			t.Fatalf("%q, with %d IDs, is refused: %v", uris, ids, got)
		}
	}
}
