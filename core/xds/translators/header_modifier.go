package translators

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/conf"
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

// isHost reports whether a header is the authority of a request, which Envoy does
// not change as a header.
func isHost(name conf.HeaderName) bool { return strings.EqualFold(string(name), "host") }
