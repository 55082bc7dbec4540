package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Path returns the path of Chromium: the environment variable CHROMIUM, or the command
// chromium; "" if there is none.
func Path() string {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		return ""
	}
	return path
}

// Start starts a browser, which ends with the returned function or with the context.
func Start(ctx context.Context) (context.Context, context.CancelFunc) {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(Path()), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(time.Minute),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-proxy-server", true), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("font-render-hinting", "none"))
	allocated, end := chromedp.NewExecAllocator(ctx, options...)
	browser, cancel := chromedp.NewContext(allocated)
	return browser, func() { cancel(); end() }
}

// Screen is what a page is shown on.
type Screen struct {
	Width, Height int64
	Dark          bool
	NoScript      bool
}

// Show makes the tab of a context show pages on the screen.
func (s Screen) Show(ctx context.Context) error {
	scheme := "light"
	if s.Dark {
		scheme = "dark"
	}
	_, errMedia := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	_, errScript := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: s.NoScript})
	return errors.Join(errMedia, errScript, chromedp.Do(ctx, chromedp.EmulateViewport(s.Width, s.Height)))
}
