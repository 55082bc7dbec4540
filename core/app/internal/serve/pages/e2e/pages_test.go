package e2e_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/e2e/browser"
)

// shown is a page with a text that it has.
type shown struct{ name, path, text string }

// pagesOfDemo are all pages of the demo mesh.
var pagesOfDemo = []shown{
	{"overview", "/", "5 absent"},
	{"mesh", "/meshes/default", "In numbers"},
	{"dataplanes", "/meshes/default/dataplanes", "shop/payments-1"},
	{"dataplanes-none", "/meshes/default/dataplanes?q=nothing", "Show all 5"},
	{"dataplane", "/meshes/default/dataplanes/web-2", "3s web-faster to[0]"},
	{"dataplane-permissions", "/meshes/default/dataplanes/backend-1", "Who may call it"},
	{"policies", "/meshes/default/policies", "15 policies"},
	{"policy", "/meshes/default/policies/MeshTrafficPermission/by-mesh-operator", "an entry is not needed"},
	{"policy-shadow", "/meshes/default/policies/MeshTimeout/web-faster", "informs on 1"},
	{"access", "/meshes/default/access", "As a graph"},
	{"try", "/meshes/default/try", "A policy, new or changed"},
	{"try-request", "/meshes/default/try?dataplane=backend-1&inbound=http&spiffe-id=spiffe://shop.mesh/ns/observability/sa/p&path=/", "DENY by default"},
	{"try-bad", "/meshes/default/try?dataplane=nothing", "there is no dataplane"},
	{"values", "/meshes/default/values", "Choose a kind"},
	{"values-field", "/meshes/default/values?kind=MeshTimeout&field=http.requestTimeout&value=%2215s%22", "2 dataplanes with 15s"},
	{"rollouts", "/meshes/default/rollouts", "1 of 4 clusters done"},
	{"changes", "/meshes/default/changes", "first load"},
	{"findings", "/findings", "MM3002"},
	{"search", "/search?q=web", "who may call it"},
	{"search-none", "/search?q=nothing", "Nothing has nothing"},
	{"not-found", "/nothing", "there is no page"},
}

// screens are those on which every page is shown. Axe-core is asked on those where its rules
// may have other answers; it needs the script.
var screens = []struct {
	name string
	browser.Screen
	axe bool
}{
	{"light", wide, true},
	{"dark", browser.Screen{Width: 1200, Height: 800, Dark: true}, true},
	{"narrow", narrow, true},
	{"narrow-dark", browser.Screen{Width: 360, Height: 740, Dark: true}, false},
	{"middle", browser.Screen{Width: 780, Height: 800}, false},
	{"noscript", browser.Screen{Width: 1200, Height: 800, NoScript: true}, false},
	{"narrow-noscript", browser.Screen{Width: 360, Height: 740, NoScript: true}, false},
}

// TestEveryPage shows every page of the demo mesh on every screen, with everything folded
// and with everything unfolded.
func TestEveryPage(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	for _, screen := range screens {
		t.Run(screen.name, func(t *testing.T) {
			b := open(t, s, screen.Screen)
			b.expect("404 (Not Found)")
			for _, page := range pagesOfDemo {
				b.check(page, screen.name, screen.axe)
			}
		})
	}
}

// check shows a page and checks what every page must have.
func (b *tab) check(page shown, screen string, axe bool) {
	b.t.Helper()
	b.show(page.path)
	if text := b.text("main"); !strings.Contains(text, page.text) {
		b.t.Errorf("%s: %q is not in %q", page.path, page.text, text)
	}
	b.picture(screen + "-" + page.name)
	b.checkLayout()
	if eval[int](b, `(() => { const folded = document.querySelectorAll("details:not([open])"); for (const d of folded) d.open = true; return folded.length; })()`) > 0 {
		b.checkLayout()
	}
	if axe {
		b.checkAccess()
	}
}

// TestTab finds what it must find: a request to another origin, what the policy of the page
// blocks, an error of the script, text that covers text, and content that is too wide.
func TestTab(t *testing.T) {
	needs(t)
	s := serveDemo(t)
	b := open(t, s, narrow)
	for _, c := range []struct{ script, problem string }{
		{`fetch("http://127.0.0.2:9/").catch(() => {})`, "127.0.0.2:9"},
		{`document.body.append(Object.assign(document.createElement("script"), {textContent: "1"}))`, "Content Security Policy"},
		{`setTimeout(() => { throw new Error("thrown") })`, "thrown"},
	} {
		b.show("/")
		b.do(chromedp.Evaluate[chromedp.Void](c.script + "; undefined"))
		s.await(c.problem, func() bool { return strings.Contains(fmt.Sprint(b.found()), c.problem) })
		b.mu.Lock()
		b.problems = nil
		b.mu.Unlock()
	}
	for _, c := range []struct{ script, wrong string }{
		{`document.querySelector("h1").style.minWidth = "500px"`, "px wide"},
		{`{
			const top = (selector) => document.querySelector(selector).getBoundingClientRect().top;
			document.querySelector("h2").style.transform = "translateY(" + (top(".lead") - top("h2")) + "px)";
		}`, "cover each other"},
	} {
		b.show("/meshes/default/try")
		b.do(chromedp.Evaluate[chromedp.Void](c.script + "; undefined"))
		if wrong := eval[[]string](b, layout); !strings.Contains(strings.Join(wrong, "\n"), c.wrong) {
			t.Errorf("%s: %q is not in %q", c.script, c.wrong, wrong)
		}
	}
	b.expect("")
}

// TestPages20000 shows the main pages of 20,000 dataplanes.
func TestPages20000(t *testing.T) {
	needs(t)
	s := serveLarge(t, 20_000)
	for _, screen := range screens {
		if screen.name != "light" && screen.name != "narrow-dark" && screen.name != "narrow-noscript" {
			continue // the other screens have shown that they are like these
		}
		t.Run(screen.name, func(t *testing.T) {
			b := open(t, s, screen.Screen)
			for _, page := range []shown{
				{"large-overview", "/", "20,000"},
				{"large-dataplanes", "/meshes/default/dataplanes", "1 to 100 of 20,000"},
				{"large-last", "/meshes/default/dataplanes?page=200", "19,901 to 20,000 of 20,000"},
				{"large-search", "/meshes/default/dataplanes?q=svc-77+zone-1", "of 20,000 dataplanes"},
				{"large-dataplane", "/meshes/default/dataplanes/dp-012345", "svc-345"},
				{"large-policies", "/meshes/default/policies", "1,001 policies"},
				{"large-policy", "/meshes/default/policies/MeshTimeout/policy-000000", "1 to 100 of 20,000"},
				{"large-access", "/meshes/default/access", "Choose a service"},
				{"large-access-to", "/meshes/default/access?to=svc-7", "Who may call what"},
				{"large-try", "/meshes/default/try?dataplane=dp-000007&path=/", "Answer"},
				{"large-values", "/meshes/default/values?kind=mt&field=" + url.QueryEscape("http.requestTimeout"), "Of 20,000 dataplanes"},
				{"large-find", "/search?q=dp-0123", "All 100"},
			} {
				b.check(page, screen.name, screen.axe || screen.name == "narrow-dark")
			}
		})
	}
}
