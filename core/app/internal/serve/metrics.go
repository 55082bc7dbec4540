package serve

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// metrics are the metrics of SPEC 12.5, in the server's own registry.
type metrics struct {
	registry   *prometheus.Registry
	commit     prometheus.Histogram
	push       prometheus.Histogram
	loadErrors prometheus.Gauge
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		commit:   newHistogram("commit_seconds", "Time from when a change of files is found until it is published."),
		push:     newHistogram("push_seconds", "Time from when a publication is found until its response is passed to gRPC."),
		loadErrors: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "meshmatch_load_errors", Help: "Errors of the last load; 0 if it is served.",
		}),
	}
	m.registry.MustRegister(s.good.drains.total, m.commit, m.push, m.loadErrors, &collector{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func newHistogram(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "meshmatch_" + name, Help: help, Buckets: []float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
	})
}

// collectADS sends the states of nodes, what streams do, and what the limits on clients have
// refused, slowed down and left out. Others are lines of the log that were left out elsewhere.
func (s *front) collectADS(values scrape, states [server.NumNodeStates]int, others int64) {
	counters := s.ads.Counters()
	for state, n := range states {
		values.gauge(dataplanesDesc, float64(n), server.NodeState(state).String())
	}
	for i, name := range server.ProtocolNames {
		values.gauge(streamsDesc, float64(counters.Streams[i].Load()), name)
	}
	for t := range wire.Type(wire.NumTypes) {
		values.gauge(subscriptionsDesc, float64(counters.Subscriptions[t].Load()), t.String())
		values.counter(pushesDesc, float64(counters.Pushes[t].Load()), t.String())
		values.counter(pushBytesDesc, float64(counters.PushBytes[t].Load()), t.String())
		values.counter(nacksDesc, float64(counters.NACKs[t].Load()), t.String())
	}
	values.counter(refusedDesc, float64(counters.Refused.Load()))
	values.counter(pausedDesc, time.Duration(counters.Paused.Load()).Seconds())
	values.counter(unloggedDesc, float64(counters.Unlogged.Load()+s.unlogged.Load()+others))
}

// A scrape is where the values of one scrape go.
type scrape chan<- prometheus.Metric

func (s scrape) gauge(d *prometheus.Desc, v float64, label ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, label...)
}

func (s scrape) counter(d *prometheus.Desc, v float64, label ...string) {
	s <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, label...)
}

// flag sends a gauge that is 1 or 0.
func (s scrape) flag(d *prometheus.Desc, set bool) {
	v := 0.0
	if set {
		v = 1
	}
	s.gauge(d, v)
}

// collector reads the counters of the server at each scrape.
type collector struct{ *Server }

func newDesc(name, help string, label ...string) *prometheus.Desc {
	return prometheus.NewDesc("meshmatch_"+name, help, label, nil)
}

var (
	streamsDesc       = newDesc("xds_streams", "Open streams.", "protocol")
	clientsDesc       = newDesc("xds_clients", "Open streams by the client and its version.", "client")
	subscriptionsDesc = newDesc("xds_subscriptions", "Names and locators that streams subscribe.", "type")
	pushesDesc        = newDesc("xds_pushes_total", "Responses.", "type")
	pushBytesDesc     = newDesc("xds_push_bytes_total", "Bytes of responses.", "type")
	nacksDesc         = newDesc("xds_nacks_total", "Responses that clients rejected.", "type")
	refusedDesc       = newDesc("xds_refused_connections_total", "Connections that were closed because their client, or the server, had too many.")
	pausedDesc        = newDesc("xds_paused_seconds_total", "Seconds in which connections were not read, because their clients sent too much; each connection by itself.")
	unloggedDesc      = newDesc("log_suppressed_lines_total", "Lines that clients caused and that were left out of the log, because there were too many.")
	dataplanesDesc    = newDesc("dataplanes", "Dataplanes by whether they have ACKed what is served.", "state")
	resourcesDesc     = newDesc("resources", "Resources.", "kind")
	warningsDesc      = newDesc("warnings", "Warnings about what is served.")
	heldDesc          = newDesc("held_removals", "Dataplanes that are missing from the files and are served until their removal is applied.")
	lastLoadDesc      = newDesc("last_load_timestamp_seconds", "Time of the last good load, in seconds since 1970.")
	storeAgeDesc      = newDesc("store_age_seconds", "Time since the store confirmed the state that is served, in seconds.")
	storeRevisionDesc = newDesc("store_revision", "Revision of the store that is served.")
	storeReadDesc     = newDesc("store_connected", "1 if the store can be read; else 0.")
	storeInvalidDesc  = newDesc("store_invalid", "Objects of the store that do not load.", "kind")
	staleDesc         = newDesc("stale", "1 if the files have errors and an earlier input is served; else 0.")
)

// Describe implements [prometheus.Collector].
func (*collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{streamsDesc, clientsDesc, subscriptionsDesc, pushesDesc, pushBytesDesc, nacksDesc, dataplanesDesc, resourcesDesc, warningsDesc,
		refusedDesc, pausedDesc, unloggedDesc,
		heldDesc, lastLoadDesc, staleDesc, storeAgeDesc, storeRevisionDesc, storeReadDesc, storeInvalidDesc} {
		descs <- d
	}
}

// Collect implements [prometheus.Collector].
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	values := scrape(metrics)
	current := c.publisher.current.Load()
	c.collectADS(values, c.nodeStates(current), 0)
	for _, f := range c.fleet() {
		values.gauge(clientsDesc, float64(f.Streams), f.Client)
	}
	for kind, n := range current.view().Count() {
		values.gauge(resourcesDesc, float64(n), kind)
	}
	values.gauge(warningsDesc, float64(c.warner.count.Load()))
	values.gauge(heldDesc, float64(c.loads.held.Load()))
	loads := c.loads.current()
	if !loads.last.IsZero() {
		values.gauge(lastLoadDesc, float64(loads.last.UnixMilli())/1000)
	}
	values.flag(staleDesc, loads.stale != nil)
	c.collectStore(values)
}
