package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// bootstrapQuery is the flags of `bootstrap`.
type bootstrapQuery struct {
	address string
	server  bootstrap.Server
	grpc    bool
	command bool
	envoy   string // a version
	drain   time.Duration
	options bootstrap.Options
}

func newBootstrap(g *globals) *cobra.Command {
	q := bootstrapQuery{options: defaultBootstrap()}
	c := withHelp("bootstrap", &cobra.Command{
		Args:              exactly("DATAPLANE"),
		ValidArgsFunction: g.completeNames(dataplaneNames),
		RunE:              func(c *cobra.Command, args []string) error { return q.run(g, c, args[0]) },
	})
	q.register(c)
	return c
}

func (q *bootstrapQuery) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&q.address, "xds", "", "the `ADDRESS` of the server, HOST:PORT")
	flags.StringVar(&q.server.CA, "xds-ca", "", "verify the server with the CA certificates in this `FILE`")
	flags.StringVar(&q.server.Certificate, "xds-cert", "", "present the certificate in this `FILE` to the server")
	flags.StringVar(&q.server.Key, "xds-key", "", "the `FILE` of the key of the certificate")
	flags.BoolVar(&q.grpc, "grpc", false, "print a bootstrap for gRPC")
	flags.BoolVar(&q.command, "command", false, "print the command line of an Envoy with the bootstrap")
	envoyFlag(c, &q.envoy)
	flags.DurationVar(&q.drain, "drain-time", defaultDrainTime, "how long Envoy keeps connections through a filter chain that an edit replaces")
	bootstrapFlags(c, &q.options)
}

// check reports flags that are missing, bad or cannot be combined, and completes the server.
func (q *bootstrapQuery) check(c *cobra.Command) error {
	if err := parseServer(&q.server, q.address); err != nil {
		return err
	}
	for _, flag := range []string{"admin", "spire-socket"} {
		if q.grpc && c.Flags().Changed(flag) {
			return usagef("--%s is a part of Envoy's bootstrap; leave it out with --grpc", flag)
		}
	}
	if _, err := snapshotClient(q.envoy, q.grpc); err != nil {
		return err
	}
	switch {
	case q.grpc && q.command:
		return usagef("--command prints Envoy's command line; leave it out with --grpc")
	case q.grpc && c.Flags().Changed("drain-time"):
		return usagef("--drain-time is about Envoy; leave it out with --grpc")
	case q.drain < 0 || q.drain%time.Second != 0 || q.drain/time.Second > math.MaxInt32:
		return usagef("--drain-time must be whole seconds and not negative, got %v", q.drain)
	}
	return nil
}

func (q *bootstrapQuery) run(g *globals, c *cobra.Command, name string) error {
	if err := q.check(c); err != nil {
		return err
	}
	w, d, err := g.loadDataplane(c, name)
	if err != nil {
		return err
	}
	id, err := w.view.Identities(d.Mesh).IdentityOf(d)
	if err != nil {
		return err
	}
	if q.command || c.Flags().Changed("drain-time") {
		q.options.Drain = &q.drain
	}
	if q.command {
		return g.printCommand(c, bootstrap.ADS(d, id, q.server, q.options), q.drain)
	}
	if !q.grpc {
		return g.printMessage(c, bootstrap.ADS(d, id, q.server, q.options))
	}
	b, err := bootstrap.GRPC(d, id, q.server)
	if err != nil {
		return err
	}
	g.reportLeftOut(c)
	return g.encode(c.OutOrStdout(), b)
}

// parseServer sets the address of the server, and checks what belongs together.
func parseServer(server *bootstrap.Server, address string) error {
	host, port, err := net.SplitHostPort(address)
	n, err2 := strconv.ParseUint(port, 10, 16)
	switch {
	case address == "":
		return usagef("--xds is required: the address of the server, HOST:PORT")
	case err != nil || err2 != nil || host == "" || n == 0:
		return usagef("--xds: bad address %q; write HOST:PORT", address)
	case (server.Certificate == "") != (server.Key == ""):
		return usagef("--xds-cert and --xds-key belong together")
	case server.Certificate != "" && server.CA == "":
		return usagef("--xds-cert needs --xds-ca: without TLS there is no certificate")
	}
	server.Host, server.Port = host, uint16(n)
	return nil
}

func defaultBootstrap() bootstrap.Options {
	return bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:9901"), SpireSocket: bootstrap.DefaultSpireSocket}
}

// bootstrapFlags adds the flags of all bootstraps.
func bootstrapFlags(c *cobra.Command, o *bootstrap.Options) {
	c.Flags().Var((*adminAddress)(&o.Admin), "admin", "the `ADDRESS` of the admin interface in the bootstrap: port 0 for any, none for no interface")
	c.Flags().StringVar(&o.SpireSocket, "spire-socket", o.SpireSocket, "the `PATH` of the socket of SPIRE's agent in the bootstrap")
}

// adminAddress is the flag of the address of the admin interface.
type adminAddress netip.AddrPort

// noAdmin is the word for no admin interface.
const noAdmin = "none"

// Set implements [pflag.Value].
func (a *adminAddress) Set(text string) error {
	if text == noAdmin {
		*a = adminAddress{}
		return nil
	}
	address, err := netip.ParseAddrPort(text)
	if err != nil {
		return fmt.Errorf("write ADDRESS:PORT, such as 127.0.0.1:9901, or %s: %w", noAdmin, err)
	}
	*a = adminAddress(address)
	return nil
}

func (a *adminAddress) String() string {
	if address := netip.AddrPort(*a); address.IsValid() {
		return address.String()
	}
	return noAdmin
}

// Type implements [pflag.Value].
func (*adminAddress) Type() string { return "address" }

// defaultDrainTime is much shorter than Envoy's default of 600 s, because a connection
// that an edit of permissions closes stays open for this time.
const defaultDrainTime = time.Minute

// printCommand prints the command line of an Envoy with a bootstrap, quoted for a shell. Such an
// Envoy refuses a resource with an unknown field. If it ignored the field, it could open what
// the field closes (SPEC 18.3).
func (g *globals) printCommand(c *cobra.Command, b proto.Message, drain time.Duration) error {
	config, err := message.JSON(b)
	if err != nil {
		return err
	}
	g.reportLeftOut(c)
	_, err = fmt.Fprintf(c.OutOrStdout(), "envoy --drain-time-s %d --use-dynamic-base-id --reject-unknown-dynamic-fields --config-yaml %s\n", drain/time.Second, shellQuoted(string(config)))
	return err
}

// printMessage prints a message in proto3 JSON.
func (g *globals) printMessage(c *cobra.Command, m proto.Message) error {
	data, err := message.JSON(m)
	if err != nil {
		return err
	}
	g.reportLeftOut(c)
	return g.encode(c.OutOrStdout(), json.RawMessage(data))
}
