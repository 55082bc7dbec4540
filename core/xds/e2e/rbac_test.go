package e2e

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/permission/permissiontest"
	"github.com/meshmatch/meshmatch/core/xds"
)

// randomScenarios is how many meshes of random policies are tried, with
// requestsEach to each inbound in each form.
const (
	randomScenarios = 150
	requestsEach    = 8
)

var forms = []struct {
	name string
	form xds.RBACForm
}{{"matcher", xds.MatcherForm}, {"rules", xds.RulesForm}}

// trial is a listener and the requests to it.
type trial struct {
	name        string
	title       string // for messages
	permissions *permission.Permissions
	form        xds.RBACForm
	requests    []*permission.Request
}

func TestEnvoyDecidesAsAccessSays(t *testing.T) {
	envoyPath(t)
	trials := slices.Concat(stories(t), random(t), bytes(t))
	ca := newAuthority(t)
	var listeners []object
	for i := range trials {
		trial := &trials[i]
		trial.name = fmt.Sprintf("l%d", i)
		filter := printed(t, xds.RBAC(trial.permissions, trial.form, trial.name+"."))
		if trial.permissions.Protocol == permission.HTTP && trial.form == xds.MatcherForm {
			filter.config["track_per_rule_stats"] = true // where the filter names who decides
		}
		listeners = append(listeners, listenerOf(t, ca, trial.name, trial.permissions.Protocol, filter))
	}
	e := startEnvoy(t, listeners)
	expected := make([]map[string]int, len(trials))
	run(trials, func(i int) {
		trial := &trials[i]
		expected[i] = map[string]int{}
		for _, q := range trial.requests {
			want := trial.permissions.Decide(q)
			trial.count(expected[i], want)
			allowed, err := send(e.ports[trial.name], certificateFor(t, ca, trial.permissions, q), trial.permissions.Protocol, q)
			if err != nil {
				t.Errorf("%s: %+v: %v", trial.title, q, err)
			} else if allowed != want.Decision.Allow {
				t.Errorf("%s: %+v: let in %v, access says %s", trial.title, q, allowed, permissiontest.Text(want))
			}
		}
	})
	counters := e.counters(t)
	for i := range trials {
		for name := range expected[i] {
			if got, want := counters[name], expected[i][name]; got != want {
				t.Errorf("%s: Envoy counts %d of %s, access %d", trials[i].title, got, name, want)
			}
			delete(counters, name)
		}
	}
	if diff := cmp.Diff(map[string]int{}, counters); diff != "" {
		t.Errorf("Envoy counts more than access says: %s", diff)
	}
}

// run calls do for each trial, a few at a time.
func run(trials []trial, do func(i int)) {
	var wait sync.WaitGroup
	next := make(chan int)
	for range 4 {
		wait.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range trials {
		next <- i
	}
	close(next)
	wait.Wait()
}

func stories(t *testing.T) []trial {
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
						trial.requests = append(trial.requests, x.Request)
					}
				}
				out = append(out, trial)
			}
		}
	}
	return out
}

func random(t *testing.T) []trial {
	scenarios := randomScenarios
	if testing.Short() {
		scenarios /= 10
	}
	var out []trial
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		permissions, err := permissiontest.Permissions(permissiontest.Scenario(r))
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			for _, inbound := range []string{"http", "tcp"} {
				trial := trial{title: fmt.Sprintf("seed %d/%s/%s", seed, inbound, form.name), permissions: permissions[inbound], form: form.form}
				for range requestsEach {
					trial.requests = append(trial.requests, permissiontest.Request(r))
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
		l.countDecision(counters, "shadow_", a.Shadow)
	}
}

func (l *trial) countDecision(counters map[string]int, shadow string, d permission.Decision) {
	prefix, outcome := l.name+".rbac.", shadow+"denied"
	if d.Allow {
		outcome = shadow + "allowed"
	}
	if l.permissions.Protocol == permission.TCP {
		counters[prefix+outcome]++
		return
	}
	counters["http."+prefix+outcome]++
	if l.form == xds.MatcherForm {
		policy := "default"
		if d.By != nil {
			policy = d.By.KRI
		}
		counters["http."+prefix+"policy."+policy+"."+outcome]++
	}
}
