package rbac

import (
	"sync"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// SeveralFilterName is the name of the filter of [SeveralFilter].
const SeveralFilterName = "uri-several"

// PeerKey is the key of the filter state that has the URI SANs of the client, joined by
// commas. A network filter of the listener sets it.
const PeerKey = "meshmatch.peer"

// SeveralFilter returns the config of an HTTP filter that answers 403 to a client whose
// certificate has several SPIFFE IDs (SPEC 7.2). It is a filter of the listener and never
// changes. The permission filter has no such comparison, because each edit of permissions
// would send it (SPEC 11.8).
//
// The config is made once and shared by all listeners. It must not be changed.
func SeveralFilter() *anypb.Any { return severalFilter() }

var severalFilter = sync.OnceValue(func() *anypb.Any {
	return message.Any(&httprbac.RBAC{
		RulesStatPrefix: SeveralFilterName + ".", // apart from the counters of the permissions
		Rules:           denying(SeveralFilterName, severalIDs()),
	})
})

func severalIDs() *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_FilterState{FilterState: &matcherv3.FilterStateMatcher{
		Key: PeerKey,
		Matcher: &matcherv3.FilterStateMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: NoSingleID}},
		}},
	}}}
}
