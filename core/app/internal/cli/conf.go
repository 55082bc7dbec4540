package cli

import (
	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newConf(g *globals) *cobra.Command {
	var q inspect.ConfQuery
	var t targets
	c := withHelp("conf", &cobra.Command{
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
			return g.printAnswers(c, &t, lists.Map(t.list, func(d *resource.Dataplane) answered {
				answer, err := inspect.NewConf(w.view, d, &q)
				return answerAbout(w, d, answer, err, func(p *page, a *inspect.Conf) {
					p.row("semantics", a.Semantics.String())
					confRows(p, a.EffectiveConf)
				})
			}))
		},
	})
	t.register(c)
	flags := c.Flags()
	g.kindFlag(flags, "the policy `KIND` (required)", func(k *resource.Kind) { q.Kind = k })
	flags.StringVar(&q.Outbound, "outbound", "", "an outbound, by the `NAME` of its service; by name, NAME:PORT, host name or KRI of its destination; by port; or by address and port")
	g.completeFlag(c, "outbound", partNames(find.OutboundNames))
	flags.StringVar(&q.Route, "route", "", "a route of the outbound, by `NAME` or KRI")
	flags.StringVar(&q.Inbound, "inbound", "", "an inbound, by `NAME`, by port, or by address and port; or a listener, for the conf of its clients")
	flags.StringVar(&q.Listener, "listener", "", "a listener of a builtin gateway, by port, HOSTNAME:PORT or host name, or of a zone proxy, by `NAME`, port or type")
	g.completeFlag(c, "listener", partNames(find.ListenerNames))
	flags.StringVar(&q.Hostname, "hostname", "", "for a kind of routes: the routes of the listener for this `HOST` name")
	registerRequest(flags, &q.Request)
	flags.BoolVar(&q.Shadow, "shadow", false, "as if the policies that only inform were enforced")
	flags.BoolVar(&q.Explain, "explain", false, "the item that set each field")
	return c
}
