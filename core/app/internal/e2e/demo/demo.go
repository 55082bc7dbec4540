package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/netip"
	"os"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// fatal ends the program without a certificate.
type fatal struct{}

func (fatal) Fatal(args ...any) { log.Fatal(args...) }

// run runs the demo and prints what it does.
func run(ctx context.Context, out io.Writer, envoy, mesh string) error {
	if envoy == "" {
		return errors.New("no Envoy is given; use make demo, which fetches one, or -envoy FILE")
	}
	dir, err := os.MkdirTemp("", "meshmatch-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	view, err := load(ctx, mesh, dir)
	if err != nil {
		return err
	}
	d := &demo{out: out, envoy: envoy, dir: dir, view: view, ca: envoytest.NewAuthority(fatal{})}
	defer d.stop()
	if err := d.start(); err != nil {
		return err
	}
	return d.show()
}

// demo is what is running.
type demo struct {
	out   io.Writer
	envoy string
	dir   string
	view  *core.View
	ca    *envoytest.Authority
	ends  []func()
}

func (d *demo) stop() {
	for _, end := range d.ends {
		end()
	}
}

func (d *demo) start() error {
	web, err := dataplane(d.view, "web-1")
	if err != nil {
		return err
	}
	backend, err := dataplane(d.view, "backend-1")
	if err != nil {
		return err
	}
	payments, err := dataplane(d.view, "shop/payments-1")
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "The demo mesh on loopback: 10.0.X.Y is 127.10.X.Y.\n")
	if err := d.startWorkload(backend, backend.Inbounds[0].ServiceAddress); err != nil {
		return err
	}
	if err := d.startWorkload(payments, payments.Address); err != nil {
		return err
	}
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(d.view)
	for _, proxy := range []*resource.Dataplane{web, backend} {
		if err := d.startProxy(state, proxy); err != nil {
			return err
		}
	}
	return nil
}

// startWorkload starts the workload of the first inbound at an address.
func (d *demo) startWorkload(p *resource.Dataplane, host string) error {
	in := &p.Inbounds[0]
	app, err := envoytest.NewApp(p.Name, fmt.Sprintf("%s:%d", host, cmp.Or(in.ServicePort, in.Port)))
	if err != nil {
		return err
	}
	d.ends = append(d.ends, func() { _ = app.Close() })
	return nil
}

// startProxy starts the proxy of a dataplane with its certificate.
func (d *demo) startProxy(state *snapshot.State, p *resource.Dataplane) error {
	id, err := d.view.Identities(p.Mesh).IdentityOf(p)
	if err != nil {
		return err
	}
	d.ca.WriteFiles(fatal{}, d.dir, p.Name, id.SPIFFEID)
	admin := netip.AddrPortFrom(netip.MustParseAddr(p.Inbounds[0].ServiceAddress), 19901)
	version, err := envoytest.VersionOf(d.envoy)
	if err != nil {
		return err
	}
	bootstrap, err := bootstrap.Static(state.SnapshotFor(p, xds.EnvoyOf(version)), bootstrap.Options{Admin: admin})
	if err != nil {
		return err
	}
	config, err := message.JSON(bootstrap)
	if err != nil {
		return err
	}
	proxy, err := envoytest.Run(d.envoy, d.dir, p.Name, config)
	if err != nil {
		return err
	}
	d.ends = append(d.ends, proxy.Stop)
	fmt.Fprintf(d.out, "%s runs with what `meshmatch snapshot %s --bootstrap` prints, as %s.\n", p.Name, p.Name, id.SPIFFEID)
	return nil
}
