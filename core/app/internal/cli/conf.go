package cli

import (
	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newConf(g *globals) *cobra.Command {
	var q inspect.ConfQuery
	var t targets
	c := &cobra.Command{
		Use:   "conf DATAPLANE|svc/SERVICE|-l KEY=VALUE --kind KIND",
		Short: "Print the one conf that applies to an outbound, a route, a client or a dataplane",
		Long: `Print the one merged conf of a policy kind that applies to an outbound (by
service name or port), to a route of it, to a client or request of an inbound,
to a listener of a builtin gateway or a zone proxy or, for kinds without arrays,
to the dataplane. If nothing applies the answer is empty. Several dataplanes
with the same answer are printed once.`,
		Example: `  meshmatch conf web-1 --kind MeshTimeout --outbound backend -f policies/
  meshmatch conf web-1 --kind MeshTimeout --outbound 10002 --route payments-info -f policies/
  meshmatch conf web-1 --kind MeshRateLimit --inbound http --tag kuma.io/service=web -f policies/
  meshmatch conf web-1 --kind MeshTimeout --inbound http --method POST --path /checkout -f policies/
  meshmatch conf -l app=web --kind MeshTimeout --outbound backend -f policies/
  meshmatch conf web-1 --kind MeshTrace -f policies/ -o yaml`,
		Args:              t.args("DATAPLANE"),
		ValidArgsFunction: g.completeNames(targetNames),
		RunE: func(c *cobra.Command, args []string) error {
			q.Source = g.withSource()
			q.Explain = q.Explain || g.isTable()
			if err := q.Check(); err != nil {
				return err
			}
			w, err := g.loadTargets(c, &t, args)
			if err != nil {
				return err
			}
			var answers []answered
			for _, d := range t.list {
				answer, err := inspect.NewConf(w.view, d, &q)
				a := t.answered(w, d, answer, err)
				if err != nil {
					a.answer = nil
				}
				a.table = func(p *page) {
					p.row("semantics", answer.Semantics.String())
					confRows(p, answer.EffectiveConf)
				}
				answers = append(answers, a)
			}
			return g.printAnswers(c, &t, answers)
		},
	}
	t.register(c)
	flags := c.Flags()
	g.kindFlag(flags, "the policy `KIND` (required)", func(k *resource.Kind) { q.Kind = k })
	flags.StringVar(&q.Outbound, "outbound", "", "an outbound, by the `NAME` of its service; by name, NAME:PORT, host name or KRI of its destination; by port; or by address and port")
	g.completeFlag(c, "outbound", outboundNames)
	flags.StringVar(&q.Route, "route", "", "a route of the outbound, by `NAME` or KRI")
	flags.StringVar(&q.Inbound, "inbound", "", "an inbound, by `NAME`, by port, or by address and port; or a listener, for the conf of its clients")
	flags.StringVar(&q.Listener, "listener", "", "a listener of a builtin gateway, by port, HOSTNAME:PORT or host name, or of a zone proxy, by `NAME`, port or type")
	g.completeFlag(c, "listener", listenerNames)
	flags.StringVar(&q.Hostname, "hostname", "", "for a kind of routes: the routes of the listener for this `HOST` name")
	registerRequest(flags, &q.Request)
	flags.BoolVar(&q.Shadow, "shadow", false, "as if the policies that only inform were enforced")
	flags.BoolVar(&q.Explain, "explain", false, "the item that set each field")
	return c
}
