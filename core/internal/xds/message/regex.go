package message

import (
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// MaxProgram is the size of an expression's program that a message asks Envoy to accept.
// Without it Envoy refuses the whole resource if one program has more than 100 instructions,
// which is about one for each byte of a SPIFFE ID. No expression that passed validation is as
// large (regex.MaxProgram).
const MaxProgram = 100_000

// Regex returns the condition that a regular expression matches a whole text.
func Regex(expression string) *matcherv3.RegexMatcher {
	//lint:ignore SA1019 Envoy 1.40 has no other limit that a message can raise.
	engine := &matcherv3.RegexMatcher_GoogleRe2{GoogleRe2: &matcherv3.RegexMatcher_GoogleRE2{MaxProgramSize: wrapperspb.UInt32(MaxProgram)}}
	return &matcherv3.RegexMatcher{EngineType: engine, Regex: expression}
}

// Exactly returns the condition that a text is the given one.
func Exactly(text string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: text}}
}

// Prefix returns the condition that a text begins with the given one.
func Prefix(text string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Prefix{Prefix: text}}
}
