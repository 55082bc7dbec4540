package inspect_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// hostile returns a policy on the inbound with the name. It sets each of six
// fields to six values, each for clients with a separate tag, which makes 7^6
// kinds of clients (SPEC 5.5).
func hostile(inbound string) string {
	fields := []string{"requestTimeout", "streamIdleTimeout", "maxStreamDuration", "maxConnectionDuration", "requestHeadersTimeout"}
	var items []string
	for i := range 36 {
		conf := fmt.Sprintf("{connectionTimeout: %ds}", i+1)
		if i%6 > 0 {
			conf = fmt.Sprintf("{http: {%s: %ds}}", fields[i%6-1], i+1)
		}
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {k%02d: v}}, default: %s}", i, conf))
	}
	return fmt.Sprintf("{type: MeshTimeout, name: many-%s, spec: {targetRef: {kind: Dataplane, sectionName: %q}, from: [%s]}}",
		inbound, inbound, strings.Join(items, ", "))
}

// inbounds returns a dataplane with inbounds at ports from 80 on.
func inbounds(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("{port: %d, tags: {kuma.io/service: web}}", 80+i))
	}
	return "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [" + strings.Join(list, ", ") + "]}}"
}

const (
	allowAll = "{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Prefix, value: spiffe://td/}}]}}]}}"
	few      = "{type: MeshTimeout, name: few, spec: {from: [{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshSubset, tags: {a: b}}, default: {idleTimeout: 2s}}]}}"
)

const tooManyRules = "the rule view needs more than %s; the policies many-80, few differ by the tags k35, k34, k33, k32, k31, k30, k29, k28, k27, k26 and 27 more"

func TestRuleViewPastItsLimit(t *testing.T) {
	view := viewOf(t, inbounds(2), hostile("80"), few, allowAll)
	web := view.Dataplanes("default")[0]

	t.Run("inspect answers everything else", func(t *testing.T) {
		answer, err := inspect.NewDataplane(view, web, inspect.Options{Kind: "MeshTimeout", Ordered: true})
		if want := "MeshTimeout of inbound 80 of web: " + fmt.Sprintf(tooManyRules, "10000 rules"); err == nil || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
		var limit *results.LimitError
		if !errors.As(err, &limit) || len(limit.Keys) != 37 {
			t.Errorf("%v does not have the keys", err)
		}
		got := answer.Policies[0].Inbounds
		if len(got) != 2 || len(got[0].From) != 0 || len(got[1].From) != 2 {
			t.Errorf("got %+v, want the rules of the second inbound", got)
		}
	})

	t.Run("check warns", func(t *testing.T) {
		var got []string
		for _, w := range check.New(view, &resource.Set{}).Warnings {
			if !strings.Contains(w.Path, "targetRef") { // no dataplane has the tags
				got = append(got, w.Error())
			}
		}
		want := []string{"file0:1:1: networking.inbound[0]: MeshTimeout of inbound 80 of web: " + fmt.Sprintf(tooManyRules, "10000 rules") + "; ask for the conf of one client at a time, by its tags"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})

	// Each view is small, but their common refinement is not.
	t.Run("diff names the policies of both views", func(t *testing.T) {
		small := func(name, key string) string {
			var items []string
			for i := range 12 {
				items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {%s%d: v}}, default: {idleTimeout: %ds}}", key, i, i+1))
			}
			return "{type: MeshTimeout, name: " + name + ", spec: {from: [" + strings.Join(items, ", ") + "]}}"
		}
		_, err := diff.New(viewOf(t, inbounds(2), small("a", "x")), viewOf(t, inbounds(2), small("b", "y")), "default",
			inspect.Options{Limits: partition.Limits{Rules: 100}})
		want := "MeshTimeout of inbound 80 of web and 1 more: the rule view needs more than 100 rules; the policies a, b differ by the tags y0, y1, "
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got the error %v, want %s", err, want)
		}
	})

	t.Run("diff compares everything else", func(t *testing.T) {
		diff, err := diff.New(viewOf(t, inbounds(2), allowAll), view, "default", inspect.Options{Limits: partition.Limits{Work: 1 << 16}})
		if want := "MeshTimeout of inbound 80 of web: " + fmt.Sprintf(tooManyRules, "65536 steps"); err == nil || err.Error() != want {
			t.Errorf("got the error %v, want %s", err, want)
		}
		if len(diff.Groups) != 1 || diff.Groups[0].Changes[0].Place.Inbound.Name != "81" {
			t.Errorf("got %+v, want the changes of inbound 81", diff.Groups)
		}
	})
}

// Each view past its limit reduces the work of those that follow, down to an
// eighth. A small view is still built.
func TestManyRuleViewsPastTheLimit(t *testing.T) {
	files := []string{inbounds(8), few}
	for i := range 7 {
		files = append(files, hostile(fmt.Sprint(80+i)))
	}
	view := viewOf(t, files...)
	answer, err := inspect.NewDataplane(view, view.Dataplanes("default")[0], inspect.Options{Limits: partition.Limits{Work: 1 << 13}})
	var errs []string
	for _, line := range strings.Split(err.Error(), "\n") {
		inbound, _, _ := strings.Cut(line, ": ")
		errs = append(errs, inbound)
	}
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("MeshTimeout of inbound %d of web", 80+i))
	}
	if diff := cmp.Diff(want, errs); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(err.Error(), "the rule view needs more than 1024 steps; the policies many-86, few differ by") {
		t.Errorf("the last view took all the steps of the first: %v", err)
	}
	if last := answer.Policies[0].Inbounds[7]; len(last.From) != 2 {
		t.Errorf("got %+v, want two rules", last)
	}
}

// A view of 2,000 rules is built after views with too many.
func TestManyRuleViewsWithTooManyRules(t *testing.T) {
	if testing.Short() {
		t.Skip("the work of a limit, in one goroutine")
	}
	var items []string
	for i := range 90 {
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {k%d: v%d}}, default: {%s: %ds}}", i%2, i/2, []string{"connectionTimeout", "idleTimeout"}[i%2], i+1))
	}
	files := []string{inbounds(5), "{type: MeshTimeout, name: last, spec: {targetRef: {kind: Dataplane, sectionName: '84'}, from: [" + strings.Join(items, ", ") + "]}}"}
	for i := range 4 {
		files = append(files, hostile(fmt.Sprint(80+i)))
	}
	view := viewOf(t, files...)
	for _, ordered := range []bool{false, true} {
		answer, err := inspect.NewDataplane(view, view.Dataplanes("default")[0], inspect.Options{Ordered: ordered})
		if n := len(strings.Split(err.Error(), "\n")); n != 4 {
			t.Errorf("ordered %t: the error %v, want one for each of 4 inbounds", ordered, err)
		}
		if n := len(answer.Policies[0].Inbounds[4].From); n < 2000 {
			t.Errorf("ordered %t: %d rules of the last inbound", ordered, n)
		}
	}
}

// An answer has at most MaxRules rules. A list that does not fit is omitted with an
// error; later lists that fit are in the answer.
func TestMaxRules(t *testing.T) {
	const matches = "{type: MeshAccessLog, name: m, spec: {targetRef: {kind: Dataplane, sectionName: '82'}, rules: [{matches: [{method: GET}, {method: PUT}], default: {backends: []}}]}}"
	view := viewOf(t, inbounds(3), few, matches, allowAll)
	const (
		timeout     = "MeshTimeout of inbound %d of web"
		permissions = "MeshTrafficPermission of inbound %d of web"
	)
	for _, test := range []struct {
		max, accessLog, timeout, permissions int
		left                                 []string // the omitted lists
	}{
		{max: 0, accessLog: 2, timeout: 6, permissions: 3},
		{max: 11, accessLog: 2, timeout: 6, permissions: 3},
		{max: 10, accessLog: 2, timeout: 6, permissions: 2, left: []string{fmt.Sprintf(permissions, 82)}},
		{max: 5, accessLog: 2, timeout: 2, permissions: 1, left: []string{
			fmt.Sprintf(timeout, 81), fmt.Sprintf(timeout, 82), fmt.Sprintf(permissions, 81), fmt.Sprintf(permissions, 82)}},
		{max: 3, accessLog: 2, permissions: 1, left: []string{
			fmt.Sprintf(timeout, 80), fmt.Sprintf(timeout, 81), fmt.Sprintf(timeout, 82), fmt.Sprintf(permissions, 81), fmt.Sprintf(permissions, 82)}},
		{max: 1, permissions: 1, left: []string{
			"MeshAccessLog of inbound 82 of web", fmt.Sprintf(timeout, 80), fmt.Sprintf(timeout, 81), fmt.Sprintf(timeout, 82), fmt.Sprintf(permissions, 81), fmt.Sprintf(permissions, 82)}},
	} {
		for _, ordered := range []bool{false, true} {
			answer, err := inspect.NewDataplane(view, view.Dataplanes("default")[0], inspect.Options{MaxRules: test.max, Ordered: ordered})
			var got [3]int
			for i, kind := range answer.Policies {
				for _, in := range kind.Inbounds {
					got[i] += len(in.From) + len(in.Rules) + len(in.Permissions)
				}
			}
			if want := [3]int{test.accessLog, test.timeout, test.permissions}; got != want {
				t.Errorf("at most %d: got %v rules, want %v", test.max, got, want)
			}
			want := ""
			if test.left != nil {
				want = fmt.Sprintf("%s: left out, because the answer would have more than %d rules; ask for one kind, or for the conf of one client", strings.Join(test.left, ", "), test.max)
			}
			if text := fmt.Sprint(err); (err != nil || want != "") && text != want {
				t.Errorf("at most %d: got the error %v, want %s", test.max, err, want)
			}
		}
	}
}

// The changes of an answer are bounded like its rules; the dataplanes whose
// changes are within the limit are reported.
func TestMaxRulesOfDiff(t *testing.T) {
	before := viewOf(t, dataplane("a"), dataplane("b"))
	after := viewOf(t, dataplane("a"), dataplane("b"), few,
		"{type: MeshTrace, name: b, spec: {targetRef: {kind: Dataplane, name: b}, default: {sampling: {overall: 1, random: 2}}}}")
	diff, err := diff.New(before, after, "default", inspect.Options{MaxRules: 6})
	if err == nil || !strings.HasPrefix(err.Error(), "the changes of b: left out, because the answer would have more than 6 rules") {
		t.Errorf("got the error %v", err)
	}
	if len(diff.Groups) != 1 || diff.Groups[0].Names[0] != "a" {
		t.Errorf("got %+v, want the changes of a", diff.Groups)
	}
}
