package rbac

import (
	"sync"

	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	httprbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// SeveralFilterName is the name of the filter of [SeveralFilter].
const SeveralFilterName = "uri-several"

// SeveralFilter returns the config of a filter that refuses a client whose certificate has
// several SPIFFE IDs (SPEC 7.2): an HTTP filter that answers 403, or a network filter that
// closes the connection. It is a filter of the listener and never changes. The permission
// filter has no such comparison, because each edit of permissions would send it (SPEC 11.8).
//
// It is a matcher, because all releases of Envoy have the input that shows all URI SANs
// together (SPEC 18.3). The config is made once and shared by all listeners. It must not be
// changed.
func SeveralFilter(p request.Protocol) *anypb.Any {
	if p == request.TCP {
		return severalOverTCP()
	}
	return severalOverHTTP()
}

// The prefix keeps the counters apart from the counters of the permissions.
var severalOverHTTP = sync.OnceValue(func() *anypb.Any {
	return message.Any(&httprbac.RBAC{RulesStatPrefix: SeveralFilterName + ".", Matcher: severalMatcher()})
})

var severalOverTCP = sync.OnceValue(func() *anypb.Any {
	return message.Any(&networkrbac.RBAC{StatPrefix: SeveralFilterName + ".", Matcher: severalMatcher()})
})

// severalMatcher allows all clients but those with several SPIFFE IDs. Envoy denies what a matcher
// gives no action. An action that denies would take 80 bytes more, in each listener.
func severalMatcher() *matcherv3.Matcher {
	w := &matcherWriter{writer: &writer{}, inputs: map[input][]byte{}}
	w.firstOf([]branch{{
		when: negation(comparison(input{kind: clientURI}, textRegex, NoSingleID)),
		do:   action{policy: defaultPolicy},
	}}, nil)
	m := &matcherv3.Matcher{}
	if err := proto.Unmarshal(w.data, m); err != nil {
		panic(err) // the writer writes messages
	}
	return m
}
