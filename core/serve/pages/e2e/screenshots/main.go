package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/meshmatch/meshmatch/core/serve/pages/e2e/browser"
)

func main() {
	var screen browser.Screen
	flag.Int64Var(&screen.Width, "width", 1200, "the width in pixels")
	flag.Int64Var(&screen.Height, "height", 760, "the height in pixels; 0: the whole page")
	flag.BoolVar(&screen.Dark, "dark", false, "with a dark ground")
	flag.Parse()
	if err := run(screen, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(screen browser.Screen, args []string) error {
	if len(args) == 0 || len(args)%2 != 0 {
		return fmt.Errorf("give pairs of a URL and a file")
	}
	if browser.Path() == "" {
		return fmt.Errorf("there is no Chromium; install Debian's package chromium, or set CHROMIUM")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx, end := browser.Start(ctx)
	defer end()
	for i := 0; i < len(args); i += 2 {
		take := chromedp.CaptureScreenshot()
		shown := screen
		if screen.Height == 0 {
			take, shown.Height = chromedp.FullScreenshot(100), 800
		}
		if err := shown.Show(ctx); err != nil {
			return err
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(args[i]), chromedp.WaitReady("main")); err != nil {
			return fmt.Errorf("%s: %w", args[i], err)
		}
		png, err := chromedp.Run(ctx, take)
		if err != nil {
			return fmt.Errorf("%s: %w", args[i], err)
		}
		if err := os.WriteFile(args[i+1], png, 0o644); err != nil {
			return err
		}
	}
	return nil
}
