package traffic

import (
	"errors"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestResults is the answer of `test`: the results of the AccessTests of a mesh (SPEC
// 13.3), sorted by test, in the order of the file.
type TestResults struct {
	Tests []TestResult `json:"tests"`
	// Warnings are about what may make the answer wrong. [RunTests] sets none.
	Warnings []diag.Diagnostic `json:"warnings,omitempty"`
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
	t := tester{view: view, mesh: mesh, kind: kind, options: options, results: &TestResults{Tests: []TestResult{}}}
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
	results *TestResults
}

func (t *tester) run(test *resource.AccessTest) {
	add := func(list string, i int, name string, result TestResult) {
		if name == "" {
			name = fmt.Sprintf("%s[%d]", list, i)
		}
		result.Name, result.Pos = test.Qualified()+": "+name, test.Pos
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
		space := requests.SpaceOf(t.view, at.dataplane)
		shown, _ := space.Shown(r)
		return t.judge(c, at, space.Visible(permissions).Decide(shown).Decision, r)
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
		Counterexample: &Counterexample{at.dataplane.Qualified(), find.InboundName(at.dataplane, at.index), inspect.NewWitness(r)},
	}
}
