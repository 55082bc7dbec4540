package rbac

import (
	"sync"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// CommaFilterName is the name of the filter of [CommaFilter].
const CommaFilterName = "uri-comma"

// withComma matches one text that could be mistaken for several URI SANs: a URI that
// contains a comma, or other text in which a comma is followed by a URI that permissions
// compare. The other text is the subject, by which Envoy compares a client without URI and
// DNS SANs: the commas in CN=a,O=b are harmless.
const withComma = `[A-Za-z][\w+.-]*:\C*,\C*|\C*,(?:` + spiffeScheme + `|` + request.TagURI + `)\C*`

// CommaFilter returns the config of a network filter that closes the connection of a
// client whose certificate has a URI SAN with a comma (SPEC 7.2). All other conditions on
// a client compare its URI SANs joined by commas, so https://x/,spiffe://td/admin would
// pass for another client's SPIFFE ID. Only the principals of RBAC policies are compared
// with each URI SAN separately.
//
// The config is made once and shared by all listeners. It must not be changed.
func CommaFilter() *anypb.Any { return comma() }

var comma = sync.OnceValue(func() *anypb.Any {
	return message.Any(&networkrbac.RBAC{StatPrefix: CommaFilterName + ".", Rules: denying(CommaFilterName, uriWithComma())})
})

func uriWithComma() *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_Authenticated_{Authenticated: &rbacconfig.Principal_Authenticated{
		PrincipalName: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: message.Regex(withComma)}},
	}}}
}

// denying returns rules that deny some clients.
func denying(name string, clients ...*rbacconfig.Principal) *rbacconfig.RBAC {
	return &rbacconfig.RBAC{
		Action: rbacconfig.RBAC_DENY,
		Policies: map[string]*rbacconfig.Policy{name: {
			Permissions: []*rbacconfig.Permission{{Rule: &rbacconfig.Permission_Any{Any: true}}},
			Principals:  clients,
		}},
	}
}
