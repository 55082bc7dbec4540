package translators

import (
	"errors"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// A choice is a conf of an inbound with the conditions under which it applies: those
// of a rule, or tags of the client. Without conditions it applies always.
type choice struct {
	*results.Effective
	rbac.Conditions
}

// withoutTags is the key of the conf that clients without tags have.
type withoutTags struct{ from *results.From }

// choicesOf returns the confs that an inbound has for the clients and requests that
// it sees. The first whose conditions hold applies. What never applies is left out:
// a choice that sees no client, and what comes after a choice without conditions. If no
// client has tags, the rule view of tags is not computed: it may be large, and one conf
// of it applies (SPEC 5.5). The error is a [*results.LimitError].
func choicesOf(i *xds.Inbound, in xds.InboundConf, sees xds.Visibility) ([]choice, error) {
	if in.InboundConfig == nil {
		return nil, nil
	}
	var all []choice
	for k := range in.Rules {
		all = append(all, choice{in.Rules[k].Effective, rbac.Conditions{Match: &in.Rules[k].Match}})
	}
	switch {
	case in.From == nil:
	case !sees.Tags:
		if e := memo.Weakly(i.Memo, withoutTags{in.From}, func() *results.Effective { return in.From.Client(nil) }); e != nil {
			all = append(all, choice{e, rbac.Conditions{}})
		}
	default:
		ordered, err := i.ClientRules(in.From)
		if err != nil {
			return nil, err
		}
		for _, r := range ordered {
			all = append(all, choice{r.Effective, rbac.Conditions{Tags: tagsOf(r.Selector)}})
		}
	}
	var seen []choice
	for k := range all {
		c := &all[k]
		if c.Match != nil && sees.Unseen(c.Match) != "" {
			continue
		}
		seen = append(seen, *c)
		if c.Empty() {
			break
		}
	}
	return seen, nil
}

// tagsOf returns the tags that a positive selector requires.
func tagsOf(s partition.Selector) resource.Tags {
	var tags resource.Tags
	for _, r := range s {
		value := r.Value
		if r.Kind == partition.Exists {
			value = resource.AnyValue
		}
		tags = append(tags, resource.Tag{Key: r.Key, Value: value})
	}
	return tags
}

// always returns the conf without conditions, which is the last one; nil if there is
// none.
func always(choices []choice) *results.Effective {
	if n := len(choices); n > 0 && choices[n-1].Empty() {
		return choices[n-1].Effective
	}
	return nil
}

// visibleChoices returns the choices of a filter chain; none for a gRPC server. It warns
// once for an inbound: of what never applies, and of a kind that is left out because it
// exceeds a limit (SPEC 11.2).
func visibleChoices(c *xds.Chain, in xds.InboundConf) []choice {
	if warnGRPC(c.Inbound, in) {
		return nil
	}
	choices, err := choicesOf(c.Inbound, in, c.Visibility())
	if c.Plaintext != (c.TLS == nil) {
		return choices // the other chain has the warnings
	}
	warnUnseenChoices(c.Inbound, in)
	warnLimit(c.Inbound, in, err)
	return choices
}

// requestChoices is visibleChoices for a filter of HTTP requests. It reports whether the chain
// can have one: not on a TCP inbound, where the field of the choices has no effect, and not for
// a gRPC server. Both are warnings, and so is a rule that applies by a header of a client.
func requestChoices(c *xds.Chain, in xds.InboundConf, field string) (choices []choice, ok bool) {
	choices = visibleChoices(c, in)
	if c.Protocol.IsHTTP() {
		if c.Client != xds.ProxylessGRPC && c.Plaintext == (c.TLS == nil) {
			warnChosenHeaders(c.Inbound, in)
		}
		return choices, c.Client != xds.ProxylessGRPC
	}
	for _, choice := range choices {
		c.WarnInbound(choice.Effective, field, "a TCP inbound sees no requests")
	}
	return choices, false
}

// warnLimit warns that the kind of the conf is left out, if there is an error.
func warnLimit(i *xds.Inbound, in xds.InboundConf, err error) {
	if err == nil {
		return
	}
	var limit *results.LimitError
	if errors.As(err, &limit) {
		for _, p := range limit.Policies {
			i.WarnPolicy(diag.PastLimit, p, 0, "", "%s is left out on this inbound: %v", in.Config.Kind.Name, err)
		}
	} else {
		i.WarnPlace(diag.PastLimit, "%s is left out on this inbound: %v", in.Config.Kind.Name, err)
	}
}

// warnUnseenChoices warns of rules and items that never apply, because of what the
// inbound does not see.
func warnUnseenChoices(i *xds.Inbound, in xds.InboundConf) {
	if in.InboundConfig == nil {
		return
	}
	sees := i.Visibility()
	for k := range in.Rules {
		if reason := sees.Unseen(&in.Rules[k].Match); reason != "" {
			i.Warn(diag.NeverMatches, in.Rules[k].Effective, "", "its match %s: it never applies", reason)
		}
	}
	warnUnseenTags(i, in, "it never applies")
}

// warnUnseenTags warns of items that select no client, because of what the inbound does
// not see. Effect is what follows.
func warnUnseenTags(i *xds.Inbound, in xds.InboundConf, effect string) {
	if in.From == nil {
		return
	}
	sees := i.Visibility()
	for _, o := range in.From.Origins() {
		if reason := sees.UnseenTags(o.Policy.From[o.Index].TargetRef.Selector()); reason != "" {
			i.WarnPolicy(diag.UnseenEntry, o.Policy, o.Index, "", "%s: %s", reason, effect)
		}
	}
}

// warnGRPC warns of all confs of an inbound of a gRPC server, which has no such kind.
// It reports whether the inbound is one.
func warnGRPC(i *xds.Inbound, in xds.InboundConf) bool {
	if i.Client != xds.ProxylessGRPC || in.InboundConfig == nil {
		return i.Client == xds.ProxylessGRPC
	}
	for _, o := range in.Origins() {
		i.WarnPolicy(diag.NotInGRPC, o.Policy, o.Index, "", "a gRPC server has permissions only")
	}
	return true
}
