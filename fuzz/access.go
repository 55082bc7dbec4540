package fuzz

import (
	"fmt"
	"maps"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

const permissionKind = "MeshTrafficPermission"

// CompareAccess checks that the subject and the reference decide alike about
// requests to every inbound of a scenario (SPEC 7.2 to 7.6), and warn as often.
func CompareAccess(subject Subject, s *Scenario) error {
	return compare(subject, s, (*comparison).access)
}

func (c *comparison) access() error {
	for i := range c.dp.Inbounds {
		if c.hidden(i) {
			continue
		}
		permissions := c.subject.Permissions(c.dp, i, c.opt.Shadow)
		if permissions == nil {
			permissions = new(permission.Permissions)
		}
		for _, request := range requests {
			if err := c.request(i, permissions, request); err != nil {
				return fmt.Errorf("inbound %q, %+v: %w", c.inboundName(i), request, err)
			}
		}
	}
	return nil
}

func (c *comparison) request(inbound int, permissions *permission.Permissions, r naive.Request) error {
	want, err := naive.Access(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.inboundName(inbound), r, c.opt)
	if err != nil {
		return fmt.Errorf("the reference fails: %w", err)
	}
	var headers []permission.Header
	for name, value := range r.Headers {
		headers = append(headers, permission.Header{Name: name, Value: value})
	}
	answer := permissions.Decide(&permission.Request{
		SpiffeID: r.SpiffeID, SNI: r.SNI, Method: r.Method, Path: r.Path,
		Headers: permission.NewHeaders(headers...), Tags: resource.NewTags(r.Tags),
	})
	got := maps.Clone(decisionTree(answer.Decision))
	if answer.HasShadow {
		got["shadow"] = decisionTree(answer.Shadow)
	}
	// The texts of warnings are free.
	got["warnings"], want["warnings"] = len(permissions.Warnings), len(want["warnings"].([]any))
	if permissions.Rules == nil {
		dropIdleShadow(want)
		dropIdleShadow(got)
	}
	if diff := difference(parse(asText(want)), parse(asText(got))); diff != "" {
		return fmt.Errorf("the decisions differ (-reference +subject):\n%s", diff)
	}
	return nil
}

// dropIdleShadow removes a shadow decision that says the same. SPEC 10 tells
// when there is one for rules; for `from` it does not tell whether an item
// that no client can satisfy makes one.
func dropIdleShadow(answer map[string]any) {
	shadow, _ := answer["shadow"].(map[string]any)
	if shadow != nil && shadow["decision"] == answer["decision"] {
		delete(answer, "shadow")
	}
}

func decisionTree(d permission.Decision) map[string]any {
	tree, _ := parse(asText(d)).(map[string]any)
	return tree
}

// requests are made to every inbound. With requestMatches they meet each way
// to compare, on both sides.
var requests = []naive.Request{
	{},
	{SpiffeID: "spiffe://td/a"},
	{SpiffeID: "spiffe://td/a/b", Method: "GET"},
	{SpiffeID: "spiffe://td/ab", SNI: "a.example"},
	{SpiffeID: "spiffe://td/longer/x", Method: "PUT", Path: "/longer/x", SNI: "a.example"},
	{SpiffeID: "spiffe://other/a", SNI: "b.example"},
	{SNI: "a.Example", Path: "/a?x=1"},
	{Path: "/a/b", Method: "GET", Headers: map[string]string{"X": "1"}},
	{Path: "/ab", Method: "PUT", Headers: map[string]string{"x": "12", "Y": ""}},
	{Path: "/x", Method: "GET", Headers: map[string]string{"X": "2"}},
	{SpiffeID: "spiffe://td/longer", Path: "/longer", Headers: map[string]string{"x": "21"}},
	{SpiffeID: "spiffe://td", Path: "/x/a/b"},
	{Path: "/", Method: "GET", Headers: map[string]string{"y": "2"}},
	{Tags: map[string]string{"kuma.io/service": "web"}},
	{Tags: map[string]string{"kuma.io/service": "web", "version": "v1"}},
	{Tags: map[string]string{"kuma.io/service": "api", "version": "v2", "team": "x"}},
	{Tags: map[string]string{"version": "v2", "team": "y"}},
	{Tags: map[string]string{"team": "z"}},
}
