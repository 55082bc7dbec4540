package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// serveFlags are the flags of `serve`.
type serveFlags struct {
	listenerFlags
	maxRemoved string
	caPrefix   string
	refuses    failOn // --admission-refuse
	late       choice
}

func newServe(g *globals) *cobra.Command {
	flags := serveFlags{listenerFlags: newListenerFlags(), late: choice{"allow", []string{"allow", "deny"}}}
	c := withHelp("serve", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			options, err := flags.options(g, c)
			if err != nil {
				return err
			}
			return runServer(c.Context(), options)
		},
	})
	flags.register(c)
	g.store.registerSecrets(c.Flags())
	return c
}

func (f *serveFlags) register(c *cobra.Command) {
	f.listenerFlags.register(c)
	flags := c.Flags()
	flags.StringVar(&f.State, "state", "", "a `DIRECTORY` for the keys of CAs that are generated, and the last good input")
	flags.StringVar(&f.caPrefix, "ca-prefix", "", "the `PREFIX` of generated CAs in the etcd store, which all its servers share (default: that of the store with -ca)")
	flags.BoolVar(&f.AcceptRollback, "accept-rollback", false, "serve the older state of a store that was set back, such as from a backup")
	flags.StringVar(&f.maxRemoved, "max-removed", strconv.Itoa(serve.DefaultMaxRemoved)+"%", "the `PERCENT` of the dataplanes of a mesh that an edit removes at once")
	flags.DurationVar(&f.RemovalGrace, "removal-grace", serve.DefaultRemovalGrace, "how long a larger removal waits; 0: nothing waits")
	flags.StringArrayVar(&f.RelaySecrets, "relay-secrets", nil, "the SPIFFE `ID` of a --relay that may have private keys; may be repeated")
	flags.StringVar(&f.Admission, "admission", "", "an `ADDRESS` that answers what the API server of Kubernetes asks before it stores an object")
	flags.StringVar(&f.AdmissionTLS.Certificate, "admission-cert", "", "the `FILE` of its certificate (default: that of --tls-cert)")
	flags.StringVar(&f.AdmissionTLS.Key, "admission-key", "", "the `FILE` of the key (default: that of --tls-key)")
	flags.StringVar(&f.AdmissionTLS.ClientCA, "admission-client-ca", "", "the `FILE` of the CAs of its clients (default: a client needs no certificate)")
	flags.Var(&f.refuses, "admission-deny", "the `CODE` or class of findings that refuse an object, in addition to errors; may be repeated")
	flags.Var(&f.late, "admission-late", "what happens to an object that is not examined within a second: `ANSWER` allow or deny")
	flags.StringVar(&f.HTTPPrefix, "http-prefix", "", "the `PATH` with which the links of pages begin, such as /mesh")
}

// runServer serves until ctx ends or a signal arrives.
func runServer(ctx context.Context, options *serve.Options) error {
	if len(options.Stores) > 0 {
		options.Loaded = collectWhileLoading()
	}
	server, err := serve.New(*options)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	err = server.Run(ctx)
	if errors.Is(err, serve.ErrUnnamedSemantics) {
		return usagef("%w; give --semantics %s to read all policies as that does, or --semantics %s", err, semantics.Kuma, semantics.TargetRef)
	}
	return err
}

// options checks the flags, and completes the options of the server.
func (f *serveFlags) options(g *globals, c *cobra.Command) (*serve.Options, error) {
	err := g.refuseKeepGoing("serve")
	if err != nil {
		return nil, err
	}
	switch {
	case len(g.files) == 0:
		return nil, errNoFiles
	case slices.Contains(g.files, resource.Stdin):
		return nil, usagef("standard input cannot be watched; use -f FILE or -f DIRECTORY")
	}
	if err := f.complete(c); err != nil {
		return nil, err
	}
	for _, id := range f.RelaySecrets {
		if !slices.Contains(f.Relays, id) {
			return nil, usagef("--relay-secrets %q is not the ID of a --relay; give both", id)
		}
	}
	if f.HTTPPrefix, err = parsePrefix(f.HTTPPrefix); err != nil {
		return nil, usagef("--http-prefix: %w", err)
	}
	if err := f.completeAdmission(c); err != nil {
		return nil, err
	}
	if f.RemovalGrace < 0 {
		return nil, usagef("--removal-grace must not be negative, got %v", f.RemovalGrace)
	}
	maxRemoved, err := parsePercent(f.maxRemoved)
	if err != nil {
		return nil, usagef("--max-removed: %w", err)
	}
	if err := g.checkExclude(); err != nil {
		return nil, err
	}
	options := f.Options
	paths, addresses := split(g.files)
	if len(addresses) > 0 && g.semantics.word == autoSemantics {
		return nil, usagef("serve -f STORE needs --semantics %s, %s or %s: no label of a resource may decide it", semantics.TargetRef, semantics.Kuma, semantics.Kuma3)
	}
	if options.Stores, err = g.openStores(addresses); err != nil {
		return nil, err
	}
	if options.CAs, err = sharedCAs(options.Stores, f.caPrefix); err != nil {
		return nil, err
	}
	options.Files, options.MaxRemoved = paths, maxRemoved
	read := semantics.TargetRef
	if g.semantics.word != autoSemantics {
		if read, err = semantics.Parse(g.semantics.word); err != nil {
			return nil, err
		}
		options.Semantics = &read
	}
	options.Loader = &resource.Loader{Kinds: g.kinds, Documents: documentTypes(), As: read.Reading(), Exclude: g.exclude}
	options.Translators = g.translators
	return &options, nil
}

// completeAdmission checks the flags of --admission.
func (f *serveFlags) completeAdmission(c *cobra.Command) error {
	own := &f.AdmissionTLS
	if f.Admission == "" {
		if given := c.Flags().Changed("admission-late"); given || f.refuses.given() || *own != (serve.TLSFiles{}) {
			return usagef("--admission-cert, --admission-key, --admission-client-ca, --admission-deny and --admission-late belong to --admission")
		}
		return nil
	}
	if own.Certificate == "" && own.Key == "" {
		own.Certificate, own.Key = f.tls.Certificate, f.tls.Key
	}
	if own.Certificate == "" || own.Key == "" {
		return usagef("--admission needs TLS; give --admission-cert and --admission-key, or --tls-cert and --tls-key")
	}
	f.RefuseLate = f.late.word == "deny"
	f.RefuseFindings = func(d diag.Diagnostic) bool { return f.refuses.any([]diag.Diagnostic{d}) }
	return nil
}

// parsePrefix reads the path that begins links. It returns it without a slash at its end.
func parsePrefix(text string) (string, error) {
	prefix := strings.TrimRight(text, "/")
	if prefix == "" {
		return "", nil
	}
	if u, err := url.Parse(prefix); err != nil || prefix[0] != '/' || u.EscapedPath() != prefix || u.Path != path.Clean(prefix) || u.Path != prefix {
		return "", fmt.Errorf("%q is not a path; give one such as /mesh", text)
	}
	return prefix, nil
}

// parsePercent reads a percentage such as "20%" or "20".
func parsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent >= 0 && percent <= 100) {
		return 0, fmt.Errorf("%q is not a percentage; give 0%% to 100%%, such as 20%%", text)
	}
	return percent, nil
}
