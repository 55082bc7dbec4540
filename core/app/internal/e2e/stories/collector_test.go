package stories

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	commonv1 "go.opentelemetry.io/proto/otlp/common/v1"
	logsv1 "go.opentelemetry.io/proto/otlp/logs/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
)

// A collector gets telemetry in all protocols that proxies send it in, at one address:
// OpenTelemetry over gRPC and HTTP, Zipkin as JSON over HTTP, and Datadog's traces.
type collector struct {
	server *http.Server
	mu     sync.Mutex
	spans  []Span
	logs   []Log
	traces int
}

// A Span is a span of Zipkin or OpenTelemetry.
type Span struct {
	Name, Service string
	Tags          map[string]string
}

// A Log is a log record of OpenTelemetry.
type Log struct {
	Body                 string
	Attributes, Resource map[string]string
}

// newCollector starts a collector at an address until it is closed.
func newCollector(address string) (*collector, error) {
	listener, err := envoytest.Listen(address)
	if err != nil {
		return nil, err
	}
	c := &collector{}
	calls := grpc.NewServer(grpc.UnknownServiceHandler(c.export))
	c.server = &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			calls.ServeHTTP(w, r)
			return
		}
		c.serve(w, r)
	})}
	c.server.Protocols.SetHTTP1(true)
	c.server.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = c.server.Serve(listener) }()
	return c, nil
}

// Close stops the collector.
func (c *collector) Close() error { return c.server.Close() }

// Spans returns the spans so far.
func (c *collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Logs returns the log records so far.
func (c *collector) Logs() []Log {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.logs)
}

// DatadogTraces returns how many requests with traces for Datadog there were.
func (c *collector) DatadogTraces() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.traces
}

// serve handles the requests over HTTP: of OpenTelemetry at its standard paths, of Zipkin and
// of Datadog.
func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch r.URL.Path {
	case "/v1/logs":
		data := &logsv1.LogsData{}
		if err = proto.Unmarshal(body, data); err == nil {
			c.addLogs(data)
		}
	case "/v1/traces":
		data := &tracev1.TracesData{}
		if err = proto.Unmarshal(body, data); err == nil {
			c.addSpans(data)
		}
	default:
		c.serveJSON(w, r, body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// serveJSON handles Zipkin's and Datadog's requests.
func (c *collector) serveJSON(w http.ResponseWriter, r *http.Request, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/traces"):
		if len(body) > 1 { // an empty list is one byte
			c.traces++
		}
		_, _ = io.WriteString(w, "{}")
	case strings.HasSuffix(r.URL.Path, "/spans"):
		var spans []struct {
			Name          string
			Tags          map[string]string
			LocalEndpoint struct{ ServiceName string }
		}
		if err := json.Unmarshal(body, &spans); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		for _, s := range spans {
			c.spans = append(c.spans, Span{Name: s.Name, Service: s.LocalEndpoint.ServiceName, Tags: s.Tags})
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		http.NotFound(w, r)
	}
}

// export handles the calls of OpenTelemetry's services. A request to export has the
// same binary form as the data of its signal; an answer may be empty.
func (c *collector) export(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	switch {
	case strings.Contains(method, ".LogsService/"):
		data := &logsv1.LogsData{}
		if err := stream.RecvMsg(data); err != nil {
			return err
		}
		c.addLogs(data)
	case strings.Contains(method, ".TraceService/"):
		data := &tracev1.TracesData{}
		if err := stream.RecvMsg(data); err != nil {
			return err
		}
		c.addSpans(data)
	default:
		return errors.New("no such service: " + method)
	}
	return stream.SendMsg(&emptypb.Empty{})
}

func (c *collector) addLogs(data *logsv1.LogsData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range data.ResourceLogs {
		of := attributes(resource.GetResource().GetAttributes())
		for _, scope := range resource.ScopeLogs {
			for _, record := range scope.LogRecords {
				c.logs = append(c.logs, Log{Body: record.Body.GetStringValue(), Attributes: attributes(record.Attributes), Resource: of})
			}
		}
	}
}

func (c *collector) addSpans(data *tracev1.TracesData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range data.ResourceSpans {
		service := attributes(resource.GetResource().GetAttributes())["service.name"]
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				c.spans = append(c.spans, Span{Name: span.Name, Service: service, Tags: attributes(span.Attributes)})
			}
		}
	}
}

// attributes returns the attributes whose values are texts.
func attributes(list []*commonv1.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		out[a.Key] = a.Value.GetStringValue()
	}
	return out
}
