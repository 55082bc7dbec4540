package cli

import (
	"cmp"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// auditQuery is the flags of `audit`.
type auditQuery struct {
	dumps   []string
	alone   bool
	inbound string
	reach   audit.AloneQuery
	request inspect.RequestQuery
	address string // of the client
	client  audit.PeerFacts
}

func newAudit(g *globals) *cobra.Command {
	var q auditQuery
	c := withHelp("audit", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := q.check(); err != nil {
				return err
			}
			proxies, err := q.read(c)
			switch {
			case err != nil:
				return err
			case q.inbound != "":
				return g.auditRequest(c, &q, proxies)
			case q.alone:
				a, err := audit.NewAlone(lists.Map(proxies, func(p audit.Named) *dump.Proxy { return p.Proxy }), q.reach)
				return printed(g, c, a, err, alonePage)
			}
			return g.audit(c, proxies)
		},
	})
	flags := c.Flags()
	flags.StringArrayVar(&q.dumps, "config-dump", nil, "the `DUMP` of an Envoy, with DATAPLANE= before it to name the dataplane; may be repeated (required)")
	flags.BoolVar(&q.alone, "alone", false, "what the proxies allow, without policies")
	flags.StringVar(&q.inbound, "inbound", "", "with --alone, decide one request to the inbound of this `NAME`, port or ADDRESS:PORT")
	flags.StringVar(&q.reach.From, "from", "", "with --alone, only the client with this SPIFFE `ID`")
	flags.StringVar(&q.reach.To, "to", "", "with --alone, only the inbound of this `NAME`, port or ADDRESS:PORT")
	registerRequest(flags, &q.request)
	flags.StringVar(&q.client.DNSName, "dns-san", "", "a DNS `NAME` in the client's certificate")
	flags.StringVar(&q.address, "address", "", "the IP `ADDRESS` of the client")
	return c
}

// check reports flags that are missing or cannot be combined.
func (q *auditQuery) check() error {
	switch {
	case len(q.dumps) == 0:
		return usagef("--config-dump is missing; give a file, a directory, - or the URL of an admin interface")
	case !q.alone && (q.inbound != "" || q.reach != audit.AloneQuery{}):
		return usagef("--inbound, --from and --to belong to --alone")
	case q.inbound == "" && (q.request.Given() || q.address != "" || q.client.DNSName != ""):
		return usagef("a request is for one inbound; give --alone and --inbound")
	case q.inbound != "" && q.reach != audit.AloneQuery{}:
		return usagef("--inbound decides one request, --from and --to restrict the matrix; give one of them")
	}
	return nil
}

// read returns the proxies of all dumps, in the order of the flags. A directory means
// its files *.json. A name needs a dump of one proxy.
func (q *auditQuery) read(c *cobra.Command) ([]audit.Named, error) {
	var out []audit.Named
	for _, arg := range q.dumps {
		name, source := splitDump(arg)
		sources := []string{source}
		if info, err := os.Stat(source); err == nil && info.IsDir() {
			if sources, err = filepath.Glob(filepath.Join(source, "*.json")); err != nil {
				return nil, err
			}
			if len(sources) == 0 {
				return nil, usagef("the directory %s has no file *.json", source)
			}
		}
		for _, s := range sources {
			proxies, err := dump.Read(c.Context(), s, c.InOrStdin())
			if err != nil {
				return nil, err
			}
			if name != "" && len(sources)*len(proxies) > 1 {
				return nil, usagef("--config-dump %s has several proxies, and one name; give a dump for each", arg)
			}
			for _, p := range proxies {
				out = append(out, audit.Named{Dataplane: name, Proxy: p})
			}
		}
	}
	return out, nil
}

// splitDump returns the dataplane that an argument names, if any, and its dump.
func splitDump(arg string) (dataplane, source string) {
	before, after, ok := strings.Cut(arg, "=")
	if _, err := os.Stat(arg); !ok || err == nil || strings.Contains(before, "://") {
		return "", arg
	}
	return before, after
}

// audit compares proxies with the policies.
func (g *globals) audit(c *cobra.Command, proxies []audit.Named) error {
	w, err := g.load(c)
	if err != nil {
		return err
	}
	a, err := audit.New(w.view, w.mesh, proxies, g.named, inspect.Options{Source: g.withSource()})
	if err != nil {
		return err
	}
	a.Warnings = g.unreadDecisions(allRequests)
	return ended(g.print(c, a, func(p *page) { auditPage(p, a) }), nil, a.Differs() || len(a.Warnings) > 0)
}

func (g *globals) auditRequest(c *cobra.Command, q *auditQuery, proxies []audit.Named) error {
	r, err := q.request.Parse()
	if err != nil {
		return err
	}
	if len(proxies) != 1 {
		return usagef("--inbound decides a request to one proxy; the dumps have %d", len(proxies))
	}
	if q.address != "" {
		if q.client.Address, err = netip.ParseAddr(q.address); err != nil {
			return usagef("--address: %w", err)
		}
	}
	d, err := audit.Decide(proxies[0].Proxy, q.inbound, r, q.client)
	if err != nil {
		return err
	}
	err = g.print(c, d, func(p *page) {
		p.row("inbound", d.Inbound)
		p.row("decision", d.Decision)
		if d.By != nil {
			p.row("by", byText(d.By))
		}
		for i := range d.Unknown {
			p.row("possible", d.Unknown[i].Decision+"  "+byText(&d.Unknown[i].ByProxy))
		}
		for _, warning := range d.Warnings {
			p.line("warning: %s", warning)
		}
	})
	return ended(err, nil, d.Decision != "ALLOW")
}

func byText(by *audit.ByProxy) string {
	text := by.Policy
	if by.Filter != "" {
		text += " of filter " + by.Filter
	}
	if by.Chain != "" {
		text += " in " + by.Chain
	}
	return text
}

// auditPage prints the proxies, each with what differs.
func auditPage(p *page, a *audit.Audit) {
	p.row("semantics", a.Semantics.String())
	for i := range a.Proxies {
		proxy := &a.Proxies[i]
		p.heading(0, "%s, Envoy %s", proxy.Name, cmp.Or(proxy.Version, "of an unknown version"))
		for k := range proxy.Inbounds {
			in := &proxy.Inbounds[k]
			switch {
			case in.Listener != nil:
				p.row(in.Inbound, "the proxy has no listener for this inbound")
			case len(in.Allows)+len(in.Denies)+len(in.Unknown) == 0:
				p.row(in.Inbound, "as the policies say")
			}
			differences(p, in.Inbound, "allows", in.Allows)
			differences(p, in.Inbound, "denies", in.Denies)
			differences(p, in.Inbound, "unknown", in.Unknown)
		}
		rejectedAndFound(p, proxy.Rejected, proxy.Findings)
	}
	doubtLines(p, a.Warnings)
}

func rejectedAndFound(p *page, rejected []dump.Rejected, findings []audit.Finding) {
	for _, r := range rejected {
		p.row("rejected", r.Type+" "+r.Name, r.Why)
	}
	for i := range findings {
		f := &findings[i]
		p.line("finding %s: inbound %s, filter %s, policy %s: %s", f.Code, f.Inbound, f.Filter, f.Policy, f.Message)
		p.line("  for example %s", requestOptions(f.Witness))
	}
}

func differences(p *page, inbound, what string, list []audit.Difference) {
	for i := range list {
		d := &list[i]
		if d.Witness == nil {
			p.row(inbound, what, d.Why)
			continue
		}
		policies := "by default"
		if !d.By.Policies.Default {
			policies = p.reason(d.By.Policies.KRI, d.By.Policies.Item, d.By.Policies.Source)
		}
		p.row(inbound, what, requestOptions(d.Witness))
		p.row("", "", "proxy: "+byText(&d.By.Proxy))
		p.row("", "", "policies: "+policies)
		for _, condition := range d.Conditions {
			p.row("", "", "if "+condition)
		}
	}
}

// alonePage prints for each inbound the clients with equal access together.
func alonePage(p *page, a *audit.Alone) {
	for i := range a.Proxies {
		proxy := &a.Proxies[i]
		p.row("proxy", proxy.Node, proxy.Source, "Envoy "+cmp.Or(proxy.Version, "of an unknown version"))
		for k, inbound := range proxy.Inbounds {
			p.heading(0, "%s", inbound)
			for n := range proxy.Cells {
				cell := &proxy.Cells[n]
				if cell.Inbound != k {
					continue
				}
				bounds := cell.Why
				switch {
				case cell.When != nil:
					bounds = cell.When.String()
				case cell.Least != "":
					bounds = "at least " + cell.Least + ", at most " + cell.Most
				}
				p.row(cell.Access, proxy.Clients[cell.Client], bounds)
				for _, condition := range slices.Clip(cell.Conditions) {
					p.row("", "", "if "+condition)
				}
			}
		}
		rejectedAndFound(p, proxy.Rejected, proxy.Findings)
	}
}
