package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

func newSnapshot(g *globals) *cobra.Command {
	var bootstrap bool
	options := defaultBootstrap()
	c := &cobra.Command{
		Use:   "snapshot DATAPLANE",
		Short: "Print the Envoy resources of a dataplane",
		Long: `Print the Envoy resources (API v3) that a dataplane gets: listeners, routes,
clusters, endpoints and secrets. Parts of policies that cannot have an effect are
warnings on standard error.

With --bootstrap the answer is one static Envoy bootstrap with all of it inside,
which "envoy -c FILE" runs without a server.`,
		Example: `  meshmatch snapshot web-1 -f policies/
  meshmatch snapshot web-1 -f policies/ -o json
  meshmatch snapshot web-1 -f policies/ --bootstrap`,
		Args:              exactly("DATAPLANE"),
		ValidArgsFunction: g.completeNames(dataplaneNames),
		RunE: func(c *cobra.Command, args []string) error {
			w, err := g.load(c)
			if err != nil {
				return err
			}
			d, err := g.dataplane(w, args[0])
			if err != nil {
				return err
			}
			snapshot := xds.NewBuilder(translators.All(), xds.Options{}).At(w.view).Snapshot(d, false)
			var failed error
			for _, warning := range snapshot.Warnings() {
				if warning.Error {
					failed = errors.Join(failed, errors.New(warning.String()))
					continue
				}
				fmt.Fprintln(c.ErrOrStderr(), "warning:", warning)
			}
			if failed != nil {
				return failed
			}
			if !bootstrap {
				return g.print(c, snapshot, func(p *page) { snapshotRows(p, snapshot) })
			}
			m, err := xds.StaticBootstrap(snapshot, options)
			if err != nil {
				return err
			}
			return g.printMessage(c, m)
		},
	}
	c.Flags().BoolVar(&bootstrap, "bootstrap", false, "print a static bootstrap, always as JSON")
	bootstrapFlags(c, &options)
	return c
}

func snapshotRows(p *page, s *xds.Snapshot) {
	for t := range xds.Type(xds.NumTypes) {
		for _, r := range s.Resources(t) {
			p.line("%s %s %s", r.Type.URL(), r.Name, r.Version)
		}
	}
}
