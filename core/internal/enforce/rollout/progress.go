package rollout

import (
	"fmt"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// progress is the state of one cluster at the time of a plan.
type progress struct {
	cluster    string
	group      *Group
	status     ocm.Status // "" or ToApply if the cluster has not begun
	begun      bool
	inProgress bool
	failure    bool
	action     Action // of a cluster that has begun
	reason     string
	until      time.Time // when the state changes without a new status; zero: never
}

// progressOf evaluates the status of a cluster.
func progressOf(cluster string, group *Group, status *ocm.ClusterStatus, strategy *ocm.Strategy, now time.Time) progress {
	p := progress{cluster: cluster, group: group}
	if status == nil {
		return p
	}
	p.status = status.Status
	if p.begun = status.Status != ocm.ToApply; !p.begun {
		return p
	}
	switch status.Status {
	case ocm.Skip:
		p.action, p.reason = Skip, "is skipped"
	case ocm.TimeOut:
		p.action, p.reason, p.failure = TimedOut, "has timed out", true
	case ocm.Succeeded:
		if strategy.Type != ocm.All { // no cluster waits for it
			p.soak(status.Since, strategy.MinSuccessTime, now)
		} else {
			p.soak(status.Since, 0, now)
		}
	default:
		p.work(status, strategy.ProgressDeadline, now)
	}
	return p
}

// soak sets the state of a cluster that succeeded.
func (p *progress) soak(since time.Time, minSuccessTime time.Duration, now time.Time) {
	p.action, p.reason = Done, "succeeded"
	if end := since.Add(minSuccessTime); minSuccessTime > 0 && now.Before(end) {
		p.inProgress, p.until, p.action = true, end, Wait
		p.reason = "succeeded, and soaks until " + format(end)
	}
}

// work sets the state of a cluster that progresses or failed.
func (p *progress) work(status *ocm.ClusterStatus, deadline *time.Duration, now time.Time) {
	until := ""
	if deadline != nil && !status.Since.IsZero() {
		end := status.Since.Add(*deadline)
		if !now.Before(end) {
			p.action, p.failure = TimedOut, true
			p.reason = fmt.Sprintf("is %s past its deadline, %s", status.Status, format(end))
			return
		}
		p.until, until = end, " until "+format(end)
	}
	p.inProgress, p.action = true, Wait
	switch {
	case status.Status == ocm.Failed:
		p.failure = true
		p.reason = "failed, and may recover" + until
	case until == "":
		p.reason = "is in progress"
	default:
		p.reason = "is in progress, and has time" + until
	}
}

func format(t time.Time) string { return t.UTC().Format(time.RFC3339) }
