package regex

import "testing"

// An expression holds for an authority if it matches the authority with or without
// its final dot and with or without its port.
func TestAuthority(t *testing.T) {
	for _, test := range []struct {
		expression, authority string
		want                  bool
	}{
		{`a`, "a", true},
		{`a`, "a.", true},
		{`a`, "a:80", true},
		{`a`, "a.:80", true},
		{`a`, "ab", false},
		{`a`, "a..", false},
		{`a`, "a:b", false},
		{`^a$`, "a.:80", true},
		{`(?m)^a$`, "a:80", true},
		{`a\b`, "a:80", true},
		{`a:80`, "a.:80", true},
		{`a:80`, "a", false},
		{`a:80`, "a:8080", false},
		{`[^b]+80`, "a.:80", true},
		{`a(:80|b)$`, "a.:80", true},
		{`\[::1\]`, "[::1]:80", true},
		{`\[::1\]`, "[::1]", true},
		{`a\.`, "a.", true},
		{`a\.`, "a", false},
	} {
		if got := MustParse(test.expression).Authority().Matcher().MatchString(test.authority); got != test.want {
			t.Errorf("%s and %s: %v", test.expression, test.authority, got)
		}
	}
}
