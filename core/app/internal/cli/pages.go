package cli

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newPages(g *globals) *cobra.Command {
	var prefix, address string
	c := withHelp("page", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, stop := untilSignal(c.Context())
			defer stop()
			parsed, err := parsePrefix(prefix)
			if err != nil {
				return usagef("--http-prefix: %w", err)
			}
			options, err := g.pageOptions(c)
			if err != nil {
				return err
			}
			var server *serve.Server
			options.HTTP, options.HTTPPrefix = address, parsed
			options.Loaded = func() { fmt.Fprintf(c.OutOrStdout(), "http://%s%s/\n", server.HTTPAddr(), parsed) }
			if server, err = serve.New(*options); err != nil {
				return err
			}
			return server.Run(ctx)
		},
	})
	c.Flags().StringVar(&address, "http", "127.0.0.1:0", "the `ADDRESS` of HTTP, of loopback; port 0 is a free one")
	c.Flags().StringVar(&prefix, "http-prefix", "", "the `PATH` with which the links of pages begin, such as /mesh")
	return c
}

// pageOptions reads the input, so that errors end the command before it prints a URL, and
// returns the options of a server without ADS.
func (g *globals) pageOptions(c *cobra.Command) (*serve.Options, error) {
	set, err := g.read(c, g.files)
	if err != nil {
		return nil, err
	}
	s, err := g.semanticsOf(set)
	if err != nil {
		return nil, err
	}
	g.reportLeftOut(c)
	paths, addresses := split(g.files)
	options := &serve.Options{
		PagesOnly: true, Files: paths, Semantics: &s, Version: versionName(),
		Loader:      &resource.Loader{Kinds: g.kinds, Documents: documentTypes()},
		Translators: g.translators, Logger: slog.New(newLog(logFormats[0], c.ErrOrStderr())), Remedy: remedy,
	}
	if g.keepGoing || slices.Contains(g.files, resource.Stdin) {
		options.Set = set // all that is shown: nothing is followed
		return options, nil
	}
	options.Stores, err = g.openStores(addresses)
	return options, err
}
