package cli

import (
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/variant"
)

// listenerFlags are the flags of `serve` and `relay` about listeners and their clients.
type listenerFlags struct {
	serve.Options
	tls        serve.TLSFiles
	parameters []string
	logFormat  choice
	clientRate int // MiB
}

const maxClientRate = 1 << 10 // MiB

func newListenerFlags() listenerFlags {
	return listenerFlags{logFormat: choice{logFormats[0], logFormats}}
}

func (f *listenerFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.XDS, "xds", serve.DefaultXDS, "the `ADDRESS` of ADS")
	flags.StringVar(&f.HTTP, "http", serve.DefaultHTTP, "the `ADDRESS` of HTTP")
	flags.IntVar(&f.MaxStreams, "max-streams", 0, "the greatest `NUMBER` of ADS streams; 0: no limit")
	flags.DurationVar(&f.MaxConnectionAge, "max-connection-age", 0, "the age at which connections of ADS end, give or take 10 %; 0: never")
	flags.IntVar(&f.clientRate, "max-client-rate", serve.DefaultMaxClientRate>>20, "how many `MIB` of one client of ADS are read in a second; a relay may send ten times as much")
	flags.Var(&f.logFormat, "log-format", "the `FORMAT` of the log: "+strings.Join(logFormats, ", "))
	flags.StringVar(&f.tls.Certificate, "tls-cert", "", "the `FILE` of the server's certificate")
	flags.StringVar(&f.tls.Key, "tls-key", "", "the `FILE` of its key")
	flags.StringVar(&f.tls.ClientCA, "client-ca", "", "the `FILE` of the CAs of clients")
	flags.StringArrayVar(&f.Relays, "relay", nil, "the SPIFFE `ID` of a client that may ask for every dataplane, and in the name of others; may be repeated")
	flags.StringArrayVar(&f.Operators, "operator", nil, "the SPIFFE `ID` of a client that may read all of HTTP over TLS, with those below it; may be repeated")
	flags.StringVar(&f.OperatorToken, "operator-token", "", "a `FILE` with the token that HTTP requires, as a bearer token or on the login page")
	flags.StringArrayVar(&f.HTTPHosts, "http-host", nil, "a `NAME` that requests without TLS may have as their host; may be repeated")
	flags.StringVar(&f.Health, "health", "", "a second `ADDRESS` without TLS, which has only /healthz and /readyz")
	flags.BoolVar(&f.Insecure, "insecure", false, "listen on other addresses than loopback without TLS")
	flags.StringArrayVar(&f.parameters, "parameter", nil, "a dynamic parameter of the metadata of nodes, as `KEY=METADATA.PATH`; may be repeated")
}

// complete checks the flags, and completes the options that they are about.
func (f *listenerFlags) complete(c *cobra.Command) error {
	switch given := f.tls; {
	case given == serve.TLSFiles{}:
		if len(f.Relays) > 0 {
			return usagef("--relay needs TLS; give --tls-cert, --tls-key and --client-ca")
		}
		if len(f.Operators) > 0 {
			return usagef("--operator needs TLS; give --tls-cert, --tls-key and --client-ca, or --operator-token")
		}
	case given.Certificate == "" || given.Key == "" || given.ClientCA == "":
		return usagef("--tls-cert, --tls-key and --client-ca belong together")
	default:
		f.TLS = &given
	}
	for _, id := range f.Relays {
		if err := conf.CheckSpiffeID(id); err != nil {
			return usagef("--relay %q is not a SPIFFE ID: %w", id, err)
		}
	}
	for i, id := range f.Operators {
		f.Operators[i] = strings.TrimSuffix(id, "/")
		if err := conf.CheckSpiffeID(f.Operators[i]); err != nil {
			return usagef("--operator %q is not a SPIFFE ID: %w", id, err)
		}
	}
	for _, text := range f.parameters {
		key, err := variant.ParseMetadataKey(text)
		if err != nil {
			return usagef("--parameter: %w", err)
		}
		f.Parameters = append(f.Parameters, key)
	}
	if f.MaxStreams < 0 {
		return usagef("--max-streams must not be negative, got %d", f.MaxStreams)
	}
	if f.MaxConnectionAge < 0 {
		return usagef("--max-connection-age must not be negative, got %v", f.MaxConnectionAge)
	}
	if f.clientRate < 1 || f.clientRate > maxClientRate {
		return usagef("--max-client-rate must be between 1 and %d, got %d", maxClientRate, f.clientRate)
	}
	f.MaxClientRate = f.clientRate << 20
	f.Version, f.Remedy = versionName(), remedy
	f.Logger = slog.New(newLog(f.logFormat.word, c.ErrOrStderr()))
	return nil
}
