package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/cedar-policy/cedar-go"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// permissions compares decisions about requests: an inbound that policies with eight entries
// each select, seven exact values and one prefix, of the client's identity or of the path.
func permissions() []comparison {
	decide := func(policies int, by field, what string) comparison {
		return comparison{
			subject: "Authorization: 8 entries in each policy",
			label:   fmt.Sprintf("decide by %s, %d policies", by, policies),
			work:    "decide a request by its " + what, input: fmt.Sprintf("%s policies; allowed, denied, by prefix and unknown in turn", grouped(policies)), unit: "s",
			note: "Cedar's language can say more, and evaluates each policy for each request: here two for each permission, with sets of values; the regular expressions are one of all denied and one of all allowed values. Envoy compiles such expressions with RE2, which is not measured",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				return decideRequests(ctx, s.pick(policies, min(policies, 20)), by)
			},
		}
	}
	var list []comparison
	for _, policies := range []int{10, 100, 1_000} {
		list = append(list, decide(policies, spiffeID, "SPIFFE ID"))
	}
	return append(list, decide(100, path, "path"), decide(1_000, path, "path"))
}

// A field of a request is what the entries are about.
type field string

const (
	spiffeID field = "identity"
	path     field = "path"
)

// value returns the value of the field that is made of an identity: all of it, or its path.
func (f field) value(id string) string {
	if f == path {
		return strings.TrimPrefix(id, "spiffe://shop.mesh")
	}
	return id
}

// request returns a request with a value in the field.
func (f field) request(value string) request.Request {
	if f == path {
		return request.Request{Path: value}
	}
	return request.Request{SpiffeID: value}
}

// entry is an entry of a permission.
type entry struct {
	policy       int
	deny, prefix bool
	value        string
}

func decideRequests(ctx context.Context, n int, by field) (*contest, error) {
	kind := meshtrafficpermission.Kind()
	policies := shape.Permissions(kind, n)
	entries := entriesOf(policies, by)
	if by == path {
		usePaths(policies)
	}
	list, err := decisionList(ctx, kind, policies)
	if err != nil {
		return nil, err
	}
	cedars, err := cedar.NewPolicySetFromBytes("permissions.cedar", []byte(cedarText(entries)))
	if err != nil {
		return nil, err
	}
	denied, allowed, err := expressions(entries)
	if err != nil {
		return nil, err
	}

	var values []string
	var requests []request.Request
	var cedarRequests []cedar.Request
	for _, id := range []string{
		shape.TeamID(n-1, 5), shape.BlockedID(n - 1),
		fmt.Sprintf("spiffe://shop.mesh/ns/shared-%d/sa/web", n/2), "spiffe://shop.mesh/ns/unknown/sa/app-0",
	} {
		value := by.value(id)
		values = append(values, value)
		requests = append(requests, by.request(value))
		cedarRequests = append(cedarRequests, cedar.Request{
			Principal: cedar.NewEntityUID("Client", cedar.String(value)),
			Action:    cedar.NewEntityUID("Action", "call"),
			Resource:  cedar.NewEntityUID("Inbound", "main-port"),
			Context:   cedar.NewRecord(cedar.RecordMap{"value": cedar.String(value)}),
		})
	}
	return &contest{contenders: []contender{
		decider(meshmatch, len(values), func(i int) bool { return list.Decide(&requests[i]).Decision.Allow }),
		decider("cedar-go", len(values), func(i int) bool {
			decision, _ := cedar.Authorize(cedars, nil, cedarRequests[i])
			return decision == cedar.Allow
		}),
		decider("package regexp", len(values), func(i int) bool {
			return !denied.MatchString(values[i]) && allowed.MatchString(values[i])
		}),
	}}, nil
}

// usePaths makes the entries about paths.
func usePaths(policies []*resource.Policy) {
	for _, p := range policies {
		c := p.Rules[0].Conf.(*meshtrafficpermission.RuleConf)
		for _, matches := range [][]conf.Match{c.Deny, c.Allow} {
			for i := range matches {
				id := matches[i].SpiffeID
				matches[i] = conf.Match{Path: &conf.PathMatch{Type: conf.PathMatchType(id.Type), Value: path.value(id.Value)}}
			}
		}
	}
}

func decider(name string, requests int, allow func(request int) bool) contender {
	next := 0
	return contender{
		name: name,
		answer: func() (string, error) {
			var decisions []bool
			for i := range requests {
				decisions = append(decisions, allow(i))
			}
			return fmt.Sprint(decisions), nil
		},
		operate: func(n int) error {
			for range n {
				allow(next % requests)
				next++
			}
			return nil
		},
	}
}

// decisionList returns the permissions of an inbound that all policies select.
func decisionList(ctx context.Context, kind *resource.Kind, policies []*resource.Policy) (*permission.Permissions, error) {
	d := shape.Dataplane(7, 0)
	view, err := core.Options{Semantics: core.TargetRef}.NewView(ctx, resource.NewKinds(kind), &resource.Set{Policies: policies, Dataplanes: []*resource.Dataplane{d}})
	if err != nil {
		return nil, err
	}
	config, err := view.Config(view.Dataplane(d.ID), kind.Name, core.Enforced)
	if err != nil {
		return nil, err
	}
	permissions := permission.ForInbound(config, d, 0)
	permissions.Decide(&request.Request{}) // the first request makes the lookup
	return permissions, nil
}

func entriesOf(policies []*resource.Policy, by field) []entry {
	var entries []entry
	add := func(policy int, deny bool, matches []conf.Match) {
		for _, m := range matches {
			entries = append(entries, entry{policy: policy, deny: deny, prefix: m.SpiffeID.Type == conf.SpiffeIDPrefix, value: by.value(m.SpiffeID.Value)})
		}
	}
	for i, p := range policies {
		c := p.Rules[0].Conf.(*meshtrafficpermission.RuleConf)
		add(i, true, c.Deny)
		add(i, false, c.Allow)
	}
	return entries
}

// cedarText has a policy for the denials of each permission and one for what it allows, with
// sets of values; a policy for each entry took longer. In both languages a denial overrides, and
// what nothing allows is denied.
func cedarText(entries []entry) string {
	var text strings.Builder
	for len(entries) > 0 {
		first := entries[0]
		n := slices.IndexFunc(entries, func(e entry) bool { return e.policy != first.policy || e.deny != first.deny })
		if n < 0 {
			n = len(entries)
		}
		var exact, others []string
		for _, e := range entries[:n] {
			if e.prefix {
				others = append(others, fmt.Sprintf("context.value == %q || context.value like %q", e.value, e.value+"/*"))
			} else {
				exact = append(exact, fmt.Sprintf("%q", e.value))
			}
		}
		entries = entries[n:]
		effect := "permit"
		if first.deny {
			effect = "forbid"
		}
		conditions := append([]string{"[" + strings.Join(exact, ", ") + "].contains(context.value)"}, others...)
		fmt.Fprintf(&text, "%s (principal, action, resource) when { %s };\n", effect, strings.Join(conditions, " || "))
	}
	return text.String()
}

func expressions(entries []entry) (denied, allowed *regexp.Regexp, err error) {
	var deny, allow []string
	for _, e := range entries {
		text := regexp.QuoteMeta(e.value)
		if e.prefix {
			text += "(?:/.*)?"
		}
		if e.deny {
			deny = append(deny, text)
		} else {
			allow = append(allow, text)
		}
	}
	if denied, err = regexp.Compile("^(?:" + strings.Join(deny, "|") + ")$"); err != nil {
		return nil, nil, err
	}
	allowed, err = regexp.Compile("^(?:" + strings.Join(allow, "|") + ")$")
	return denied, allowed, err
}
