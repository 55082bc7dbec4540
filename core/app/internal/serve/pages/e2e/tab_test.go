package e2e_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/e2e/browser"
)

//go:embed testdata/layout.js
var layout string

// chromium is the browser of all tests.
var chromium = sync.OnceValues(func() (context.Context, context.CancelFunc) { return browser.Start(context.Background()) })

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.Path() != "" && os.Getenv("AXE") != "" {
		_, end := chromium()
		end()
	}
	os.Exit(code)
}

// needs skips a test without Chromium or without axe-core, whose file the variable AXE names;
// in CI, where CI=true, it fails.
func needs(t testing.TB) {
	t.Helper()
	missing := ""
	switch {
	case browser.Path() == "":
		missing = "there is no Chromium; install Debian's package chromium, or set CHROMIUM"
	case os.Getenv("AXE") == "":
		missing = "AXE is not set; make e2e-pages fetches axe-core and runs this test"
	default:
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

// axe returns the text of axe-core.
var axe = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile(os.Getenv("AXE"))
	return string(text), err
})

// The screens of people.
var (
	wide   = browser.Screen{Width: 1200, Height: 800}
	narrow = browser.Screen{Width: 360, Height: 740}
)

// tab is a tab of the browser. What goes wrong in it fails the test at its end.
type tab struct {
	t   testing.TB
	ctx context.Context
	url string // of the site

	mu       sync.Mutex
	expected []string // parts of messages that are expected
	problems []string
}

// open opens a tab for the pages of a site.
func open(t testing.TB, s *site, screen browser.Screen) *tab {
	t.Helper()
	needs(t)
	started, _ := chromium()
	ctx, end := chromedp.NewContext(started)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	b := &tab{t: t, ctx: ctx, url: s.url}
	t.Cleanup(func() {
		cancel()
		end()
		for _, problem := range b.found() {
			t.Error(problem)
		}
	})
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	if err := screen.Show(ctx); err != nil {
		t.Fatal(err)
	}
	// Several tabs are open, and each one has the focus.
	if _, err := chromedp.Call(ctx, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true}); err != nil {
		t.Fatal(err)
	}
	return b
}

// note notes what goes wrong. The browser calls it for each event.
func (b *tab) note(event any) {
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if url := event.Request.URL; !strings.HasPrefix(url, b.url+"/") && url != "about:blank" {
			b.problem("a request to another origin: " + url)
		}
	case *log.EventEntryAdded:
		if event.Entry.Level != log.EntryLevelVerbose {
			b.problem(fmt.Sprintf("the browser says: %s (%s)", event.Entry.Text, event.Entry.URL))
		}
	case *runtime.EventExceptionThrown:
		text := event.ExceptionDetails.Text
		if event.ExceptionDetails.Exception != nil {
			text += ": " + event.ExceptionDetails.Exception.Description
		}
		b.problem("an error of the script: " + text)
	case *runtime.EventConsoleAPICalled:
		b.problem(fmt.Sprintf("a message in the console: %v", event.Args))
	}
}

func (b *tab) problem(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, text)
}

// expect names a part of messages that are no problem.
func (b *tab) expect(part string) { b.expected = append(b.expected, part) }

// found returns the problems so far that are not expected.
func (b *tab) found() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []string
next:
	for _, problem := range b.problems {
		for _, part := range b.expected {
			if strings.Contains(problem, part) {
				continue next
			}
		}
		list = append(list, problem)
	}
	return list
}

// do takes steps in the tab.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatalf("%v; the page is %s", err, b.where())
	}
}

func (b *tab) where() string {
	url, _ := chromedp.Run(b.ctx, chromedp.Location())
	return url
}

// show opens a page of the site.
func (b *tab) show(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

// follow clicks on an element, and waits for the page to which it leads.
func (b *tab) follow(selector string) {
	b.t.Helper()
	if _, err := chromedp.RunResponse(b.ctx, chromedp.Click(chromedp.CSS(selector))); err != nil {
		b.t.Fatalf("%s: %v", selector, err)
	}
}

// followLink clicks on the link with a text, and waits for the page to which it leads.
func (b *tab) followLink(text string) {
	b.t.Helper()
	mark := fmt.Sprintf(`(() => {
		const link = [...document.querySelectorAll("a")].find((a) => a.textContent.trim().replace(/\s+/g, " ") === %q && a.checkVisibility());
		if (link) link.setAttribute("data-follow", "");
		return Boolean(link);
	})()`, text)
	if !eval[bool](b, mark) {
		b.t.Fatalf("there is no link %q on %s", text, b.where())
	}
	b.follow("a[data-follow]")
}

// eval returns the value of an expression of JavaScript in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// text returns the text of the first element that a selector selects, with single spaces;
// "" if there is none.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`(document.querySelector(%q)?.innerText ?? "").replace(/\s+/g, " ").trim()`, selector))
}

// await waits until an expression of JavaScript is true.
func (b *tab) await(expression string) {
	b.t.Helper()
	for end := time.Now().Add(30 * time.Second); !eval[bool](b, "Boolean("+expression+")"); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited in vain for %s; the page is %s:\n%s", expression, b.where(), b.text("main"))
		}
	}
}

// checkLayout fails the test if the layout of the page is wrong.
func (b *tab) checkLayout() {
	b.t.Helper()
	for _, wrong := range eval[[]string](b, layout) {
		b.t.Errorf("%s: %s", b.where(), wrong)
	}
}

// checkAccess fails the test if the page breaks a rule of axe-core.
func (b *tab) checkAccess() {
	b.t.Helper()
	b.checkAccessOf("html")
}

// checkAccessOf is checkAccess for the element that a selector selects.
func (b *tab) checkAccessOf(selector string) {
	b.t.Helper()
	text, err := axe()
	if err != nil {
		b.t.Fatal(err)
	}
	if !eval[bool](b, "Boolean(window.axe)") {
		b.do(chromedp.Evaluate[chromedp.Void](text + "\nundefined"))
	}
	answer, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run(`+strconv.Quote(selector)+`, {resultTypes: ["violations"]}).then((r) => JSON.stringify({
		passes: r.passes.length,
		violations: r.violations.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " " + n.failureSummary).join(" | ")),
	}))`, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatal(err)
	}
	var result struct {
		Passes     int
		Violations []string
	}
	if err := json.Unmarshal([]byte(answer), &result); err != nil {
		b.t.Fatal(err)
	}
	for _, violation := range result.Violations {
		b.t.Errorf("%s: %s", b.where(), violation)
	}
	if result.Passes < 5 {
		b.t.Errorf("%s: axe-core has only compared %d rules", b.where(), result.Passes)
	}
}

// picture writes a picture of the whole page, if PICTURES is a directory.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(dir+"/"+name+".png", png, 0o644)
	}
	if err != nil {
		b.t.Error(err)
	}
}

// forget removes the cookies of all tabs.
func (b *tab) forget() {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		b.t.Fatal(err)
	}
}
