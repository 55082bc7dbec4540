package cli

import (
	"context"
	"errors"
	"log/slog"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/core/serve"
	"github.com/meshmatch/meshmatch/core/variant"
)

// serveFlags are the flags of `serve`.
type serveFlags struct {
	serve.Options
	tls        serve.TLSFiles
	parameters []string
}

func newServe(g *globals) *cobra.Command {
	var flags serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the files to Envoy and gRPC by ADS, and answers over HTTP",
		Long: `Watch the files of -f, and serve what they mean: to Envoy and gRPC by ADS, in the
delta and the state of the world protocol, and to people and programs over HTTP.
A node is a dataplane whose KRI is its id; "bootstrap" prints what a proxy needs.

Errors of the first load end the command. A bad edit later is logged with its
position and changes nothing; the next good one applies.

Without TLS both addresses must be loopback addresses, unless --insecure is given.
With --tls-cert, --tls-key and --client-ca a client gets only the dataplane whose
SPIFFE ID its certificate has; the files are read again when they change. HTTP then
answers the identities of --operator; that of a dataplane reads its own only. With
--operator-token it answers whoever has the token, with or without TLS.

HTTP has /healthz, /readyz, /metrics, /dataplanes/KRI/status,
/converged?dataplanes=SELECTOR&timeout=10s, and the answers of inspect, access,
conf, diff and placement below /meshes/MESH/.

The command runs until it gets SIGTERM or an interrupt, and ends within 5 s.`,
		Example: `  meshmatch serve -f policies/ -f dataplanes/
  meshmatch serve -f policies/ --state /var/lib/meshmatch
  meshmatch serve -f policies/ --xds :5678 --http :5681 \
      --tls-cert server.crt --tls-key server.key --client-ca mesh-ca.crt`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			options, err := flags.options(g, c)
			if err != nil {
				return err
			}
			server, err := serve.New(*options)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the command at once
			err = server.Run(ctx)
			if errors.Is(err, serve.ErrUnnamedSemantics) {
				return usagef("%w; give --semantics %s to read all policies as that does, or --semantics %s", err, semantics.Kuma, semantics.TargetRef)
			}
			return err
		},
	}
	flags.register(c)
	return c
}

func (f *serveFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.XDS, "xds", serve.DefaultXDS, "the `ADDRESS` of ADS")
	flags.StringVar(&f.HTTP, "http", serve.DefaultHTTP, "the `ADDRESS` of HTTP")
	flags.StringVar(&f.State, "state", "", "a `DIRECTORY` for the keys of CAs that are generated")
	flags.StringVar(&f.tls.Certificate, "tls-cert", "", "the `FILE` of the server's certificate")
	flags.StringVar(&f.tls.Key, "tls-key", "", "the `FILE` of its key")
	flags.StringVar(&f.tls.ClientCA, "client-ca", "", "the `FILE` of the CAs of clients")
	flags.StringArrayVar(&f.Relays, "relay", nil, "the SPIFFE `ID` of a client that may ask for every dataplane; may be repeated")
	flags.StringArrayVar(&f.Operators, "operator", nil, "the SPIFFE `ID` of a client that may read all of HTTP over TLS, with those below it; may be repeated")
	flags.StringVar(&f.OperatorToken, "operator-token", "", "a `FILE` with a token that HTTP asks for, as a bearer token or on its login page")
	flags.StringArrayVar(&f.HTTPHosts, "http-host", nil, "a `NAME` that requests without TLS may have as their host; may be repeated")
	flags.StringVar(&f.Health, "health", "", "a further `ADDRESS`, for /healthz and /readyz alone, without TLS")
	flags.BoolVar(&f.Insecure, "insecure", false, "listen on other addresses than loopback without TLS")
	flags.StringArrayVar(&f.parameters, "parameter", nil, "a dynamic parameter of the metadata of nodes, as `KEY=METADATA.PATH`; may be repeated")
}

// options checks the flags, and completes the options of the server.
func (f *serveFlags) options(g *globals, c *cobra.Command) (*serve.Options, error) {
	if err := g.refuseKeepGoing("serve"); err != nil {
		return nil, err
	}
	switch given := f.tls; {
	case len(g.files) == 0:
		return nil, errNoFiles
	case slices.Contains(g.files, resource.Stdin):
		return nil, usagef("standard input cannot be watched; use -f FILE or -f DIRECTORY")
	case given == serve.TLSFiles{}:
		if len(f.Relays) > 0 {
			return nil, usagef("--relay needs TLS; give --tls-cert, --tls-key and --client-ca")
		}
		if len(f.Operators) > 0 {
			return nil, usagef("--operator needs TLS; give --tls-cert, --tls-key and --client-ca, or --operator-token")
		}
	case given.Certificate == "" || given.Key == "" || given.ClientCA == "":
		return nil, usagef("--tls-cert, --tls-key and --client-ca belong together")
	default:
		f.TLS = &given
	}
	for _, id := range f.Relays {
		if err := conf.CheckSpiffeID(id); err != nil {
			return nil, usagef("--relay %q is not a SPIFFE ID: %w", id, err)
		}
	}
	for i, id := range f.Operators {
		f.Operators[i] = strings.TrimSuffix(id, "/")
		if err := conf.CheckSpiffeID(f.Operators[i]); err != nil {
			return nil, usagef("--operator %q is not a SPIFFE ID: %w", id, err)
		}
	}
	for _, text := range f.parameters {
		key, err := variant.ParseMetadataKey(text)
		if err != nil {
			return nil, usagef("--parameter: %w", err)
		}
		f.Parameters = append(f.Parameters, key)
	}
	options := f.Options
	options.Files = g.files
	if g.semantics.word != autoSemantics {
		s, err := semantics.Parse(g.semantics.word)
		if err != nil {
			return nil, err
		}
		options.Semantics = &s
	}
	options.Loader = &resource.Loader{Kinds: g.kinds, Documents: slices.Concat(ocm.Documents(), variant.Documents())}
	options.Translators = g.translators
	options.Remedy = remedy
	options.Logger = slog.New(newLog(c.ErrOrStderr()))
	return &options, nil
}
