package rbac

import (
	"google.golang.org/protobuf/encoding/protowire"

	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
)

// The fields of xds.type.matcher.v3.Matcher and of the messages in it.
const (
	matcherList, matcherTree, matcherOnNoMatch          = 1, 2, 3
	listMatchers                                        = 1
	fieldPredicate, fieldOnMatch                        = 1, 2
	predicateSingle, predicateOr, predicateAnd          = 1, 2, 3
	predicateNot                                        = 4
	predicates                                          = 1
	singleInput, singleValue                            = 1, 2
	treeInput, treeExactMap                             = 1, 2
	mapEntry, entryKey, entryValue                      = 1, 1, 2
	onMatchMatcher, onMatchAction                       = 1, 2
	extensionName, extensionConfig, anyURL, anyContents = 1, 2, 1, 2
	actionName, actionKind                              = 1, 2
)

// matcherWriter writes a matcher.
type matcherWriter struct {
	*writer
	inputs map[input][]byte // marshalled
	// ofRoute reports that the client is in headers.
	ofRoute bool
}

// extension writes a TypedExtensionConfig.
func (w *writer) extension(field protowire.Number, name, url string, contents func()) {
	w.message(field, func() {
		w.text(extensionName, name)
		w.message(extensionConfig, func() {
			w.text(anyURL, url)
			if contents != nil {
				w.message(anyContents, contents)
			}
		})
	})
}

// actionExtension is the name of the extension in each action. Envoy finds the extension by
// the type of its config, so the name can be any text (xds.core.v3.TypedExtensionConfig).
// It is short because a filter can have thousands of actions.
const actionExtension = "action"

// onMatch writes the action at an end of the matcher.
func (w *matcherWriter) onMatch(field protowire.Number, a action) {
	w.message(field, func() {
		if e := a.extension; e != nil {
			w.extension(onMatchAction, e.Name, e.TypedConfig.TypeUrl, func() { w.raw(e.TypedConfig.Value) })
			return
		}
		w.extension(onMatchAction, actionExtension, "type.googleapis.com/envoy.config.rbac.v3.Action", func() {
			w.text(actionName, a.policy)
			if a.deny {
				w.number(actionKind, uint64(rbacconfig.RBAC_DENY))
			}
		})
	})
}

// input writes the input of a comparison. Its name is short, as the name of an action is: a
// filter has one for each comparison.
func (w *matcherWriter) input(field protowire.Number, on input) {
	known, ok := w.inputs[on]
	if !ok {
		scratch := &writer{}
		header := func(name string) {
			scratch.extension(field, "request_headers", "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", func() { scratch.text(1, name) })
		}
		switch {
		case on.kind == clientURI && w.ofRoute:
			header(PeerHeader)
		case on.kind == serverName && w.ofRoute:
			header(ServerNameHeader)
		case on.kind == clientURI:
			scratch.extension(field, "uri_san", "type.googleapis.com/envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput", nil)
		case on.kind == serverName:
			scratch.extension(field, "server_name", "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.ServerNameInput", nil)
		default:
			header(on.header)
		}
		known = scratch.data
		w.inputs[on] = known
	}
	w.raw(known)
}

// predicate writes a condition.
func (w *matcherWriter) predicate(field protowire.Number, c *condition) {
	w.message(field, func() {
		switch c.op {
		case opCompare:
			w.message(predicateSingle, func() {
				w.input(singleInput, c.on)
				w.message(singleValue, func() { w.stringMatcher(c.text) })
			})
		case opNot:
			w.predicate(predicateNot, c.subs[0])
		default:
			list := protowire.Number(predicateAnd)
			if c.op == opAny {
				list = predicateOr
			}
			w.message(list, func() {
				for _, sub := range c.subs {
					w.predicate(predicates, sub)
				}
			})
		}
	})
}

// The fields of StringMatcher, which are the same in xds.type.matcher.v3 and
// envoy.type.matcher.v3, and of RegexMatcher.
const (
	stringExact, stringPrefix, stringRegex = 1, 2, 5
	regexRE2, regexExpression              = 1, 2
)

// stringMatcher writes the fields of an xds.type.matcher.v3.StringMatcher.
func (w *writer) stringMatcher(t text) {
	switch t.how {
	case textExact:
		w.text(stringExact, t.value)
	case textPrefix:
		w.text(stringPrefix, t.value)
	case textRegex:
		w.regexMatcher(t.value)
	case textAny:
		w.regexMatcher(`\C*`) // of any bytes
	}
}

func (w *writer) regexMatcher(expression string) {
	w.message(stringRegex, func() {
		w.message(regexRE2, func() {})
		w.text(regexExpression, expression)
	})
}
