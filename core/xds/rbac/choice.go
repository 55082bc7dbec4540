package rbac

import (
	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Choice is what is done with the requests that have all of some conditions.
type Choice struct {
	Match  *conf.Match   // nil: no condition
	Tags   resource.Tags // of the client; a value may be [resource.AnyValue]
	Action *xdscorev3.TypedExtensionConfig
}

// isCertain reports whether the choice has no conditions.
func (c *Choice) isCertain() bool {
	return len(c.Tags) == 0 && (c.Match == nil || c.Match.Empty())
}

func (c *Choice) asksForID() bool { return c.Match != nil && c.Match.SpiffeID != nil }

// NewChoiceMatcher returns a matcher of HTTP requests: the first choice whose
// conditions hold applies, and nothing if there is none. It compares as the matcher of
// [New] compares what allows. The error is [ErrTooLarge].
func NewChoiceMatcher(choices []Choice) (*matcherv3.Matcher, error) {
	w := &matcherWriter{&writer{}, map[input][]byte{}}
	var anonymous []Choice
	asksForID := false
	for i := range choices {
		asksForID = asksForID || choices[i].asksForID()
		if !choices[i].asksForID() {
			anonymous = append(anonymous, choices[i])
		}
	}
	t := newTranslation(MatcherForm)
	if !asksForID {
		w.choices(t, choices)
	} else {
		w.message(matcherList, func() {
			w.branch(branch{
				when: comparison(input{kind: clientURI}, textRegex, noSingleID),
				next: func(field protowire.Number) { w.message(field, func() { w.choices(t, anonymous) }) },
			})
		})
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
	last := -1
	for i := range choices {
		if choices[i].isCertain() {
			last = i
			break
		}
	}
	conditional := choices
	if last >= 0 {
		conditional = choices[:last]
	}
	if len(conditional) > 0 {
		w.message(matcherList, func() {
			for i := range conditional {
				if t.tooLarge() || w.full {
					w.full = true
					return
				}
				w.branch(branch{when: t.choice(&conditional[i]), do: action{extension: conditional[i].Action}})
			}
		})
	}
	if last >= 0 {
		w.onMatch(matcherOnNoMatch, action{extension: choices[last].Action})
	}
}

// choice returns the condition of a choice that has conditions.
func (t *translation) choice(c *Choice) *condition {
	var all []*condition
	if c.Match != nil && !c.Match.Empty() {
		all = append(all, t.entry(&permission.Entry{Place: permission.Place{List: permission.Allow}, Match: c.Match}))
	}
	for _, tag := range c.Tags {
		all = append(all, comparison(input{kind: clientURI}, textRegex, amongURIs(tagRegex(tag))))
	}
	return allOf(all...)
}

// SpiffeIDExpression returns the regular expression of a condition on a SPIFFE ID, for
// the URI SANs of a client joined by commas. A client with several SPIFFE IDs has none
// (SPEC 7.2): [NoSingleID] matches its URI SANs.
func SpiffeIDExpression(m *conf.SpiffeIDMatch) string {
	return newTranslation(MatcherForm).spiffeID(m).text.value
}

// TagExpression returns the regular expression of a condition on a tag of the client,
// for the URI SANs of the client joined by commas.
func TagExpression(tag resource.Tag) string { return amongURIs(tagRegex(tag)) }

// NoSingleID is the regular expression of URI SANs, joined by commas, which have a
// SPIFFE ID and give the client none, because there are several or one has a comma.
const NoSingleID = noSingleID
