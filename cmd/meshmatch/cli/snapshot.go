package cli

import (
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

func newSnapshot(g *globals) *cobra.Command {
	var bootstrap bool
	admin := netip.MustParseAddrPort("127.0.0.1:9901")
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
  meshmatch snapshot web-1 -f policies/ --bootstrap > envoy.json
  envoy -c envoy.json`,
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
			for _, warning := range snapshot.Warnings() {
				fmt.Fprintln(c.ErrOrStderr(), "warning:", warning)
			}
			if !bootstrap {
				return g.print(c, snapshot, func(p *page) { snapshotRows(p, snapshot) })
			}
			m, err := xds.StaticBootstrap(snapshot, admin)
			if err != nil {
				return err
			}
			data, err := xds.MarshalJSON(m)
			if err != nil {
				return err
			}
			return g.encode(c.OutOrStdout(), json.RawMessage(data))
		},
	}
	c.Flags().BoolVar(&bootstrap, "bootstrap", false, "print a static bootstrap, always as JSON")
	c.Flags().TextVar(&admin, "admin", admin, "the `ADDRESS` of the admin interface in the bootstrap")
	return c
}

func snapshotRows(p *page, s *xds.Snapshot) {
	for t := range xds.Type(xds.NumTypes) {
		for _, r := range s.Resources(t) {
			p.line("%s %s %s", r.Type.URL(), r.Name, r.Version)
		}
	}
}
