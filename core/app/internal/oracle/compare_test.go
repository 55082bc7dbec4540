package oracle

import (
	"fmt"
	"runtime/debug"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareAnswers checks that the subject and the reference give the same answers for
// every dataplane of a scenario. The error contains the first difference.
func compareAnswers(s subject, scenario *fuzz.Scenario) error {
	return forDataplanes(s, scenario, (*comparison).compareAnswers)
}

// forDataplanes loads a scenario and calls check for each dataplane, with and
// without the policies that only inform.
func forDataplanes(s subject, scenario *fuzz.Scenario, check func(*comparison) error) error {
	set, err := scenario.Load()
	if err != nil {
		return fmt.Errorf("the scenario does not load: %w", err)
	}
	var a answers
	if err := caught(func() (err error) { a, err = s(scenario.Kinds(), set); return err }); err != nil {
		return fmt.Errorf("the subject refuses the scenario: %w", err)
	}
	return checkDataplanes(a, &comparison{kinds: scenario.Kinds(), seed: scenario.Seed(), set: set}, scenario.Hub(), check)
}

// checkDataplanes calls check for each dataplane of the set of a comparison.
func checkDataplanes(a answers, in *comparison, hub *naive.Hub, check func(*comparison) error) error {
	for _, dp := range in.set.Dataplanes {
		semantics := ""
		if view, ok := a.(viewAnswers); ok {
			semantics = view.Semantics().String()
		}
		for _, opt := range []naive.Options{{Semantics: semantics, Explain: true, Hub: hub}, {Semantics: semantics, Shadow: true, Hub: hub}} {
			c := &comparison{kinds: in.kinds, seed: in.seed, set: in.set, dp: dp, opt: opt, answers: a}
			if err := caught(func() error { return check(c) }); err != nil {
				return fmt.Errorf("dataplane %q of namespace %q in mesh %q, shadow %v: %w", dp.Name, dp.Namespace, dp.Mesh, opt.Shadow, err)
			}
		}
	}
	return nil
}

// comparison compares the answers for one dataplane with one set of options.
type comparison struct {
	kinds   *resource.Kinds
	seed    uint64 // of random requests
	set     *resource.Set
	dp      *resource.Dataplane
	opt     naive.Options
	answers answers
}

func (c *comparison) compareAnswers() error {
	want, err := c.reference()
	if err != nil {
		return err
	}
	dropEmptyFields(want)
	if err := c.compareOutbounds(); err != nil {
		return err
	}
	for _, ordered := range []bool{false, true} {
		got, err := c.inspect(ordered)
		if err != nil {
			return err
		}
		if err := c.compareClients(got, ordered); err != nil {
			return err
		}
		views := dropFrom(got)
		dropEmptyFields(got)
		if diff := fuzz.Difference(want, got); diff != "" {
			return fmt.Errorf("the answers differ %s", diff)
		}
		if views == 0 {
			break // both forms are empty
		}
	}
	return nil
}

// compareOutbounds compares the outbounds that the Go API gives, with their confs: an
// outbound for which it has no answer must not have an entry.
func (c *comparison) compareOutbounds() error {
	want, err := naive.Outbounds(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.opt)
	if err != nil {
		return fmt.Errorf("the reference fails: %w", err)
	}
	for kind := range want {
		got, err := c.answers.Outbounds(c.dp, inspect.Options{Kind: kind, Shadow: c.opt.Shadow, Explain: c.opt.Explain})
		if err != nil {
			return fmt.Errorf("the subject fails: %w", err)
		}
		reference, err := asTree(map[string]any{"outbounds": want[kind]})
		if err != nil {
			return err
		}
		answer, err := asTree(map[string]any{"outbounds": got})
		if err != nil {
			return err
		}
		dropActions(answer)
		dropEmptyFields(reference)
		dropEmptyFields(answer)
		if diff := fuzz.Difference(reference, answer); diff != "" {
			return fmt.Errorf("the outbounds of %s differ %s", kind, diff)
		}
	}
	return nil
}

// reference returns the answer of the reference.
func (c *comparison) reference() (map[string]any, error) {
	answer, err := naive.Inspect(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.opt)
	if err != nil {
		return nil, fmt.Errorf("the reference fails: %w", err)
	}
	return asTree(answer)
}

// inspect returns the answer of the subject.
func (c *comparison) inspect(ordered bool) (map[string]any, error) {
	answer, err := c.answers.Inspect(c.dp, c.inspectOptions("", ordered))
	if err != nil {
		return nil, fmt.Errorf("the subject fails: %w", err)
	}
	tree, err := asTree(answer)
	if err == nil {
		dropActions(tree)
	}
	return tree, err
}

// caught calls check and returns a panic as an error, so that a scenario that
// causes a panic is shrunk and reported like any other failure.
func caught(check func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("it panics: %v\n%s", cause, debug.Stack())
		}
	}()
	return check()
}
