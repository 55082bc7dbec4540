package request

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/conf"
)

// AuthorityExpression returns the regular expression of a condition on the host.
// Compare it with the forms of an authority (regex.Expr.Authority), because the client
// chooses the letter case, a final dot and a port (SPEC 7.2). The condition must have a
// value.
func AuthorityExpression(h *conf.HeaderMatch) string {
	switch h.How() {
	case conf.HeaderPrefix:
		return anyCase(*h.Value) + `(?s:.)*`
	case conf.HeaderRegex:
		return `(?i:` + *h.Value + `)`
	}
	return anyCase(withoutFinalDot(*h.Value))
}

// withoutFinalDot returns an authority without the dot at the end of its host.
func withoutFinalDot(authority string) string {
	host, port, _ := strings.Cut(authority, ":")
	if strings.HasPrefix(authority, "[") || !strings.HasSuffix(host, ".") {
		return authority
	}
	if port == "" {
		return strings.TrimSuffix(host, ".")
	}
	return strings.TrimSuffix(host, ".") + ":" + port
}

// anyCase returns the expression for a text in any ASCII letter case. With (?i), a k
// would also match the Kelvin sign.
func anyCase(text string) string {
	var b strings.Builder
	for _, c := range text {
		if folded := unicode.ToLower(c); c < utf8.RuneSelf && 'a' <= folded && folded <= 'z' {
			b.WriteString("[" + string(folded-'a'+'A') + string(folded) + "]")
		} else {
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String()
}
