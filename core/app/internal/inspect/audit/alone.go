package audit

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// OtherClients is the row of the clients that no filter names.
const OtherClients = "others"

// Alone is the answer of `audit --alone` (SPEC 19.2).
type Alone struct {
	Proxies []AloneProxy `json:"proxies"`
}

// AloneProxy is what one proxy allows.
type AloneProxy struct {
	Source   string          `json:"source"`
	Node     string          `json:"node"`
	Version  string          `json:"version"`
	Clients  []string        `json:"clients"` // SPIFFE IDs, then OtherClients
	Inbounds []string        `json:"inbounds"`
	Cells    []Cell          `json:"cells"`
	Rejected []dump.Rejected `json:"rejected"`
	Findings []Finding       `json:"findings"`
}

// Cell is what an inbound allows a client.
type Cell struct {
	Client  int    `json:"client"`
	Inbound int    `json:"inbound"`
	Access  string `json:"access"` // all, none, some or unknown
	// When is the condition of the allowed requests, if Access is some; AtLeast and AtMost bound
	// the condition of an unknown access. The conditions of the client are left out.
	When       *When    `json:"when,omitempty"`
	AtLeast    *When    `json:"atLeast,omitempty"`
	AtMost     *When    `json:"atMost,omitempty"`
	Conditions []string `json:"conditions,omitempty"` // on which it depends
	Why        string   `json:"why,omitempty"`        // the limit that the question or its condition exceeds
	// Least and Most are AtLeast and AtMost in a word.
	Least string `json:"-"`
	Most  string `json:"-"`
}

// AloneQuery restricts the answer.
type AloneQuery struct {
	From string // a SPIFFE ID; "": those that filters name, and all others
	To   string // an inbound; "": all
}

// NewAlone returns what proxies allow, for all requests that could exist.
func NewAlone(proxies []*dump.Proxy, q AloneQuery) (*Alone, error) {
	a := &Alone{}
	for _, p := range proxies {
		inbounds := inboundsOf(p)
		if q.To != "" {
			in, err := inboundNamed(p, q.To)
			if err != nil {
				return nil, err
			}
			inbounds = []*dump.Listener{in}
		}
		out := AloneProxy{Source: p.Source, Node: p.Node, Version: p.Version, Rejected: append([]dump.Rejected{}, p.Rejected...), Findings: []Finding{}}
		chains := make([][]*aloneChain, len(inbounds))
		for i, l := range inbounds {
			out.Inbounds = append(out.Inbounds, l.Name)
			chains[i] = chainsOf(l, 0, rbac.Connection{})
			for _, c := range chains[i] {
				out.Clients = append(out.Clients, c.filters.IDs...)
				out.Findings = append(out.Findings, findingsOf(l.Name, c.filters)...)
			}
		}
		slices.Sort(out.Clients)
		named := slices.Compact(out.Clients)
		out.Clients = append(slices.Clone(named), OtherClients)
		if q.From != "" {
			out.Clients = []string{q.From}
		}
		limits := requests.Limits(4)
		for i, id := range out.Clients {
			for k := range inbounds {
				cell := cellOf(chains[k], id, named, limits)
				cell.Client, cell.Inbound = i, k
				out.Cells = append(out.Cells, cell)
			}
		}
		out.Findings = distinct(out.Findings)
		a.Proxies = append(a.Proxies, out)
	}
	return a, nil
}

// inboundsOf returns the listeners with the direction INBOUND, or all if none has a direction.
func inboundsOf(p *dump.Proxy) []*dump.Listener {
	var in, all []*dump.Listener
	for i := range p.Listeners {
		l := &p.Listeners[i]
		all = append(all, l)
		if l.Inbound {
			in = append(in, l)
		}
	}
	if in != nil {
		return in
	}
	return all
}

// inboundNamed returns the inbound with a name, a port or ADDRESS:PORT. If there is none, the port is
// one by which connections get chains of a listener.
func inboundNamed(p *dump.Proxy, name string) (*dump.Listener, error) {
	var found []*dump.Listener
	var names []string
	for _, l := range inboundsOf(p) {
		port := strconv.FormatUint(uint64(l.Port), 10)
		names = append(names, l.Name)
		if name == l.Name || name == port || name == net.JoinHostPort(l.Address, port) {
			found = append(found, l)
		}
	}
	switch len(found) {
	case 0:
		if port, err := strconv.ParseUint(name, 10, 16); err == nil {
			for _, l := range inboundsOf(p) {
				if to := l.To(uint32(port)); to != nil {
					return to, nil
				}
			}
		}
		return nil, find.NotFound("inbound of "+p.Source, name, names)
	case 1:
		return found[0], nil
	}
	return nil, find.Usagef("%s: %d inbounds have the name or port %s; give ADDRESS:PORT", p.Source, len(found), name)
}

// aloneChain is a chain with the requests that it can receive.
type aloneChain struct {
	chain   *dump.Chain
	filters *rbac.Filters
	space   access.Space
	match   []string // conditions by which a connection gets this chain
}

// tagText begins a URI of a tag in a filter.
var tagText = regexp.MustCompile(`kuma://[A-Za-z0-9]`)

func chainsOf(l *dump.Listener, protocol request.Protocol, of rbac.Connection) []*aloneChain {
	var out []*aloneChain
	for k := range l.Chains {
		c := &l.Chains[k]
		data, _ := json.Marshal(c.Filters) // it was JSON
		tls, noTags := c.TLS != dump.PlainText, !tagText.Match(data)
		a := &aloneChain{chain: c, space: access.Space{Protocol: protocol, Plain: !tls, NoTags: noTags, Queries: true}}
		if c.HTTP {
			a.space.Protocol = request.HTTP
		}
		of.TLS, of.NoTags, of.Port = tls, noTags, c.Port
		a.filters = rbac.New(c, of)
		a.match = conditionsOf(c, cmp.Or(chainName(l, k), "the chain"))
		out = append(out, a)
	}
	return out
}

// conditionsOf returns the conditions by which a connection gets a chain.
func conditionsOf(c *dump.Chain, name string) (conditions []string) {
	if len(c.Match) > 0 {
		conditions = append(conditions, "the connection gets "+name+" by its "+strings.Join(c.Match, ", "))
	}
	if c.TLS == dump.UnknownTransport {
		conditions = append(conditions, "the transport socket of "+name+" shows the certificate of the client")
	}
	return conditions
}

// cellOf returns the cell of a client: what all chains that it can use allow it.
func cellOf(chains []*aloneChain, id string, named []string, limits access.Limits) Cell {
	var all access.ChainReach
	var used []*aloneChain
	for _, c := range chains {
		space, except := c.space, named
		if id != OtherClients {
			if c.space.Plain {
				continue // there is no such client in plain text
			}
			space.Client, except = &access.KnownClient{SpiffeID: id}, nil
		}
		used = append(used, c)
		reach, err := access.ReachOfChain(&space, c.filters.Chain, except, limits)
		if err != nil {
			return Cell{Access: "unknown", Why: fmt.Sprint(err)}
		}
		all.Allows, all.Denies = all.Allows || reach.Allows, all.Denies || reach.Denies
		all.Unknown = append(all.Unknown, reach.Unknown...)
		if len(chains) > 1 {
			all.Unknown = append(all.Unknown, c.match...)
		}
	}
	slices.Sort(all.Unknown)
	cell := Cell{Conditions: slices.Compact(all.Unknown)}
	if cell.Access = word(all.Allows, all.Denies); len(cell.Conditions) > 0 {
		cell.Access, cell.Least, cell.Most = "unknown", word(all.Allows, true), word(true, all.Denies)
	}
	cell.conditions(used, id, named)
	return cell
}

func word(allows, denies bool) string {
	switch {
	case allows && denies:
		return access.Some.String()
	case allows:
		return access.All.String()
	}
	return access.None.String()
}

// Decision is the answer about one request.
type Decision struct {
	Source   string             `json:"source"`
	Inbound  string             `json:"inbound"`
	Decision string             `json:"decision"` // ALLOW, DENY or UNKNOWN
	By       *ByProxy           `json:"by,omitempty"`
	Unknown  []PossibleDecision `json:"unknown"`
	Warnings []string           `json:"warnings"`
}

// PossibleDecision is a decision that is possible because of conditions that a dump does not show.
type PossibleDecision struct {
	ByProxy
	Decision string `json:"decision"`
}

// A PeerFacts is what a request does not have of its client.
type PeerFacts struct {
	Address netip.Addr // the zero value: it may be any
	DNSName string     // in its certificate; "": there is none
}

// Decide returns what an inbound of a proxy decides about a request of a client.
func Decide(p *dump.Proxy, inbound string, r *request.Request, client PeerFacts) (*Decision, error) {
	l, err := inboundNamed(p, inbound)
	if err != nil {
		return nil, err
	}
	protocol := request.TCP
	if r.Method != "" || r.Path != "" || len(r.Headers) > 0 {
		protocol = request.HTTP
	}
	d := &Decision{Source: p.Source, Inbound: l.Name, Unknown: []PossibleDecision{}, Warnings: []string{}}
	_, forwarded := r.Headers.Get("x-forwarded-for")
	for _, c := range chainsOf(l, protocol, rbac.Connection{Address: client.Address, Forwarded: forwarded, DNSName: client.DNSName}) {
		if c.space.Plain && (r.SpiffeID != "" || r.SNI != "" || len(r.Tags) > 0 || client.DNSName != "") {
			continue
		}
		if len(r.Tags) > 0 {
			c.space.NoTags = false
		}
		raw := c.space
		raw.Raw = c.chain.HTTP && !c.chain.Normalizes
		outcomes, err := access.Outcomes(&raw, c.filters.Chain, r, access.Parts{}, access.Limits{})
		if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
			return nil, fmt.Errorf("inbound %s: %w", l.Name, err)
		} else if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			filter, policy := c.filters.By(o)
			d.Unknown = append(d.Unknown, PossibleDecision{ByProxy{filter, policy, c.chain.Name}, o.Decision.String()})
		}
		d.Warnings = append(d.Warnings, c.match...)
	}
	switch {
	case len(d.Unknown) == 0:
		d.Decision, d.Warnings = "DENY", append(d.Warnings, "no filter chain takes this client: all of them are for plain text")
		return d, nil
	case slices.ContainsFunc(d.Unknown, func(c PossibleDecision) bool { return c.Decision != d.Unknown[0].Decision }):
		d.Decision = "UNKNOWN"
		return d, nil
	}
	d.Decision, d.By, d.Unknown = d.Unknown[0].Decision, &d.Unknown[0].ByProxy, []PossibleDecision{}
	return d, nil
}
