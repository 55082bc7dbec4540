package translators

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// headerOptions returns what Envoy sets and adds.
func headerOptions(set, add []conf.HeaderKeyValue) (options []*corev3.HeaderValueOption) {
	for _, h := range set {
		options = append(options, headerOption(h, corev3.HeaderValueOption_OVERWRITE_IF_EXISTS_OR_ADD))
	}
	for _, h := range add {
		options = append(options, headerOption(h, corev3.HeaderValueOption_APPEND_IF_EXISTS_OR_ADD))
	}
	return options
}

// firstHeaders returns what Envoy sets and adds by a modifier, whose lists may come from two
// policies: of more headers than Envoy accepts, the first ones.
func firstHeaders(m *conf.HeaderModifier, most int) []*corev3.HeaderValueOption {
	options := headerOptions(m.Set, m.Add)
	return options[:min(len(options), most)]
}

// warnHeaders warns of a modifier with more headers than firstHeaders returns.
func warnHeaders(r *xds.Report, e *results.Effective, field string, m *conf.HeaderModifier, most int) {
	if n := len(m.Set) + len(m.Add); n > most {
		r.Warn(diag.ContradictingValues, e, field+"/add", "the policies change %d headers together, and the limit of Envoy is %d: the first ones are changed", n, most)
	}
}

func headerOption(h conf.HeaderKeyValue, action corev3.HeaderValueOption_HeaderAppendAction) *corev3.HeaderValueOption {
	return &corev3.HeaderValueOption{
		Header:         &corev3.HeaderValue{Key: string(h.Name), Value: literal(h.Value)},
		AppendAction:   action,
		KeepEmptyValue: true,
	}
}

// literal escapes a text so that Envoy writes it unchanged where it would replace operators
// between percent signs.
func literal(text string) string { return strings.ReplaceAll(text, "%", "%%") }
