package rbac

import (
	"slices"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Choice is an action for the requests that meet some conditions.
type Choice struct {
	Conditions
	Action *xdscorev3.TypedExtensionConfig
}

// Conditions are conditions on a request. All must hold.
type Conditions struct {
	Match *conf.Match   // nil: no condition
	Tags  resource.Tags // of the client; a value may be [resource.AnyValue]
}

// Empty reports whether there are no conditions.
func (c Conditions) Empty() bool {
	return len(c.Tags) == 0 && (c.Match == nil || c.Match.Empty())
}

// AsksForClient reports whether there is a condition on the client or on the server name.
func (c Conditions) AsksForClient() bool {
	return len(c.Tags) > 0 || c.AsksForID() || c.Match != nil && c.Match.SNI != nil
}

// AsksForID reports whether there is a condition on the SPIFFE ID of the client.
func (c Conditions) AsksForID() bool { return c.Match != nil && c.Match.SpiffeID != nil }

// NewChoiceMatcher returns a matcher of HTTP requests. The first choice whose conditions
// hold applies; if there is none, there is no action. Requests are compared in the way in
// which [New] compares them for denials, so a second header line evades no choice (SPEC
// 7.2). A client with several SPIFFE IDs has none: access logs have its requests too. The
// error is [ErrTooLarge].
func NewChoiceMatcher(choices []Choice) (*matcherv3.Matcher, error) {
	return choiceMatcher(choices, &matcherWriter{writer: &writer{}, inputs: map[input][]byte{}})
}

// The headers of a request that show the client to a matcher of a route.
const (
	PeerHeader       = "x-meshmatch-peer" // the URI SANs of the client, joined by commas
	ServerNameHeader = "x-meshmatch-sni"
)

// NewRouteMatcher returns the matcher of [NewChoiceMatcher] for a route. There Envoy sees
// nothing but headers. If a choice asks for the client or the server name, they must be in
// [PeerHeader] and [ServerNameHeader] (see [Conditions.AsksForClient]). A client with several
// SPIFFE IDs does not get as far as a route (see [SeveralFilter]).
func NewRouteMatcher(choices []Choice) (*matcherv3.Matcher, error) {
	return choiceMatcher(choices, &matcherWriter{writer: &writer{}, inputs: map[input][]byte{}, ofRoute: true})
}

func choiceMatcher(choices []Choice, w *matcherWriter) (*matcherv3.Matcher, error) {
	anonymous := slices.DeleteFunc(slices.Clone(choices), func(c Choice) bool { return c.AsksForID() })
	t := newTranslation(MatcherForm)
	if w.ofRoute || len(anonymous) == len(choices) { // routes get no request of a client with several IDs
		w.choices(t, choices)
	} else {
		w.firstOf([]branch{{
			when: comparison(input{kind: clientURI}, textRegex, NoSingleID),
			next: func(field protowire.Number) { w.message(field, func() { w.choices(t, anonymous) }) },
		}}, nil)
		w.message(matcherOnNoMatch, func() { w.message(onMatchMatcher, func() { w.choices(t, choices) }) })
	}
	m := &matcherv3.Matcher{}
	if w.full || len(w.data) > MaxFilter {
		return nil, ErrTooLarge
	}
	if err := proto.Unmarshal(w.data, m); err != nil {
		return nil, err
	}
	return m, nil
}

// choices writes the fields of a matcher.
func (w *matcherWriter) choices(t *translation, choices []Choice) {
	var branches []branch
	for _, c := range choices {
		do := action{extension: c.Action}
		if c.Empty() {
			w.firstOf(branches, &do)
			return
		}
		if t.tooLarge() {
			w.full = true
			return
		}
		branches = append(branches, branch{when: t.conditions(c.Conditions), do: do})
	}
	w.firstOf(branches, nil)
}

// conditions combines at least one condition into one.
func (t *translation) conditions(c Conditions) *condition {
	var all []*condition
	if c.Match != nil && !c.Match.Empty() {
		all = append(all, t.entry(&permission.Entry{Place: permission.Place{List: permission.Deny}, Match: c.Match}))
	}
	for _, tag := range c.Tags {
		all = append(all, comparison(input{kind: clientURI}, textRegex, TagExpression(tag)))
	}
	return allOf(all...)
}
