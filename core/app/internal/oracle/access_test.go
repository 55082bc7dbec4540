package oracle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/choices"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareAccess checks that the subject and the reference make the same decisions
// about requests to every inbound of a scenario (SPEC 7.2 to 7.6), with the same
// number of warnings.
func compareAccess(s subject, scenario *fuzz.Scenario) error {
	return forDataplanes(s, scenario, (*comparison).compareAccess)
}

func (c *comparison) compareAccess() error {
	for i := range c.dp.Inbounds {
		if c.hidden(i) {
			continue
		}
		permissions := c.answers.Permissions(c.dp, i, c.opt.Shadow)
		if permissions == nil {
			permissions = new(permission.Permissions)
		}
		for _, request := range slices.Concat(requests, randomRequests(c.seed)) {
			if err := c.compareRequest(i, permissions, request); err != nil {
				return fmt.Errorf("inbound %q, %+v: %w", c.inboundName(i), request, err)
			}
		}
	}
	return nil
}

func (c *comparison) compareRequest(inbound int, permissions *permission.Permissions, r naive.Request) error {
	want, err := naive.Access(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.inboundName(inbound), r, c.opt)
	if err != nil {
		return fmt.Errorf("the reference fails: %w", err)
	}
	var headers []request.Header
	for _, line := range r.Headers {
		headers = append(headers, request.Header(line))
	}
	answer := permissions.Decide(&request.Request{
		SpiffeID: r.SpiffeID, SNI: r.SNI, Method: r.Method, Path: r.Path,
		Headers: request.NewHeaders(headers...), Tags: resource.NewTags(r.Tags),
	})
	got := decisionTree(answer.Decision)
	if answer.HasShadow {
		got["shadow"] = decisionTree(answer.Shadow)
	}
	// SPEC does not define the texts of warnings.
	got["warnings"], want["warnings"] = len(permissions.Warnings), len(want["warnings"].([]any))
	if permissions.Rules == nil {
		dropIdleShadow(want)
		dropIdleShadow(got)
	}
	if diff := fuzz.Difference(parse(asText(want)), parse(asText(got))); diff != "" {
		return fmt.Errorf("the decisions differ %s", diff)
	}
	return nil
}

// dropIdleShadow removes a shadow decision that equals the decision. For
// `from`, SPEC 10 does not define whether an item that no client satisfies adds
// a shadow decision.
func dropIdleShadow(answer map[string]any) {
	shadow, _ := answer["shadow"].(map[string]any)
	if shadow != nil && shadow["decision"] == answer["decision"] {
		delete(answer, "shadow")
	}
}

// decisionTree returns a decision in the form of `access` (SPEC 10).
func decisionTree(d permission.Decision) map[string]any {
	by := map[string]any{"default": true}
	if at := d.By; at != nil {
		by = map[string]any{"kri": at.KRI, "index": at.Index}
		if at.List != permission.From {
			by["rule"], by["list"] = at.Rule, at.List.String()
		}
	}
	return map[string]any{"decision": d.String(), "by": by}
}

// requests are made to every inbound. Some satisfy each of requestMatches, and some
// do not.
var requests = []naive.Request{
	{},
	{SpiffeID: "spiffe://td/a"},
	{SpiffeID: "spiffe://td/a/b", Method: "GET"},
	{SpiffeID: "spiffe://td/ab", SNI: "a.example"},
	{SpiffeID: "spiffe://td/longer/x", Method: "PUT", Path: "/longer/x", SNI: "a.example"},
	{SpiffeID: "spiffe://other/a", SNI: "b.example"},
	{SNI: "a.Example", Path: "/a?x=1"},
	{SNI: "K.example", Path: "/aaa/b/b?"},
	{SNI: "\u212a.example", Path: "/aaaa/b"}, // the Kelvin sign is not the letter k
	{Path: "/a/b", Method: "GET", Headers: lines("X=1")},
	{Path: "/ab", Method: "PUT", Headers: lines("x=12", "Y=")},
	{Path: "/x", Method: "GET", Headers: lines("X=2")},
	{SpiffeID: "spiffe://td/longer", Path: "/longer", Headers: lines("x=21")},
	{SpiffeID: "spiffe://td", Path: "/x/a/b"},
	{Path: "/", Method: "GET", Headers: lines("y=2")},
	{Path: "/a/b/b", Method: "GET", Headers: lines("host=a.example", "cookie=a=1")},
	{Path: "/a//b", Headers: lines("Host=b.example", "Cookie=b=2; a=1; c=3")},
	{Path: "/a/./b", Method: "GET", Headers: lines("X= 2", "x=1 ")},
	{Path: "/x/../a%2Fb", Headers: lines("x=2, 12", "y=")},
	{Path: "/%61//b?x", Headers: lines("x=1 ,2", "X=3")},
	{Path: "/ä", Method: "GET", Headers: lines("x=1ä")},
	{Tags: map[string]string{"kuma.io/service": "web"}},
	{Tags: map[string]string{"kuma.io/service": "web", "version": "v1"}},
	{Tags: map[string]string{"kuma.io/service": "api", "version": "v2", "team": "x"}},
	{Tags: map[string]string{"version": "v2", "team": "y"}},
	{Tags: map[string]string{"team": "z"}},
}

// randomRequests returns a few requests of a scenario, with repeated header lines,
// values with commas and spaces, and paths in any form.
func randomRequests(seed uint64) []naive.Request {
	c := choices.New(fuzz.SeededBytes(seed))
	list := make([]naive.Request, 6)
	for i := range list {
		list[i] = naive.Request{
			SpiffeID: choices.Pick(c, "", "spiffe://td", "spiffe://td/a", "spiffe://td/a/b", "spiffe://td/ab", "spiffe://td/longer/x", "spiffe://other/a"),
			SNI:      choices.Pick(c, "", "a.example", "A.EXAMPLE", "k.example", "\u212a.example", "b.example"),
			Method:   choices.Pick(c, "", "GET", "PUT"),
			Path:     randomPath(c),
		}
		for range c.Below(4) {
			list[i].Headers = append(list[i].Headers, naive.HeaderLine{
				Name:  choices.Pick(c, "x", "X", "y", "host", "cookie"),
				Value: choices.Pick(c, "1", "2", "12", "21", "1,2", "1 , 2", " 1", "2, 1", "", "1 ", "a=1", "b=2; a=1", "1ä", "1Ä", "ſ", "S"),
			})
		}
	}
	return list
}

// randomPath returns a path that may not be in normal form, or none.
func randomPath(c *choices.Choices) string {
	path := ""
	for range c.Below(4) {
		path += "/" + choices.Pick(c, "a", "b", "longer", "x", "ab", "aaa", ".", "..", "", "%61", "%2F", "%2e", "ä", "%C3%A4", `a\b`)
	}
	return path + choices.Pick(c, "", "", "/", "?x=/a")
}

// lines returns the header lines of a request, each given as name=value.
func lines(texts ...string) []naive.HeaderLine {
	var out []naive.HeaderLine
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		out = append(out, naive.HeaderLine{Name: name, Value: value})
	}
	return out
}
