package audit

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Audit is the answer of `audit` (SPEC 19.1).
type Audit struct {
	Semantics semantics.Semantics `json:"semantics"` // by which policies decide
	Proxies   []Proxy             `json:"proxies"`
	Warnings  []diag.Diagnostic   `json:"warnings,omitempty"`
}

// Proxy is what one proxy runs, compared with the policies of its dataplane.
type Proxy struct {
	Dataplane string          `json:"dataplane"` // KRI
	Source    string          `json:"source"`    // the file or URL of the dump
	Version   string          `json:"version"`
	Inbounds  []Inbound       `json:"inbounds"`
	Resources []Resource      `json:"resources"`
	Rejected  []dump.Rejected `json:"rejected"`
	Findings  []Finding       `json:"findings"`
	Name      string          `json:"-"`
}

// Inbound is the comparison of an inbound.
type Inbound struct {
	Inbound  string       `json:"inbound"`
	Listener *bool        `json:"listener,omitempty"` // false: the proxy has no listener for it
	Allows   []Difference `json:"allows,omitempty"`   // the proxy allows them and the policies deny them
	Denies   []Difference `json:"denies,omitempty"`   // the reverse
	Unknown  []Difference `json:"unknown,omitempty"`  // it depends on conditions
}

// Difference is a pair of what decides in the proxy and by the policies, with a request.
type Difference struct {
	Witness    *inspect.Witness `json:"witness,omitempty"`
	By         *By              `json:"by,omitempty"`
	Conditions []string         `json:"conditions,omitempty"` // of unknown
	Why        string           `json:"why,omitempty"`        // the limit that a comparison exceeds
}

// By is what decides.
type By struct {
	Proxy    ByProxy         `json:"proxy"`
	Policies inspect.Decider `json:"policies"`
}

// ByProxy is the filter that decides, and the policy or action in it.
type ByProxy struct {
	Filter string `json:"filter"`
	Policy string `json:"policy"`
	Chain  string `json:"chain,omitempty"`
}

// Resource is a resource that a proxy should have and lacks.
type Resource struct {
	Type string `json:"type"`
	Name string `json:"name"`
	What string `json:"what"`
}

// Differs reports whether the answer has anything that makes the exit status 1.
func (a *Audit) Differs() bool {
	for i := range a.Proxies {
		p := &a.Proxies[i]
		if len(p.Resources)+len(p.Rejected) > 0 {
			return true
		}
		for k := range p.Inbounds {
			if in := &p.Inbounds[k]; len(in.Allows)+len(in.Denies)+len(in.Unknown) > 0 {
				return true
			}
		}
	}
	return false
}

// Named is a dump of a proxy whose dataplane may be named.
type Named struct {
	Dataplane string // "": the id of the node names it
	*dump.Proxy
}

// New returns the comparison of proxies with the policies of a view. The name makes the name of a
// dataplane one that package find reads.
func New(view *core.View, mesh string, proxies []Named, name func(string) find.Name, options inspect.Options) (*Audit, error) {
	options.Semantics = view.Semantics()
	a := &Audit{Semantics: view.Semantics()}
	for _, p := range proxies {
		d, err := dataplaneOf(view, mesh, p, name)
		if err != nil {
			return nil, err
		}
		c := &comparison{view: view, d: d, options: options, limits: requests.Limits(4)}
		a.Proxies = append(a.Proxies, c.proxy(p.Proxy))
	}
	return a, nil
}

// dataplaneOf returns the dataplane of a proxy: the one that is named, else the one of its node.
func dataplaneOf(view *core.View, mesh string, p Named, name func(string) find.Name) (*resource.Dataplane, error) {
	if p.Dataplane != "" {
		return find.Dataplane(view, mesh, name(p.Dataplane))
	}
	for _, m := range view.Meshes() {
		for _, d := range view.Dataplanes(m) {
			if isNode(view, d, p.Node) {
				return d, nil
			}
		}
	}
	return nil, find.NotFoundf("%s: the input has no dataplane of node %q; give DATAPLANE=DUMP to name it, or add the dataplane to the input", p.Source, p.Node)
}

// isNode reports whether a node id identifies a dataplane: its KRI, or MESH.NAME as Kuma's.
func isNode(view *core.View, d *resource.Dataplane, node string) bool {
	if node == inspect.DataplaneKRI(view, d) || node == d.KRI("") {
		return true
	}
	rest, ok := strings.CutPrefix(node, d.Mesh+".")
	return ok && (d.Namespace == "" && rest == d.Name || d.Namespace != "" && rest == d.Name+"."+d.Namespace)
}

// listenerOf returns the listener of an inbound; nil if the proxy has none.
func listenerOf(p *dump.Proxy, d *resource.Dataplane, i *resource.Inbound) *dump.Listener {
	address := i.Address
	if address == "" {
		address = d.Address
	}
	for k := range p.Listeners {
		l := &p.Listeners[k]
		if l.Port != i.Port {
			continue
		}
		ip := net.ParseIP(l.Address)
		if l.Address == address || ip != nil && (ip.IsUnspecified() || ip.Equal(net.ParseIP(address))) {
			return l
		}
	}
	return nil
}

// chainName returns a name of a chain for messages.
func chainName(l *dump.Listener, k int) string {
	if len(l.Chains) == 1 {
		return ""
	}
	if l.Chains[k].Name != "" {
		return l.Chains[k].Name
	}
	return "chain " + strconv.Itoa(k)
}

// unknownOf returns a difference that is unknown because of an error.
func unknownOf(err error) Difference { return Difference{Why: fmt.Sprint(err)} }
