package cli

import (
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/app/internal/serve"
)

// relayFlags are the flags of `relay`.
type relayFlags struct {
	listenerFlags
	upstreams []string
	upstream  serve.TLSFiles
	mode      choice
	options   serve.RelayOptions
}

func newRelay(g *globals) *cobra.Command {
	flags := relayFlags{listenerFlags: newListenerFlags(), mode: choice{relay.Modes[0], relay.Modes}}
	c := withHelp("relay", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := flags.check(g, c); err != nil {
				return err
			}
			r, err := serve.NewRelay(flags.options)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(c.Context())
			defer stop()
			return r.Run(ctx)
		},
	})
	flags.register(c)
	return c
}

func (f *relayFlags) register(c *cobra.Command) {
	f.listenerFlags.register(c)
	flags := c.Flags()
	flags.StringSliceVar(&f.upstreams, "upstream", nil, "the `ADDRESSES` of ADS servers, tried in order")
	flags.StringVar(&f.upstream.ClientCA, "upstream-ca", "", "the `FILE` of the CAs of the upstream's certificate")
	flags.StringVar(&f.upstream.Certificate, "upstream-cert", "", "the `FILE` of the relay's certificate for the upstream")
	flags.StringVar(&f.upstream.Key, "upstream-key", "", "the `FILE` of its key")
	flags.Var(&f.mode, "upstream-mode", "the `MODE` in which the upstream is asked: "+strings.Join(relay.Modes, ", ")+"; nodes is for servers without locators")
	flags.StringVar(&f.State, "state", "", "a `DIRECTORY` in which the cache is kept, without secrets")
	flags.DurationVar(&f.options.Idle, "idle", relay.DefaultIdle, "how long a variant or a node is kept that no client uses")
	flags.DurationVar(&f.options.MaxAge, "max-age", 0, "how long after the loss of the upstream the cache is served; 0: no limit")
}

// check checks the flags, and completes the options of the relay.
func (f *relayFlags) check(g *globals, c *cobra.Command) error {
	if err := g.refuseKeepGoing("relay"); err != nil {
		return err
	}
	if len(g.files) > 0 {
		return usagef("a relay reads no files; leave -f out")
	}
	if len(f.upstreams) == 0 {
		return usagef("give the address of an ADS server with --upstream HOST:PORT")
	}
	for _, address := range f.upstreams {
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return usagef("--upstream %q is not HOST:PORT", address)
		}
	}
	switch given := f.upstream; {
	case given == serve.TLSFiles{}:
	case (given.Certificate == "") != (given.Key == ""):
		return usagef("--upstream-cert and --upstream-key belong together")
	case given.ClientCA == "":
		return usagef("--upstream-cert needs --upstream-ca, the CAs of the upstream's certificate")
	default:
		f.options.UpstreamTLS = &given
	}
	if f.options.Idle <= 0 || f.options.MaxAge < 0 {
		return usagef("--idle must be positive, and --max-age must not be negative")
	}
	if err := f.complete(c); err != nil {
		return err
	}
	f.options.Options, f.options.Upstreams, f.options.Mode = f.Options, f.upstreams, relay.Mode(f.mode.word)
	return nil
}
