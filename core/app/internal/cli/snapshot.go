package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

func newSnapshot(g *globals) *cobra.Command {
	var asBootstrap, grpc bool
	var version string
	var t targets
	options := defaultBootstrap()
	c := withHelp("snapshot", &cobra.Command{
		Args:              t.args("DATAPLANE"),
		ValidArgsFunction: g.completeNames(targetNames),
		RunE: func(c *cobra.Command, args []string) error {
			if grpc && asBootstrap {
				return usagef("--bootstrap is for Envoy; leave it out with --grpc")
			}
			w, err := g.loadTargets(c, &t, args)
			if err != nil {
				return err
			}
			if asBootstrap && t.several() {
				return usagef("a bootstrap is that of one dataplane; give its name")
			}
			client, err := snapshotClient(version, grpc)
			if err != nil {
				return err
			}
			state := snapshot.NewBuilder(g.translators, snapshot.Options{}).At(w.view)
			var answers []answered
			for _, d := range t.list {
				snapshot := state.SnapshotFor(d, client)
				err := reportWarnings(c, snapshot)
				if err != nil {
					snapshot = nil
				} else if asBootstrap {
					return g.printBootstrap(c, snapshot, options)
				}
				answers = append(answers, answerAbout(w, d, snapshot, err, snapshotRows))
			}
			return g.printAnswers(c, &t, answers)
		},
	})
	t.register(c)
	c.Flags().BoolVar(&asBootstrap, "bootstrap", false, "print a static bootstrap, always as JSON")
	envoyFlag(c, &version)
	c.Flags().BoolVar(&grpc, "grpc", false, "print the resources for gRPC instead of Envoy")
	bootstrapFlags(c, &options)
	return c
}

// snapshotClient returns the client that flags name: an Envoy of a version, or gRPC.
func snapshotClient(version string, grpc bool) (xds.Client, error) {
	switch {
	case grpc && version != "":
		return xds.Client{}, usagef("--envoy is for Envoy; leave it out with --grpc")
	case grpc:
		return xds.Client{Type: xds.ProxylessGRPC}, nil
	}
	return envoyClient(version)
}

// envoyFlag adds the flag that names the version of the Envoys that an answer is about.
func envoyFlag(c *cobra.Command, version *string) {
	c.Flags().StringVar(version, "envoy", "", "the `VERSION` of the Envoy, such as 1.36.4 (default: the newest that was tried)")
}

// envoyClient returns the client that an Envoy of a version is; of "", the newest that was tried.
func envoyClient(version string) (xds.Client, error) {
	if version == "" {
		return xds.Client{}, nil
	}
	v, err := capability.ParseVersion(version)
	switch {
	case err != nil:
		return xds.Client{}, usagef("--envoy: %v", err)
	case v.Compare(capability.Oldest) < 0:
		return xds.Client{}, usagef("--envoy: %s is too old; the oldest release is %s", v, capability.Oldest)
	}
	return xds.EnvoyOf(v), nil
}

// reportWarnings prints the warnings of a snapshot to standard error, and returns its
// errors.
func reportWarnings(c *cobra.Command, s *snapshot.Snapshot) error {
	var failed error
	for _, warning := range s.Warnings() {
		if warning.Error {
			failed = errors.Join(failed, errors.New(warning.String()))
			continue
		}
		fmt.Fprintln(c.ErrOrStderr(), "warning:", warning)
	}
	return failed
}

// printBootstrap prints the static bootstrap of a snapshot.
func (g *globals) printBootstrap(c *cobra.Command, s *snapshot.Snapshot, options bootstrap.Options) error {
	m, err := bootstrap.Static(s, options)
	if errors.Is(err, bootstrap.ErrBundled) {
		return fmt.Errorf(`%w; run "meshmatch serve", and start the proxy with the output of "meshmatch bootstrap"`, err)
	}
	if err != nil {
		return err
	}
	return g.printMessage(c, m)
}

var typeTitles = [wire.NumTypes]string{
	wire.ListenerType: "listeners", wire.RouteType: "routes", wire.ClusterType: "clusters",
	wire.EndpointType: "endpoints", wire.SecretType: "secrets",
	wire.ExtensionType: "extensions",
}

// snapshotRows prints the names of the resources by type, with the policies that shaped
// them.
func snapshotRows(p *page, s *snapshot.Snapshot) {
	for _, t := range []wire.Type{wire.ListenerType, wire.RouteType, wire.ClusterType, wire.EndpointType, wire.SecretType, wire.ExtensionType} {
		resources := s.Resources(t)
		if len(resources) == 0 {
			continue
		}
		p.heading(0, "%s (%d)", typeTitles[t], len(resources))
		for _, r := range resources {
			p.row(r.Name, strings.Join(lists.Map(s.ShapedBy(r), func(policy *resource.Policy) string {
				return policy.Kind + "/" + p.name(policy.Namespace, policy.Name, policy.KRI())
			}), " "))
		}
	}
}
