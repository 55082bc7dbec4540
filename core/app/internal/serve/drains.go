package serve

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// drainLog counts the listeners that proxies replace or remove because of what they are
// served, and logs them (SPEC 11.8). It is safe for concurrent use.
type drainLog struct {
	log   *slog.Logger
	total *prometheus.CounterVec // by kind

	mu         sync.Mutex
	listeners  int // since the last line
	dataplanes int
	kinds      []string
}

// newDrainLog returns a log. The kinds of policies have a count from the start, so that an
// alert on an increase sees the first drain.
func newDrainLog(log *slog.Logger, kinds []string) *drainLog {
	l := &drainLog{log: log, total: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "meshmatch_drains_total",
		Help: "Listeners that a proxy was told to replace or remove, so that their connections close when the drain time is over, by the kind of resource that changed them. A listener with two causes counts for both.",
	}, []string{"kind"})}
	for _, kind := range kinds {
		l.total.WithLabelValues(kind)
	}
	return l
}

// drainInterval is the time in which the drains of all proxies are one line of the log.
const drainInterval = time.Second

// add adds the drains of one dataplane.
func (l *drainLog) add(drains []snapshot.Drain) {
	if len(drains) == 0 {
		return
	}
	for i := range drains {
		for _, kind := range drains[i].Because {
			l.total.WithLabelValues(kind).Inc()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dataplanes == 0 {
		time.AfterFunc(drainInterval, l.flush)
	}
	l.dataplanes++
	l.listeners += len(drains)
	for i := range drains {
		for _, kind := range drains[i].Because {
			if !slices.Contains(l.kinds, kind) {
				l.kinds = append(l.kinds, kind)
			}
		}
	}
}

// flush logs the drains since the last line.
func (l *drainLog) flush() {
	l.mu.Lock()
	listeners, dataplanes, kinds := l.listeners, l.dataplanes, l.kinds
	l.listeners, l.dataplanes, l.kinds = 0, 0, nil
	l.mu.Unlock()
	slices.Sort(kinds)
	l.log.Info(fmt.Sprintf("%s of %s drain, because of %s: their connections close when the drain time of the proxy is over",
		diag.Count(listeners, "listener"), diag.Count(dataplanes, "dataplane"), strings.Join(kinds, ", ")))
}
