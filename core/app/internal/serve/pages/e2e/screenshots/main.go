package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/e2e/browser"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// pictures are the pictures of README.md, of the demo mesh.
var pictures = []struct {
	name, path string
	prepare    string // JavaScript, before the picture is made
	screen     browser.Screen
}{
	{
		"dataplane", "/meshes/default/dataplanes/web-2",
		`for (const d of document.querySelectorAll("#outbound-0 details")) d.open = true; document.getElementById("outbound-0").scrollIntoView()`,
		browser.Screen{Width: 1200, Height: 1000},
	},
	{"access", "/meshes/default/access", "", browser.Screen{Width: 1200, Height: 880, Dark: true}},
}

func main() {
	out := flag.String("out", ".", "the `DIRECTORY` of the pictures")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string, files []string) error {
	if browser.Path() == "" {
		return errors.New("there is no Chromium; install Debian's package chromium, or set CHROMIUM")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	site, err := servePages(ctx, files)
	if err != nil {
		return err
	}
	started, end := browser.Start(ctx)
	defer end()
	for _, p := range pictures {
		if err := p.screen.Show(started); err != nil {
			return err
		}
		err := chromedp.Do(started, chromedp.Navigate(site+p.path), chromedp.WaitReady(chromedp.CSS("main")), chromedp.Evaluate[chromedp.Void](p.prepare+"; undefined"))
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		png, err := chromedp.Run(started, chromedp.CaptureScreenshot())
		if err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.name+".png"), png, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// servePages serves pages of files until the context ends, and returns their URL.
func servePages(ctx context.Context, files []string) (string, error) {
	loader := &resource.Loader{Kinds: kinds.All(), Documents: slices.Concat(ocm.Documents(), variant.Documents())}
	set, err := loader.Load(ctx, files...)
	if err != nil {
		return "", err
	}
	server, err := serve.New(serve.Options{PagesOnly: true, Set: set, Loader: loader, Translators: translators.All(), HTTP: "127.0.0.1:0"})
	if err != nil {
		return "", err
	}
	if err := server.Listen(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	site := "http://" + server.HTTPAddr().String()
	for {
		response, err := http.Get(site + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return site, nil
			}
		}
		select {
		case err := <-ended:
			return "", fmt.Errorf("the server has ended: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
