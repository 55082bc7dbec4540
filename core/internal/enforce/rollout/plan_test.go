package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// groups reads groups of one-letter clusters: "ab cd" is group g0 with a and b,
// and group g1 with c and d.
func groups(text string) []rollout.Group {
	var decisions []*ocm.PlacementDecision
	for i, clusters := range strings.Fields(text) {
		decisions = append(decisions, &ocm.PlacementDecision{
			Group: ocm.Group{Index: i, Name: fmt.Sprint("g", i)}, Clusters: strings.Split(clusters, ""),
		})
	}
	return rollout.Groups(decisions)
}

// status reads "a=Progressing b=Succeeded@5m": b succeeded 5 minutes ago. A status
// without an age is an hour old.
func status(t *testing.T, text string) []ocm.ClusterStatus {
	t.Helper()
	var list []ocm.ClusterStatus
	for _, field := range strings.Fields(text) {
		cluster, word, _ := strings.Cut(field, "=")
		word, ageText, aged := strings.Cut(word, "@")
		age := time.Hour
		if aged {
			var err error
			if age, err = time.ParseDuration(ageText); err != nil {
				t.Fatal(err)
			}
		}
		list = append(list, ocm.ClusterStatus{Cluster: cluster, Status: ocm.Status(word), Since: now.Add(-age)})
	}
	return list
}

func deadline(d time.Duration) *time.Duration { return &d }

// TestPlan has a case for each sentence of SPEC 8.6.
func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name     string
		groups   string
		strategy ocm.Strategy
		status   string
		want     string // the action of each cluster, "stop", and the time of the next check
	}{
		{
			name:   "All begins all clusters at once",
			groups: "ab c", strategy: ocm.Strategy{Type: ocm.All},
			want: "a:apply b:apply c:apply",
		},
		{
			name:   "a cluster that succeeded is done, and one with status Skip is skipped",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.All}, status: "a=Succeeded b=Skip",
			want: "a:done b:skip c:apply",
		},
		{
			name:   "Progressive limits the clusters in progress by a number, in the order of groups and names",
			groups: "ba dc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 3}},
			want: "a:apply b:apply c:apply d:later",
		},
		{
			name:   "a percentage of the clusters is rounded up",
			groups: "abcde", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 21, Percent: true}},
			want: "a:apply b:apply c:later d:later e:later",
		},
		{
			name:   "no limit is all clusters",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive},
			want: "a:apply b:apply c:apply",
		},
		{
			name:   "a limit of 0 is all clusters",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{}},
			want: "a:apply b:apply c:apply",
		},
		{
			name:   "a limit that exceeds the number of clusters is all clusters",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 9}},
			want: "a:apply b:apply c:apply",
		},
		{
			name:   "ToApply begins in its turn",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}}, status: "b=ToApply",
			want: "a:apply b:later c:later",
		},
		{
			name:   "Progressing is in progress",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}}, status: "b=Progressing",
			want: "a:later b:wait c:later",
		},
		{
			name:   "Failed before its deadline is in progress and a failure",
			groups: "abc", strategy: ocm.Strategy{
				Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 2}, MaxFailures: ocm.Amount{Value: 1},
				ProgressDeadline: deadline(2 * time.Hour),
			}, status: "b=Failed",
			want: "a:apply b:wait c:later 1h",
		},
		{
			name:   "Failed without a deadline is in progress indefinitely",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}, MaxFailures: ocm.Amount{Value: 1}},
			status: "a=Failed@9999h",
			want:   "a:wait b:later",
		},
		{
			name:   "Succeeded soaks for minSuccessTime",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}, MinSuccessTime: 10 * time.Minute},
			status: "a=Succeeded@4m",
			want:   "a:wait b:later 6m",
		},
		{
			name:   "Succeeded is done after minSuccessTime",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}, MinSuccessTime: 10 * time.Minute},
			status: "a=Succeeded@10m",
			want:   "a:done b:apply",
		},
		{
			name:   "past the deadline a cluster has timed out, which is a failure",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 1}, ProgressDeadline: deadline(time.Minute)},
			status: "a=Progressing@1m",
			want:   "a:timed out b:later stop",
		},
		{
			name:   "ToApply has no deadline",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.All, ProgressDeadline: deadline(time.Minute)},
			status: "a=ToApply@2m",
			want:   "a:apply b:apply",
		},
		{
			name:   "failures stop ToApply",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive},
			status: "a=TimeOut b=ToApply",
			want:   "a:timed out b:later stop",
		},
		{
			name:   "failures do not stop All",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.All}, status: "a=TimeOut b=Failed",
			want: "a:timed out b:wait c:apply",
		},
		{
			name:   "All does not soak",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.All, MinSuccessTime: 2 * time.Hour}, status: "a=Succeeded",
			want: "a:done b:apply",
		},
		{
			name:   "a tolerated failure does not hold the next group",
			groups: "ab cd", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup, MaxFailures: ocm.Amount{Value: 1}},
			status: "a=Failed b=Succeeded",
			want:   "a:wait b:done c:apply d:apply",
		},
		{
			name:   "a reported TimeOut is a failure",
			groups: "ab", strategy: ocm.Strategy{Type: ocm.Progressive}, status: "a=TimeOut",
			want: "a:timed out b:later stop",
		},
		{
			name:   "as many failures as are tolerated do not stop",
			groups: "abcd", strategy: ocm.Strategy{Type: ocm.Progressive, MaxFailures: ocm.Amount{Value: 26, Percent: true}},
			status: "a=TimeOut b=TimeOut",
			want:   "a:timed out b:timed out c:apply d:apply",
		},
		{
			name:   "more failures than are tolerated stop clusters that have not begun, and the others continue",
			groups: "abcd", strategy: ocm.Strategy{Type: ocm.Progressive, MaxFailures: ocm.Amount{Value: 25, Percent: true}},
			status: "a=TimeOut b=TimeOut c=Progressing",
			want:   "a:timed out b:timed out c:wait d:later stop",
		},
		{
			name:   "mandatory groups come first, one after the other",
			groups: "ab cd ef", strategy: ocm.Strategy{Type: ocm.Progressive, MandatoryGroups: []ocm.GroupRef{{Name: "g2"}, {Index: 1}}},
			want: "a:later b:later c:later d:later e:apply f:apply",
		},
		{
			name:   "the second mandatory group begins when none of the first is in progress",
			groups: "ab cd ef", strategy: ocm.Strategy{Type: ocm.All, MandatoryGroups: []ocm.GroupRef{{Name: "g2"}, {Index: 1}}},
			status: "e=Succeeded f=Succeeded",
			want:   "a:later b:later c:apply d:apply e:done f:done",
		},
		{
			name:   "maxConcurrency is a percentage of the clusters that are not mandatory",
			groups: "ab cdef", strategy: ocm.Strategy{
				Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 50, Percent: true}, MandatoryGroups: []ocm.GroupRef{{Name: "g0"}},
			}, status: "a=Succeeded b=Skip",
			want: "a:done b:skip c:apply d:apply e:later f:later",
		},
		{
			name:   "a mandatory group tolerates no failure",
			groups: "abx cd", strategy: ocm.Strategy{Type: ocm.Progressive, MaxFailures: ocm.Amount{Value: 9}, MandatoryGroups: []ocm.GroupRef{{Name: "g0"}}},
			status: "a=Failed b=Progressing",
			want:   "a:wait b:wait x:later c:later d:later stop",
		},
		{
			name:   "Progressive counts the failures of mandatory and other clusters",
			groups: "a bc", strategy: ocm.Strategy{Type: ocm.Progressive, MaxFailures: ocm.Amount{Value: 33, Percent: true}},
			status: "a=TimeOut b=TimeOut",
			want:   "a:timed out b:timed out c:later stop",
		},
		{
			name:   "ProgressivePerGroup begins one group",
			groups: "ab cd", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup},
			want: "a:apply b:apply c:later d:later",
		},
		{
			name:   "a group waits for the previous group",
			groups: "ab cd", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup}, status: "a=Succeeded b=Progressing",
			want: "a:done b:wait c:later d:later",
		},
		{
			name:   "a group begins when no cluster of the previous group is in progress",
			groups: "ab cd", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup}, status: "a=Succeeded b=Succeeded",
			want: "a:done b:done c:apply d:apply",
		},
		{
			name:   "a group that soaks is in progress",
			groups: "a b", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup, MinSuccessTime: 2 * time.Hour}, status: "a=Succeeded",
			want: "a:wait b:later 1h",
		},
		{
			name:   "ProgressivePerGroup counts failures by group",
			groups: "ab cd e", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup, MaxFailures: ocm.Amount{Value: 50, Percent: true}},
			status: "a=TimeOut b=Succeeded c=Succeeded d=TimeOut",
			want:   "a:timed out b:done c:done d:timed out e:apply",
		},
		{
			name:   "a group with too many failures stops the groups after it",
			groups: "ab cd", strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup, MaxFailures: ocm.Amount{Value: 50, Percent: true}},
			status: "a=TimeOut b=TimeOut",
			want:   "a:timed out b:timed out c:later d:later stop",
		},
		{
			name:   "the next check is at the first end of a deadline or soak",
			groups: "abc", strategy: ocm.Strategy{Type: ocm.Progressive, ProgressDeadline: deadline(90 * time.Minute), MinSuccessTime: 61 * time.Minute},
			status: "a=Progressing b=Succeeded c=Succeeded@2h",
			want:   "a:wait b:wait c:done 1m",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := rollout.New(&ocm.Rollout{Strategy: test.strategy, Status: status(t, test.status)}, groups(test.groups), now)
			if got := summary(plan); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, c := range plan.Clusters {
				if c.Reason == "" || c.Group == "" {
					t.Errorf("%+v has no reason or group", c)
				}
			}
		})
	}
}

// A mandatory group that is given by name is all its pieces, which have different indexes.
func TestMandatoryPieces(t *testing.T) {
	pieces := rollout.Groups([]*ocm.PlacementDecision{
		{Group: ocm.Group{Index: 0, Name: "canary"}, Clusters: []string{"a"}},
		{Group: ocm.Group{Index: 1, Name: "canary"}, Clusters: []string{"b"}},
		{Group: ocm.Group{Index: 2, Name: "rest"}, Clusters: []string{"c"}},
	})
	r := &ocm.Rollout{Strategy: ocm.Strategy{Type: ocm.Progressive, MandatoryGroups: []ocm.GroupRef{{Name: "canary"}}}}
	for begun, want := range map[string]string{
		"":                        "a:apply b:apply c:later",
		"a=Succeeded":             "a:done b:apply c:later",
		"a=Succeeded b=Succeeded": "a:done b:done c:apply",
	} {
		r.Status = status(t, begun)
		if got := summary(rollout.New(r, pieces, now)); got != want {
			t.Errorf("with %q: %s, want %s", begun, got, want)
		}
	}
}

func summary(plan *rollout.Plan) string {
	var words []string
	for _, c := range plan.Clusters {
		words = append(words, fmt.Sprintf("%s:%s", c.Cluster, c.Action))
	}
	if plan.Stopped {
		words = append(words, "stop")
	}
	if plan.RecheckAfter != nil {
		words = append(words, plan.RecheckAfter.String())
	}
	return strings.Join(words, " ")
}

// The decisions are the clusters to which the change is applied or remains applied.
func TestDecisions(t *testing.T) {
	r := &ocm.Rollout{
		Strategy: ocm.Strategy{Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 3}, MaxFailures: ocm.Amount{Value: 2}},
		Status:   status(t, "a=Succeeded b=TimeOut c=Skip d=Progressing e=Failed"),
	}
	plan := rollout.New(r, groups("abc defgh x"), now)
	got := fmt.Sprint(plan.Decisions)
	if want := "[{g0 0 [a]} {g1 1 [d e f]}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Groups are in the order of their index. The decisions of one group are joined, and a
// cluster of several groups is only in the first of them.
func TestGroups(t *testing.T) {
	got := rollout.Groups([]*ocm.PlacementDecision{
		{Group: ocm.Group{Index: 10, Name: "late"}, Clusters: []string{"z", "a"}},
		{Group: ocm.Group{Index: 2}, Clusters: []string{"c"}},
		{Group: ocm.Group{Index: 2}, Clusters: []string{"b", "a"}},
	})
	if want := "[{{2 } [a b c]} {{10 late} [z]}]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
