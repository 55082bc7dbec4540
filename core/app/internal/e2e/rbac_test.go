package e2e

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/fuzz"
)

// randomScenarios is how many meshes of random policies are tried, with
// requestsEach to each inbound in each form. SOAK multiplies it.
const (
	randomScenarios = 150
	requestsEach    = 8
)

type namedForm struct {
	name string
	form rbac.Form
}

// formsOf returns the forms that the Envoy under test compares as access does. An older one has
// the form for releases that compare characters; it never gets the rules, which are for gRPC.
func formsOf(t *testing.T) []namedForm {
	if !envoytest.Client(t).Has(capability.ByteExpressions) {
		return []namedForm{{"matcher", rbac.CharacterMatcherForm}}
	}
	return []namedForm{{"matcher", rbac.MatcherForm}, rules}
}

var rules = namedForm{"rules", rbac.RulesForm}

// trial is a listener and the requests to it.
type trial struct {
	name        string
	title       string // for messages
	permissions *permission.Permissions
	form        rbac.Form
	raw         bool // the listener does not normalize paths
	clients     []*permissiontest.Call
}

func TestEnvoyDecidesAsAccess(t *testing.T) {
	envoytest.Path(t)
	trials := slices.Concat(stories(t, formsOf(t)...), random(t), rawPaths(t))
	ca := envoytest.NewAuthority(t)
	var listeners []object
	for i := range trials {
		trial := &trials[i]
		trial.name = fmt.Sprintf("l%d", i)
		filter := printed(t, trial.permissions, trial.form, trial.name+".")
		if trial.permissions.Protocol == request.HTTP && trial.form != rbac.RulesForm {
			filter.config["track_per_rule_stats"] = true // as the filter names who decides
		}
		listeners = append(listeners, listenerOf(t, ca, trial.name, trial.permissions, filter, trial.raw))
	}
	e := startEnvoy(t, listeners)
	expected, uncounted := make([]map[string]int, len(trials)), make([]bool, len(trials))
	var measured counts
	each(len(trials), func(i int) {
		trial := &trials[i]
		expected[i] = map[string]int{}
		for n, c := range trial.clients {
			how := transportOf(trial.permissions.Protocol, c, n)
			want, refused := trial.answer(seenBy(how, c))
			isHTTP := trial.permissions.Protocol == request.HTTP
			closed := c.HasComma(trial.permissions.Clients != nil) || c.HasSeveralIDs() && !isHTTP
			several := c.HasSeveralIDs() && isHTTP
			switch {
			case several && !closed: // denied before the filter
				want = permission.Answer{}
			}
			got, err := send(e.ports[trial.name], ca.Issue(t, c.Certificate(trial.permissions.Clients != nil)...), how, c)
			if strings.HasPrefix(trial.title, "seed ") && err == nil {
				measured.add(got.allowed, want.Decision.Allow && !closed && !refused)
			}
			if closed {
				if err == nil && (got.allowed || got.refused) {
					t.Errorf("%s: %+v by %s: the connection is open", trial.title, c, how)
				}
			} else if err != nil {
				t.Errorf("%s: %+v by %s: %v", trial.title, c, how, err)
			} else if !got.allowed && !got.refused && trial.mayDeny(c) {
				uncounted[i] = true
			} else if got.allowed != want.Decision.Allow || got.refused != refused {
				t.Errorf("%s: %+v by %s: allowed %v, refused %v; access decides %s", trial.title, c, how, got.allowed, got.refused, permissiontest.Text(want))
			}
			if !refused && !closed && !several {
				trial.count(expected[i], want)
			}
		}
	})
	counters := e.counters(t)
	for i := range trials {
		if uncounted[i] {
			maps.DeleteFunc(counters, func(name string, _ int) bool {
				return strings.HasPrefix(strings.TrimPrefix(name, "http."), trials[i].name+".")
			})
			continue
		}
		for name := range expected[i] {
			if got, want := counters[name], expected[i][name]; got != want {
				t.Errorf("%s: Envoy counts %d of %s, access %d", trials[i].title, got, name, want)
			}
			delete(counters, name)
		}
	}
	if diff := cmp.Diff(map[string]int{}, counters); diff != "" {
		t.Errorf("Envoy counts more than access: %s", diff)
	}
	measured.write(t)
}

// counts are numbers of random requests, for core/VERSIONS.md.
type counts struct {
	requests, stricter, wider atomic.Int64 // denied where access allows, and the reverse
}

func (c *counts) add(got, want bool) {
	c.requests.Add(1)
	switch {
	case got && !want:
		c.wider.Add(1)
	case !got && want:
		c.stricter.Add(1)
	}
}

// write appends the numbers to the file RESULTS, if that is set (make e2e-versions).
func (c *counts) write(t *testing.T) {
	line := fmt.Sprintf("%s requests %d %d %d\n", envoytest.Version(t), c.requests.Load(), c.stricter.Load(), c.wider.Load())
	t.Log(line)
	file := os.Getenv("RESULTS")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(line)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// mayDeny reports whether an Envoy that compares characters may deny a request that is allowed: a
// value of a header, or a URI SAN, has a byte outside ASCII, or a dot segment has parameters (SPEC
// 18.3).
func (l *trial) mayDeny(c *permissiontest.Call) bool {
	return l.form == rbac.CharacterMatcherForm && (hasDotParameters(c.Path) || !c.IsASCII(l.permissions))
}

// hasDotParameters reports whether a path has a segment . or .. with parameters. The releases that
// compare bytes resolve it when they normalize the path. Older ones keep it, and permissions deny
// such a path.
func hasDotParameters(path string) bool { return strings.Contains(path, ".;") }

// answer returns the answer to a request, and whether the inbound refuses it
// before the filter.
func (l *trial) answer(q *request.Request) (a permission.Answer, refused bool) {
	a = l.permissions.Decide(q)
	asksForPath := l.permissions.Protocol == request.HTTP && l.permissions.Rules != nil && l.permissions.Rules.AsksForPath()
	if l.raw {
		path, _, _ := strings.Cut(q.Path, "?")
		if asksForPath && (strings.ContainsFunc(path, func(r rune) bool { return r > 0x7f }) || escapedSlash.MatchString(path)) {
			return permission.Answer{HasShadow: a.HasShadow}, false
		}
		return a, false
	}
	_, normal := request.NormalizePath(q.Path)
	return a, asksForPath && !normal && !escapedSlash.MatchString(q.Path)
}

var escapedSlash = regexp.MustCompile(`(?i)%2f|%5c`)

// each calls do for 0 to n-1, a few at a time.
func each(n int, do func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wait.Wait()
}

func stories(t *testing.T, forms ...namedForm) []trial {
	all, err := permissiontest.Stories()
	if err != nil {
		t.Fatal(err)
	}
	var out []trial
	for _, story := range all {
		permissions, err := permissiontest.Permissions(story.Set)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			for _, inbound := range story.Set.Dataplanes[0].Inbounds {
				trial := trial{title: story.Name + "/" + inbound.Name + "/" + form.name, permissions: permissions[inbound.Name], form: form.form}
				for _, x := range story.Requests {
					if x.Inbound == inbound.Name {
						trial.clients = append(trial.clients, withHost(x.Client))
					}
				}
				out = append(out, trial)
			}
		}
	}
	return out
}

// withHost gives a request without an authority the one that HTTP/1 asks for.
func withHost(c *permissiontest.Call) *permissiontest.Call {
	if slices.ContainsFunc(c.Lines, func(h request.Header) bool { return h.Name == "host" }) {
		return c
	}
	out := *c
	out.Lines = append(slices.Clone(c.Lines), request.Header{Name: "host", Value: "backend"})
	return &out
}

func random(t *testing.T) []trial {
	scenarios := randomScenarios * fuzz.Soak(t)
	if testing.Short() {
		scenarios /= 10
	}
	var out []trial
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		permissions := permissiontest.Random(t, r)
		for _, form := range formsOf(t) {
			for _, inbound := range []string{"http", "tcp"} {
				trial := trial{title: fmt.Sprintf("seed %d/%s/%s", seed, inbound, form.name), permissions: permissions[inbound], form: form.form}
				for range requestsEach {
					c := permissiontest.RandomClient(r)
					trial.clients = append(trial.clients, c)
				}
				out = append(out, trial)
			}
		}
	}
	return out
}

// count adds what Envoy must count for an answer.
func (l *trial) count(counters map[string]int, a permission.Answer) {
	l.countDecision(counters, "", a.Decision)
	if a.HasShadow {
		l.countDecision(counters, "shadow_", permissiontest.ShadowFilter(l.permissions, a))
	}
}

func (l *trial) countDecision(counters map[string]int, shadow string, d permission.Decision) {
	prefix, outcome := l.name+".rbac.", shadow+"denied"
	if d.Allow {
		outcome = shadow + "allowed"
	}
	if l.permissions.Protocol == request.TCP {
		counters[prefix+outcome]++
		return
	}
	counters["http."+prefix+outcome]++
	if l.form != rbac.RulesForm {
		policy := "default"
		if d.By != nil {
			policy = d.By.KRI
		}
		counters["http."+prefix+"policy."+policy+"."+outcome]++
	}
}
