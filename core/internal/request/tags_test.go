package request

import (
	"strings"
	"testing"
)

func TestClientTags(t *testing.T) {
	for _, test := range []struct{ name, uris, want string }{
		{"none", "spiffe://td/a", ""},
		{"several", "kuma://version/v1 spiffe://td/a kuma://team/lead", "team=lead version=v1"},
		{"a key with slashes", "kuma://kuma.io/service/web", "kuma.io/service=web"},
		{"twice", "kuma://team/lead kuma://team/lead", "team=lead"},
		{"two values", "kuma://team/a kuma://team/b", "unknown"},
		{"no value", "kuma://team/ kuma://team kuma:///a kuma://", ""},
		{"another scheme", "KUMA://team/a urn:kuma://team/a", ""},
	} {
		tags, ok := ClientTags(strings.Fields(test.uris)...)
		got := tags.String()
		if !ok {
			got = "unknown"
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
