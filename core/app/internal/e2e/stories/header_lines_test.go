package stories

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// headerLines are the lines x-k of the requests of headerLineStories.
var headerLines = [][]string{
	{}, {""}, {"", ""}, {"a"}, {"evil"}, {" evil "}, {"Evil"}, {"evilest"},
	{"a", "evil"}, {"evil", "a"}, {"a", "evil", "b"}, {"", "evil"}, {"evil", ""}, {"evil", "evil"}, {"x", "y"},
	{"evil,a"}, {"a,evil"}, {"a, evil ,b"}, {",evil"}, {"evil,"}, {",,evil,,"}, {"x,y"}, {"a,x,y"}, {"a,x", "y,b"},
}

type headerCondition struct {
	path, text string
	holds      func(value string) bool // nil: it asks for no value
}

// What a kind compares of the lines of a header (SPEC 7.2).
type compared int

const (
	anyRun   compared = iota // the whole value, or a run of its elements
	eachLine                 // by itself
	joined                   // all lines, joined by commas
	nothing                  // every request meets the condition
)

// isMet reports whether lines meet the condition.
func (c *headerCondition) isMet(lines []string, by compared) bool {
	switch {
	case by == nothing:
		return true
	case c.holds == nil || len(lines) == 0:
		return c.path == "/present" && len(lines) > 0 || c.path == "/absent" && len(lines) == 0
	}
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	switch by {
	case eachLine:
		return slices.ContainsFunc(trimmed, c.holds)
	case joined:
		return c.holds(strings.Join(trimmed, ","))
	}
	elements := strings.Split(strings.Join(trimmed, ","), ",")
	for i := range elements {
		for j := i + 1; j <= len(elements); j++ {
			if c.holds(strings.TrimSpace(strings.Join(elements[i:j], ","))) {
				return true
			}
		}
	}
	return false
}

// headerConditions are conditions on x-k, by the path that rules ask for beside them.
var headerConditions = []headerCondition{
	{"/exact", "{type: Exact, name: x-k, value: evil}", func(v string) bool { return v == "evil" }},
	{"/prefix", "{type: Prefix, name: x-k, value: ev}", func(v string) bool { return strings.HasPrefix(v, "ev") }},
	{"/expression", `{type: RegularExpression, name: x-k, value: "evil|x,y"}`, func(v string) bool { return v == "evil" || v == "x,y" }},
	{"/present", "{type: Present, name: x-k}", nil},
	{"/absent", "{type: Absent, name: x-k}", nil},
}

// rulesOf returns a rule for each of headerConditions, with its conf.
func rulesOf(pathType, conf string) string {
	var b strings.Builder
	for _, c := range headerConditions {
		fmt.Fprintf(&b, `
    - matches: [{path: {type: %s, value: %s}, headers: [%s]}]
      default: %s`, pathType, c.path, c.text, conf)
	}
	return b.String() + "\n"
}

// headerLineStories send repeated lines, empty elements and lists of a header to all kinds
// that compare headers, in addition to permissions. The result is the list of requests that
// a kind answers differently from SPEC 7.2.
// ByRoutes is what routes compare.
func headerLineStories(byRoutes compared) []story {
	const inbound, outbound = "127.0.0.41:10000", "127.0.0.1:10004"
	atCart := func(kind, conf string, steps ...step) story {
		return story{kind: kind, proxies: []string{"cart-1"}, steps: steps, mesh: shop + identities + fmt.Sprintf(`
type: %s
mesh: default
name: cart
spec:
  targetRef: {kind: MeshService, name: cart}
  rules:`, kind) + rulesOf("Prefix", conf)}
	}
	atWeb := func(kind, conf string, steps ...step) story {
		return story{kind: kind, proxies: []string{"web"}, steps: steps, mesh: shop + fmt.Sprintf(`
type: %s
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  to:
  - targetRef: {kind: MeshService, name: cart}
    %s`, kind, conf)}
	}
	status := func(code int) func(reply) bool { return func(r reply) bool { return r.status == code } }
	exact := headerConditions[:1]

	// One request to each path uses up what its limit allows.
	var first []func(*world) string
	for _, c := range headerConditions {
		options := []option{as(webID)}
		if c.path != "/absent" {
			options = append(options, header("x-k", "evil"))
		}
		first = append(first, get(inbound+c.path, options...))
	}
	answered := strings.TrimSuffix(strings.Repeat("200 cart-1, ", len(first)), ", ")

	var logged []string
	for i := range headerConditions {
		for n, lines := range headerLines {
			if headerConditions[i].isMet(lines, anyRun) {
				logged = append(logged, fmt.Sprint(headerConditions[i].path, "/", n))
			}
		}
	}
	slices.Sort(logged)
	log := strings.Join(logged, ", ")
	every := func(reply) bool { return true }
	always := func(query string) func(bool) string { return func(bool) string { return query } }
	// A request that meets a condition ends at the timeout, however busy the machine is.
	slow := func(met bool) string {
		if met {
			return "?delay=10s"
		}
		return "?delay=200ms"
	}

	return []story{
		atCart("MeshFaultInjection", "{http: [{abort: {httpStatus: 418, percentage: 100}}]}",
			step{name: "faults", do: otherwise(inbound, always(""), headerConditions, anyRun, status(418), as(webID))}),
		atCart("MeshRateLimit", "{local: {http: {requestRate: {num: 1, interval: 1h}}}}",
			step{name: "the first requests", do: inOrder(first...), want: answered},
			step{name: "limits", do: otherwise(inbound, always(""), headerConditions, anyRun, status(429), as(webID))}),
		atCart("MeshAccessLog", `{backends: [{type: File, file: {path: /run/mesh/lines.log, format: {type: Plain, plain: "%REQ(:PATH)%"}}}]}`,
			step{name: "requests", do: otherwise(inbound, always(""), headerConditions, nothing, every, as(webID))},
			step{name: "the log", do: eventually(log, logLines("lines.log")), want: log}),
		atCart("MeshTimeout", "{http: {requestTimeout: 50ms}}",
			step{name: "timeouts", do: otherwise(inbound, slow, headerConditions, byRoutes, status(504), as(webID))}),
		atWeb("MeshHTTPRoute", "rules:"+rulesOf("PathPrefix", "{backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v1}}]}"),
			step{name: "routes", do: otherwise(outbound, always(""), headerConditions, byRoutes, func(r reply) bool { return r.header.Get("x-app") == "backend-1" })}),
		atWeb("MeshRetry", "default: {http: {numRetries: 1, retryOn: [5xx], backOff: {baseInterval: 10ms, maxInterval: 20ms}, retriableRequestHeaders: ["+exact[0].text+"]}}\n",
			step{name: "retries", do: otherwise(outbound, always("?status=503&fail=1"), exact, byRoutes, status(200))}),
	}
}

func TestHeaderLines(t *testing.T) {
	envoytest.Path(t)
	byRoutes := eachLine
	if !envoytest.Client(t).Has(capability.SeparateHeaderLines) {
		byRoutes = joined
	}
	for _, s := range headerLineStories(byRoutes) {
		t.Run(s.kind, func(t *testing.T) {
			t.Parallel()
			s.run(t, translators.All(), func(x step) string { return x.want })
		})
	}
}

// otherwise returns a step that sends a request with each of headerLines to a path of each
// condition, three at a time (so many retries a cluster allows), and returns those to which
// the kind was applied though the condition is not met, or the other way round. A query depends on
// whether the condition is met.
func otherwise(address string, query func(met bool) string, conditions []headerCondition, by compared, applied func(reply) bool, options ...option) func(*world) string {
	return func(w *world) string {
		type request struct{ condition, lines int }
		requests := make(chan request)
		var mu sync.Mutex
		var wrong []string
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for r := range requests {
					c, lines := &conditions[r.condition], headerLines[r.lines]
					options := slices.Clone(options)
					for _, line := range lines {
						options = append(options, header("x-k", line))
					}
					met := c.isMet(lines, by)
					reply := w.get(fmt.Sprint(address, c.path, "/", r.lines, query(met)), options...)
					if reply.err != nil || applied(reply) != met {
						mu.Lock()
						wrong = append(wrong, fmt.Sprintf("%s %q: %s", c.path, lines, reply))
						mu.Unlock()
					}
				}
			})
		}
		for i := range conditions {
			for n := range headerLines {
				requests <- request{i, n}
			}
		}
		close(requests)
		group.Wait()
		slices.Sort(wrong)
		return strings.Join(wrong, "\n")
	}
}
