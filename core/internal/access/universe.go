package access

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/regex/language"
)

// The texts that a part of a request can have, as expressions over bytes; dotSegment and
// resolvedEscape are the paths that it cannot have. A search for a text must meet these
// conditions. A proxy sees a path in normal form (SPEC 11.2), and a header value without
// spaces at its ends and without control characters. Envoy refuses requests whose
// authority has other bytes than authorityTexts.
const (
	pathTexts      = `(?:/[!$-.0-;=@-Z\[\]_a-z~]+)+/?|/`
	dotSegment     = `(?:.*/)?\.\.?(?:[;/].*)?`
	resolvedEscape = `.*%(?:00|2[dDeEfF]|3[0-9]|4[1-9a-fA-F]|5[0-9aAcCfF]|6[1-9a-fA-F]|7[0-9aAeE]).*`
	headerTexts    = `(?:(?:` + visible + `)(?:(?:` + visible + `|[\t ])*(?:` + visible + `))?)?`
	visible        = `[!-~]|[\x{c2}-\x{df}][\x{80}-\x{bf}]|[\x{e1}-\x{ec}\x{ee}\x{ef}][\x{80}-\x{bf}]{2}`
	authorityTexts = `[!$-.0-;=@-Z\[\]_a-z~]+`
)

// The texts of the other parts, which proxies alone compare with expressions. In a path with
// a query, a dot segment or an escape is before the query.
const (
	methodTexts      = `[A-Z]+`
	nameTexts        = `[a-z0-9_-]+(?:\.[a-z0-9_-]+)*`
	tagTexts         = `[\w.-]+`
	segmentTexts     = `(?:/[\w.-]+)+`
	visibleQuery     = `(?:\?[!$-~]*)?`
	anyQuery         = `(?:\?(?s:.)*)?`
	targetDotSegment = `(?:[^?]*/)?(?:;|\.\.?[;/])[^?]*` + anyQuery + `|(?:[^?]*/)?\.\.?` + anyQuery // or parameters of an empty segment
	targetEscape     = `[^?]*%(?:00|2[dDeEfF]|3[0-9]|4[1-9a-fA-F]|5[0-9aAcCfF]|6[1-9a-fA-F]|7[0-9aAeE]).*`
)

// clientIDs returns the expression of the SPIFFE IDs of some trust domains, or of any if there
// are none. An ID has a path.
func clientIDs(domains []string) string {
	if len(domains) == 0 {
		return `spiffe://[a-z0-9._-]+` + segmentTexts
	}
	quoted := make([]string, len(domains))
	for i, domain := range domains {
		quoted[i] = regexp.QuoteMeta(domain)
	}
	return `spiffe://(?:` + strings.Join(quoted, "|") + `)` + segmentTexts
}

// universes contains the languages that searches of one problem have used.
type universes map[string]language.Language

func (u universes) languageOf(expression string) language.Language {
	l := u[expression]
	if l == nil {
		l = language.Values(expression)
		u[expression] = l
	}
	return l
}

// texts returns the languages that the text of a variable must be in, and the languages
// that it must not be in. The variable is compared with expressions.
func (u universes) texts(v variable, space *Space) (in, out []language.Language) {
	switch {
	case v.part == spiffeID:
		return []language.Language{u.languageOf(clientIDs(space.TrustDomains))}, []language.Language{u.languageOf(dotSegment)}
	case v.part == tag:
		return []language.Language{u.languageOf(tagTexts)}, nil
	case v.part == sni:
		return []language.Language{u.languageOf(nameTexts)}, nil
	case v.part == method:
		return []language.Language{u.languageOf(methodTexts)}, nil
	case v.part == path && space.Queries:
		return []language.Language{u.languageOf("(?:" + pathTexts + ")" + visibleQuery)}, []language.Language{u.languageOf(targetDotSegment), u.languageOf(targetEscape)}
	case v.part == path:
		return []language.Language{u.languageOf(pathTexts)}, []language.Language{u.languageOf(dotSegment), u.languageOf(resolvedEscape)}
	case v == variable{header, "host"}:
		return []language.Language{u.languageOf(authorityTexts)}, nil
	}
	return []language.Language{u.languageOf(headerTexts)}, nil
}

// another returns a text that begins with a prefix and meets no other conditions than the
// prefix. No value contains the continuation of the text.
func another(prefix string, values []string) string {
	word := "other"
	for n := 1; slices.ContainsFunc(values, func(value string) bool { return strings.Contains(value, word) }); n++ {
		word = "other" + strconv.Itoa(n)
	}
	return prefix + word
}
