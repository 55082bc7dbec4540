package conf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestSpiffeID(t *testing.T) {
	bad := func(id, why string) string {
		return `f:1:22: value: bad SPIFFE ID "` + id + `": ` + why + `; write spiffe://trust-domain/path`
	}
	match := func(id string) string { return `{type: Exact, value: "` + id + `"}` }
	long := "spiffe://td/" + strings.Repeat("a", 2048)
	table := cases{
		match("spiffe://td/ns/default/sa/web"):            `{"type":"Exact","value":"spiffe://td/ns/default/sa/web"}`,
		match("spiffe://trust_domain-1.mesh/A.b_c-d"):     `{"type":"Exact","value":"spiffe://trust_domain-1.mesh/A.b_c-d"}`,
		match("spiffe://td"):                              `{"type":"Exact","value":"spiffe://td"}`,
		`{type: Prefix, value: "spiffe://td/"}`:           `{"type":"Prefix","value":"spiffe://td/"}`,
		`{type: Prefix, value: "spiffe://td/ns/legacy/"}`: `{"type":"Prefix","value":"spiffe://td/ns/legacy/"}`,
		match("http://td/a"):                              bad("http://td/a", "it must start with spiffe://"),
		match("spiffe://Td/a"):                            bad("spiffe://Td/a", "the trust domain has lower-case letters, digits, '.', '-' and '_' only"),
		match("spiffe:///a"):                              bad("spiffe:///a", "the trust domain has lower-case letters, digits, '.', '-' and '_' only"),
		match("spiffe://td:80/a"):                         bad("spiffe://td:80/a", "the trust domain has lower-case letters, digits, '.', '-' and '_' only"),
		match("spiffe://td/"):                             bad("spiffe://td/", "a path segment is empty"),
		match("spiffe://td/a//b"):                         bad("spiffe://td/a//b", "a path segment is empty"),
		match("spiffe://td/a/.."):                         bad("spiffe://td/a/..", `the path segment ".." is not allowed`),
		match("spiffe://td/a%20b"):                        bad("spiffe://td/a%20b", `the path segment "a%20b" has a character other than letters, digits, '.', '-' and '_'`),
		match("spiffe://td/a?b"):                          bad("spiffe://td/a?b", `the path segment "a?b" has a character other than letters, digits, '.', '-' and '_'`),
		match(long):                                       bad(long[:80], "it is longer than 2048 bytes"),
		`{type: Suffix, value: "spiffe://td"}`:            `f:1:8: type: unknown value "Suffix"; did you mean "Prefix"?`,
		`{type: Exact}`:                                   `f:1:1: value: required field is missing`,
	}
	check[conf.SpiffeIDMatch](t, table)
}

func TestTrustDomain(t *testing.T) {
	long := strings.Repeat("a", 255)
	const hint = `; write a name such as prod.mesh.local`
	check[conf.TrustDomain](t, cases{
		`prod.mesh.local`: `"prod.mesh.local"`,
		long:              `"` + long + `"`,
		long + "a":        `f:1:1: bad trust domain "` + long + `a": the trust domain is longer than 255 bytes` + hint,
		`Prod`:            `f:1:1: bad trust domain "Prod": the trust domain has lower-case letters, digits, '.', '-' and '_' only` + hint,
		`""`:              `f:1:1: bad trust domain "": the trust domain has lower-case letters, digits, '.', '-' and '_' only` + hint,
	})
}

func TestMatch(t *testing.T) {
	check[conf.Match](t, cases{
		`{}`: `{}`,
		`{spiffeID: {type: Exact, value: "spiffe://td/a"}}`: `{"spiffeId":{"type":"Exact","value":"spiffe://td/a"}}`,
		`{sni: a.example}`:                                    `{"sni":"a.example"}`,
		`{sni: {type: Exact, value: a.example}}`:              `{"sni":"a.example"}`,
		`{sni: {value: a.example}}`:                           `{"sni":"a.example"}`,
		`{sni: {type: Prefix, value: a}}`:                     `f:1:14: sni.type: unknown value "Prefix"; one of "Exact"`,
		`{sni: {name: a, value: b}}`:                          `f:1:8: sni.name: unknown field; one of "type", "value"`,
		`{sni: {value: a, value: b}}`:                         `f:1:18: sni: duplicate field "value"; it is in line 1 already`,
		`{sni: {value: ~}}`:                                   `f:1:15: sni.value: must not be null; leave the field out instead`,
		`{sni: {value: 7}}`:                                   `f:1:15: sni.value: must be a string, not the number 7; write it in quotes: "7"`,
		`{method: &m GET, sni: {value: *m}}`:                  `{"sni":"GET","method":"GET"}`,
		`{sni: ""}`:                                           `f:1:7: sni: bad server name ""; write a host name`,
		`{sni: "a:443"}`:                                      `f:1:7: sni: bad server name "a:443"; write a host name`,
		`{sni: "a b"}`:                                        `f:1:7: sni: bad server name "a b"; write a host name`,
		`{sni: "ä.example"}`:                                  `f:1:7: sni: bad server name "ä.example"; write a host name`,
		`{sni: a.example.}`:                                   `f:1:7: sni: bad server name "a.example."; leave out the dot at the end`,
		`{sni: 7}`:                                            `f:1:7: sni: must be a string, not the number 7; write it in quotes: "7"`,
		`{sni: [a]}`:                                          `f:1:7: sni: must be a string, not a list`,
		`{path: {type: Prefix, value: /a}}`:                   `{"path":{"type":"Prefix","value":"/a"}}`,
		`{path: {type: Exact, value: a}}`:                     `f:1:29: path.value: a path must start with /`,
		`{path: {type: Exact, value: "/a?b"}}`:                `f:1:29: path.value: a path must not contain ? or #; paths are compared without the query`,
		`{path: {type: RegularExpression, value: "("}}`:       "f:1:41: path.value: bad regular expression: error parsing regexp: missing closing ): `(`; write it in RE2's syntax",
		`{path: {type: RegularExpression, value: '\Qa.b\E'}}`: `{"path":{"type":"RegularExpression","value":"\\Qa.b\\E"}}`,
		`{path: {type: RegularExpression, value: '\Qa.b'}}`:   "f:1:41: path.value: bad regular expression: it cannot be in a group: missing closing ); end \\Q with \\E",
		`{path: {type: PathPrefix, value: /a}}`:               `f:1:15: path.type: unknown value "PathPrefix"; one of "Exact", "Prefix", "RegularExpression"`,
		`{path: {type: Exact, value: "/a//b"}}`:               `f:1:29: path.value: no request has this path: // is merged to / before paths are compared; write one slash`,
		`{path: {type: Prefix, value: "/a/../b"}}`:            `f:1:30: path.value: no request has this path: the segment .. is resolved before paths are compared; leave it out`,
		`{path: {type: Exact, value: "/a%2Fb"}}`:              `f:1:29: path.value: no request has this path: a request with an escaped slash or backslash is refused; leave it out`,
		`{path: {type: Exact, value: "/%41"}}`:                `f:1:29: path.value: no request has this path: the escape %41 is resolved before paths are compared; write A`,
		`{path: {type: Exact, value: "/a%2"}}`:                `f:1:29: path.value: no request has this path: a percent sign is not followed by two hexadecimal digits; write %25`,
		`{path: {type: Exact, value: "/ä"}}`:                  `f:1:29: path.value: no request has this path: it has a character beyond ASCII; write it percent-encoded`,
		`{path: {type: Exact, value: "/a b"}}`:                `f:1:29: path.value: no request has this path: it has a blank or a control character; write it percent-encoded`,
		`{path: {type: Exact, value: '/a\b'}}`:                `f:1:29: path.value: no request has this path: a backslash becomes a slash before paths are compared; write a slash`,
		`{path: {type: Exact, value: "/{a}"}}`:                `f:1:29: path.value: no request has this path: the character { is percent-encoded before paths are compared; write it percent-encoded`,
		`{path: {type: Exact, value: "/%C3%a4;x/a..b/"}}`:     `{"path":{"type":"Exact","value":"/%C3%a4;x/a..b/"}}`,
		`{headers: [{name: Te, value: a}]}`:                   `f:1:19: headers[0].name: the proxy writes, removes or interprets the header "Te" itself; compare another header`,
		`{headers: [{name: X-Envoy-Foo, value: a}]}`:          `f:1:19: headers[0].name: the proxy writes, removes or interprets the header "X-Envoy-Foo" itself; compare another header`,
		`{headers: [{name: a, value: " b"}]}`:                 `f:1:29: headers[0].value: no request has this value: spaces at its ends are removed; remove them`,
		`{headers: [{name: a, value: "b "}]}`:                 `f:1:29: headers[0].value: no request has this value: spaces at its ends are removed; remove them`,
		`{headers: [{type: Prefix, name: a, value: "b "}]}`:   `{"headers":[{"type":"Prefix","name":"a","value":"b "}]}`,
		`{headers: [{type: Prefix, name: a, value: " b"}]}`:   `f:1:43: headers[0].value: no request has this value: spaces at its ends are removed; remove them`,
		`{headers: [{name: a, value: "b\nc"}]}`:               `f:1:29: headers[0].value: no request has this value: it has a control character; remove it`,
		`{method: PATCH}`:                                     `{"method":"PATCH"}`,
		`{method: Post}`:                                      `f:1:10: method: unknown value "Post"; did you mean "POST"?`,
		`{spiffeId: ~}`:                                       `f:1:12: spiffeId: must not be null; leave the field out instead`,
	})
}

func TestRegexThatIsTooLong(t *testing.T) {
	long := strings.Repeat("a", 1024)
	check[conf.PathMatch](t, cases{
		`{type: RegularExpression, value: ` + long + `}`:                                    `{"type":"RegularExpression","value":"` + long + `"}`,
		`{type: RegularExpression, value: "` + strings.Repeat("((a|$)?b*){999}", 60) + `"}`: "f:1:34: value: bad regular expression: with its counts expanded it has more than 10000 instructions; repeat less",
		`{type: RegularExpression, value: "(a{1000}){2}"}`:                                  "f:1:34: value: bad regular expression: error parsing regexp: invalid repeat count: `{2}`; repeat at most 1000 times, with the counts of nested repetitions multiplied, and give the smaller count first",
		`{type: RegularExpression, value: '` + strings.Repeat(`\pL`, 300) + `'}`:            "f:1:34: value: bad regular expression: it has more than 8 classes of Unicode (\\p), or (?i) and ranges of more than 2048 characters in all; write a class without \\p, or a range that is shorter or not under (?i)",
		`{type: RegularExpression, value: ` + long + `a}`:                                   "f:1:34: value: a regular expression must not be longer than 1024 bytes",
	})
}

func TestMatchEmpty(t *testing.T) {
	sni, method := conf.SNI("a"), conf.Method("GET")
	for name, c := range map[string]struct {
		match conf.Match
		empty bool
	}{
		"nothing":    {conf.Match{}, true},
		"no headers": {conf.Match{Headers: []conf.HeaderMatch{}}, true},
		"spiffeId":   {conf.Match{SpiffeID: &conf.SpiffeIDMatch{}}, false},
		"sni":        {conf.Match{SNI: &sni}, false},
		"path":       {conf.Match{Path: &conf.PathMatch{}}, false},
		"method":     {conf.Match{Method: &method}, false},
		"headers":    {conf.Match{Headers: []conf.HeaderMatch{{Name: "a"}}}, false},
	} {
		if got := c.match.Empty(); got != c.empty {
			t.Errorf("%s: got %t, want %t", name, got, c.empty)
		}
	}
}

func TestHeaderMatch(t *testing.T) {
	check[conf.HeaderMatch](t, cases{
		`{name: X-A, value: b}`:                                 `{"name":"X-A","value":"b"}`,
		`{type: Exact, name: a, value: ""}`:                     `{"type":"Exact","name":"a","value":""}`,
		`{type: Prefix, name: a, value: b}`:                     `{"type":"Prefix","name":"a","value":"b"}`,
		`{type: Present, name: a}`:                              `{"type":"Present","name":"a"}`,
		`{type: Absent, name: a, value: b}`:                     `f:1:32: value: is not allowed with type "Absent"; remove it`,
		`{name: a}`:                                             `f:1:1: value: is required for type "Exact"`,
		`{type: RegularExpression, name: a, value: "[0-9"}`:     "f:1:43: value: bad regular expression: error parsing regexp: missing closing ]: `[0-9`; write it in RE2's syntax",
		`{type: RegularExpression, name: Host, value: "[Ā-ￜ]"}`: `f:1:46: value: bad regular expression: it is too large in any letter case, in which a host is compared; compare a host with ASCII characters`,
		`{name: "a b", value: c}`:                               `f:1:8: name: bad header name "a b"; use letters, digits and -`,
		`{name: "", value: c}`:                                  `f:1:8: name: bad header name ""; use letters, digits and -`,
		`{name: ":path", value: c}`:                             `f:1:8: name: bad header name ":path"; use letters, digits and -`,
	})
	if got := (&conf.HeaderMatch{Name: "a"}).How(); got != conf.HeaderExact {
		t.Errorf("the default type is %s", got)
	}
}

func TestHeaderModifier(t *testing.T) {
	check[conf.HeaderModifier](t, cases{
		`{set: [{name: a, value: b}], add: []}`:                         `{"set":[{"name":"a","value":"b"}],"add":[]}`,
		`{set: [{name: a, value: b}, {name: A, value: c}]}`:             `f:1:36: set[1].name: duplicate header "A"; one change for each header`,
		`{set: [{name: a, value: b}], add: [{name: a, value: c}]}`:      `f:1:43: add[0].name: duplicate header "a"; one change for each header`,
		`{set: [{name: a, value: b}], remove: [c]}`:                     `f:1:30: remove: unknown field; one of "set", "add"`,
		`{set: [{name: Host, value: a}]}`:                               `f:1:15: set[0].name: Envoy does not change the header "Host" here; remove it`,
		`{add: [{name: host, value: a}]}`:                               `f:1:15: add[0].name: Envoy does not change the header "host" here; remove it`,
		`{add: [{name: ` + strings.Repeat("a", 16385) + `, value: a}]}`: `f:1:15: add[0].name: the name of a header must not be longer than 16384 bytes`,
		many(1001): `f:1:1: changes 1001 headers; the limit of Envoy is 1000`,
	})
	if got := decode[conf.HeaderModifier](t, many(1000)); !strings.HasPrefix(got, "{") {
		t.Errorf("1000 headers: got %s", got)
	}
}

// many returns a modifier of n headers.
func many(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("{name: a%d, value: b}", i))
	}
	return "{set: [" + strings.Join(names[:n/2], ", ") + "], add: [" + strings.Join(names[n/2:], ", ") + "]}"
}
