package traffic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/access"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/inspect/find"
	"github.com/meshmatch/meshmatch/core/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/resource/specs"
)

// TestResults is the answer of `test`: the results of the AccessTests of a mesh (SPEC
// 13.3), sorted by test, in the order of the file.
type TestResults struct {
	Tests []TestResult `json:"tests"`
}

// Passed reports whether each assertion holds.
func (t *TestResults) Passed() bool {
	return !slices.ContainsFunc(t.Tests, func(r TestResult) bool { return r.Result != TestPass })
}

// TestResult is the result of one assertion.
type TestResult struct {
	Name   string        `json:"name"` // of the test and of the assertion
	Result TestOutcome   `json:"result"`
	Why    string        `json:"why,omitempty"` // if it does not pass
	Pos    diag.Position `json:"-"`             // of the test
	// Counterexample is a request with another decision than the expected one, at an
	// inbound of a dataplane. By decides it.
	Counterexample *Counterexample  `json:"counterexample,omitempty"`
	By             *inspect.Decider `json:"by,omitempty"`
}

// TestOutcome is the outcome of an assertion.
type TestOutcome string

// The outcomes. The outcome is unknown if the assertion exceeds a limit.
const (
	TestPass    TestOutcome = "pass"
	TestFail    TestOutcome = "fail"
	TestUnknown TestOutcome = "unknown"
)

// Counterexample is a request to an inbound.
type Counterexample struct {
	Dataplane string `json:"dataplane"` // NAMESPACE/NAME, or NAME
	Inbound   string `json:"inbound"`
	inspect.Witness
}

// RunTests runs the AccessTests of a mesh. kind finds the policy kinds of conf assertions.
func RunTests(view *core.View, mesh string, kind func(string) (*resource.Kind, error), options inspect.Options) *TestResults {
	t := tester{view: view, mesh: mesh, kind: kind, options: options, all: view.Dataplanes(mesh), results: &TestResults{Tests: []TestResult{}}}
	t.options.SetView(view, mesh)
	for _, test := range resource.ObjectsOf[*resource.AccessTest](view.Objects(mesh)) {
		t.run(test)
	}
	return t.results
}

// tester evaluates assertions.
type tester struct {
	view    *core.View
	mesh    string
	kind    func(string) (*resource.Kind, error)
	options inspect.Options
	all     []*resource.Dataplane
	results *TestResults
}

func (t *tester) run(test *resource.AccessTest) {
	add := func(list string, i int, name string, result TestResult) {
		if name == "" {
			name = fmt.Sprintf("%s[%d]", list, i)
		}
		result.Name, result.Pos = words.Qualified(&test.Meta)+": "+name, test.Pos
		t.results.Tests = append(t.results.Tests, result)
	}
	for i := range test.Spec.Cases {
		add("cases", i, test.Spec.Cases[i].Name, t.decisions(&test.Spec.Cases[i], true))
	}
	for i := range test.Spec.Always {
		add("always", i, test.Spec.Always[i].Name, t.decisions(&test.Spec.Always[i], false))
	}
	for i := range test.Spec.Confs {
		add("confs", i, test.Spec.Confs[i].Name, t.conf(&test.Spec.Confs[i]))
	}
}

func failed(format string, args ...any) TestResult {
	return TestResult{Result: TestFail, Why: fmt.Sprintf(format, args...)}
}

// inboundAt is an inbound of a dataplane.
type inboundAt struct {
	dataplane *resource.Dataplane
	index     int
}

// decisions checks the decision of each inbound of a case.
func (t *tester) decisions(c *specs.AccessCase, single bool) TestResult {
	targets, err := t.targets(&c.To)
	if err != nil {
		return failed("%v", err)
	}
	for _, at := range targets {
		if result := t.decisionsAt(c, at, single); result.Result != TestPass {
			return result
		}
	}
	return TestResult{Result: TestPass}
}

func (t *tester) decisionsAt(c *specs.AccessCase, at inboundAt, single bool) TestResult {
	permissions := inspect.Permissions(t.view, at.dataplane, at.index)
	if single {
		r, err := t.request(c)
		if err != nil {
			return failed("%v", err)
		}
		return t.judge(c, at, permissions.Decide(r).Decision, r)
	}
	clients, err := t.clients(c.From, permissions.Clients != nil)
	if err != nil {
		return failed("%v", err)
	}
	space := requests.SpaceOf(t.view, at.dataplane)
	space.Protocol = permissions.Protocol
	within := access.And(clients, requestsOf(c.Request))
	regions, err := access.Regions(space.Access(), access.ListOf(permissions), within, access.Limits{})
	if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
		return TestResult{Result: TestUnknown, Why: limit.What}
	}
	for _, region := range regions {
		if result := t.judge(c, at, region.Decision, region.Witness); result.Result != TestPass {
			return result
		}
	}
	return TestResult{Result: TestPass}
}

// judge compares a decision about a request with the expected one.
func (t *tester) judge(c *specs.AccessCase, at inboundAt, d access.Decision, r *request.Request) TestResult {
	if d.String() == string(c.Expect) {
		return TestResult{Result: TestPass}
	}
	decision := inspect.NewDecision(d, t.options)
	return TestResult{
		Result: TestFail, Why: "the decision is " + decision.Decision, By: &decision.By,
		Counterexample: &Counterexample{words.Qualified(&at.dataplane.Meta), find.InboundName(at.dataplane, at.index), inspect.NewWitness(r)},
	}
}

// targets returns the inbounds of a case, at least one.
func (t *tester) targets(to *specs.AccessTarget) ([]inboundAt, error) {
	var out []inboundAt
	what := ""
	dataplanes := t.all
	if to.Dataplane != nil {
		d, err := find.Dataplane(t.view, t.mesh, find.Name{Name: *to.Dataplane})
		if err != nil {
			return nil, err
		}
		dataplanes, what = []*resource.Dataplane{d}, fmt.Sprintf("dataplane %q", *to.Dataplane)
	} else {
		what = fmt.Sprintf("service %q", *to.Service)
	}
	for _, d := range dataplanes {
		for i := range d.Inbounds {
			in := &d.Inbounds[i]
			if to.Service != nil && in.Tags.Value(resource.ServiceTag) != *to.Service {
				continue
			}
			if to.Inbound == nil || *to.Inbound == in.SectionName() || *to.Inbound == find.InboundName(d, i) {
				out = append(out, inboundAt{d, i})
			}
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case to.Inbound != nil:
		return nil, fmt.Errorf("%s has no inbound %q", what, *to.Inbound)
	}
	return nil, fmt.Errorf("%s has no inbounds", what)
}

// request returns the request of a case.
func (t *tester) request(c *specs.AccessCase) (*request.Request, error) {
	r := &request.Request{}
	if from := c.From; from != nil {
		switch {
		case from.SpiffeID != nil:
			r.SpiffeID = *from.SpiffeID
		case from.Dataplane != nil:
			client, err := find.Client(t.view, t.mesh, find.Name{Name: *from.Dataplane})
			if err != nil {
				return nil, err
			}
			r.SpiffeID, r.Tags = client.SpiffeID, client.Tags
		default:
			r.Tags = resource.NewTags(from.Tags)
		}
	}
	if q := c.Request; q != nil {
		r.SNI, r.Method, r.Path = text(q.SNI), text(q.Method), text(q.Path)
		r.Headers = headersOf(q.Headers)
	}
	return r, nil
}

func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

func headersOf(values map[string]string) request.Headers {
	var headers []request.Header
	for name, value := range values {
		headers = append(headers, request.Header{Name: name, Value: value})
	}
	return request.NewHeaders(headers...)
}

// clients returns the requests of some clients; nil means every client. With byTags it
// identifies clients by their tags, as `from` items do; otherwise by SPIFFE IDs, as
// entries of rules do.
func (t *tester) clients(c *specs.AccessClient, byTags bool) (*access.Set, error) {
	switch {
	case c == nil:
		return nil, nil
	case c.SpiffeID != nil:
		return withID(conf.SpiffeIDExact, *c.SpiffeID), nil
	case c.SpiffeIDPrefix != nil:
		return withID(conf.SpiffeIDPrefix, *c.SpiffeIDPrefix), nil
	case c.Tags != nil:
		return access.Matching(nil, resource.NewTags(c.Tags)), nil
	case c.Not != nil:
		set, err := t.clients(c.Not, byTags)
		return access.Not(set), err
	case c.Dataplane != nil:
		d, err := find.Dataplane(t.view, t.mesh, find.Name{Name: *c.Dataplane})
		if err != nil {
			return nil, err
		}
		return t.dataplanes([]*resource.Dataplane{d}, *c.Dataplane, byTags)
	case c.Service != nil:
		var of []*resource.Dataplane
		for _, d := range t.all {
			if slices.ContainsFunc(find.ClientTags(d), func(tags resource.Tags) bool { return tags.Value(resource.ServiceTag) == *c.Service }) {
				of = append(of, d)
			}
		}
		return t.dataplanes(of, *c.Service, byTags)
	}
	var sets []*access.Set
	for i := range c.AnyOf {
		set, err := t.clients(&c.AnyOf[i], byTags)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return access.Or(sets...), nil
}

func withID(how conf.SpiffeIDMatchType, id string) *access.Set {
	return access.Matching(&conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: how, Value: id}}, nil)
}

// dataplanes returns dataplanes as clients: by the tags of each of their inbounds, or by
// identity.
func (t *tester) dataplanes(list []*resource.Dataplane, name string, byTags bool) (*access.Set, error) {
	var sets []*access.Set
	for _, d := range list {
		id, err := t.view.Identities(t.mesh).Of(d)
		switch {
		case err != nil:
			return nil, err
		case id != nil && !byTags:
			sets = append(sets, withID(conf.SpiffeIDExact, id.SPIFFEID))
			continue
		}
		for _, tags := range find.ClientTags(d) {
			sets = append(sets, access.Matching(nil, tags))
		}
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("no dataplane of %q is a client", name)
	}
	return access.Or(sets...), nil
}

// requestsOf returns the requests of an assertion; nil means every request.
func requestsOf(r *specs.TestRequest) *access.Set {
	if r == nil {
		return nil
	}
	m := &conf.Match{}
	if r.SNI != nil {
		m.SNI = (*conf.SNI)(r.SNI)
	}
	if r.Method != nil {
		m.Method = (*conf.Method)(r.Method)
	}
	if r.Path != nil {
		path, _ := request.NormalizePath(*r.Path)
		m.Path = &conf.PathMatch{Type: conf.PathExact, Value: path}
	}
	if r.PathPrefix != nil {
		m.Path = &conf.PathMatch{Type: conf.PathPrefix, Value: *r.PathPrefix}
	}
	for _, h := range headersOf(r.Headers) {
		m.Headers = append(m.Headers, conf.HeaderMatch{Name: conf.HeaderName(h.Name), Value: &h.Value})
	}
	return access.Matching(m, nil)
}

// conf checks a field of a conf.
func (t *tester) conf(c *specs.ConfCase) TestResult {
	kind, err := t.kind(c.Kind)
	if err != nil {
		return failed("%v", err)
	}
	d, err := find.Dataplane(t.view, t.mesh, find.Name{Name: c.Dataplane})
	if err != nil {
		return failed("%v", err)
	}
	q := &inspect.ConfQuery{Kind: kind, Outbound: c.Outbound, Route: c.Route, Inbound: c.Inbound, Options: inspect.Options{Explain: true}}
	if m := c.Match; m != nil {
		q.Request = inspect.RequestQuery{SpiffeID: m.SpiffeID, SNI: m.SNI, Method: m.Method, Path: m.Path}
		for name, value := range m.Headers {
			q.Request.Headers = append(q.Request.Headers, name+"="+value)
		}
		for key, value := range m.Tags {
			q.Request.Tags = append(q.Request.Tags, key+"="+value)
		}
	}
	answer, err := inspect.NewConf(t.view, d, q)
	if err != nil {
		return failed("%v", err)
	}
	value, set := "", false
	if answer.EffectiveConf != nil {
		data, err := conf.Marshal(answer.EffectiveConf.Conf)
		if err != nil {
			return failed("%v", err)
		}
		value, set = valueAt(data, c.Field)
	}
	return judgeValue(&c.Expect, c.Field, value, set)
}

// valueAt returns the value at a JSON pointer in the JSON of a conf.
func valueAt(data []byte, pointer string) (text string, set bool) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return "", false
	}
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch at := value.(type) {
		case map[string]any:
			value, set = at[part]
		case []any:
			i, err := strconv.Atoi(part)
			set = err == nil && i >= 0 && i < len(at)
			if set {
				value = at[i]
			}
		default:
			set = false
		}
		if !set {
			return "", false
		}
	}
	if text, ok := value.(string); ok {
		return text, true
	}
	encoded, err := json.Marshal(value)
	return string(encoded), err == nil
}

func judgeValue(want *specs.ConfCondition, field, value string, set bool) TestResult {
	have := field + " is " + value
	if !set {
		have = field + " is not set"
	}
	switch {
	case want.Set != nil && *want.Set != set:
		return failed("%s", have)
	case want.Set != nil && !set && want.Equals == nil && want.AtLeast == nil && want.AtMost == nil:
		return TestResult{Result: TestPass}
	case !set:
		return failed("%s", have)
	case want.Equals != nil && compareValues(value, string(*want.Equals)) != 0:
		return failed("%s, and not %s", have, *want.Equals)
	case want.AtLeast != nil && !ordered(value, string(*want.AtLeast)), want.AtMost != nil && !ordered(value, string(*want.AtMost)):
		return failed("%s, which is neither a duration nor a number that can be compared", have)
	case want.AtLeast != nil && compareValues(value, string(*want.AtLeast)) < 0:
		return failed("%s, which is less than %s", have, *want.AtLeast)
	case want.AtMost != nil && compareValues(value, string(*want.AtMost)) > 0:
		return failed("%s, which is more than %s", have, *want.AtMost)
	}
	return TestResult{Result: TestPass}
}

// ordered reports whether two values are both durations or both numbers.
func ordered(a, b string) bool {
	_, errA := time.ParseDuration(a)
	_, errB := time.ParseDuration(b)
	_, notA := strconv.ParseFloat(a, 64)
	_, notB := strconv.ParseFloat(b, 64)
	return errA == nil && errB == nil || notA == nil && notB == nil
}

// compareValues compares durations and numbers by value, other values as text.
func compareValues(a, b string) int {
	x, errX := time.ParseDuration(a)
	y, errY := time.ParseDuration(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	p, errP := strconv.ParseFloat(a, 64)
	q, errQ := strconv.ParseFloat(b, 64)
	if errP == nil && errQ == nil {
		return cmp.Compare(p, q)
	}
	return strings.Compare(a, b)
}
