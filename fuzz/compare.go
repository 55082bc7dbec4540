package fuzz

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Compare checks that the subject and the reference say the same of every
// dataplane of a scenario. The error tells where they differ.
func Compare(subject Subject, s *Scenario) error {
	return compare(subject, s, (*comparison).answers)
}

// CompareSelection checks only which policies select each dataplane, on which
// inbounds, and in which order (SPEC 2, 3).
func CompareSelection(subject Subject, s *Scenario) error {
	return compare(subject, s, (*comparison).selection)
}

// CompareViews checks only the rule views: of `from` in both forms for every
// client that could exist (SPEC 5), of `to` for every outbound (SPEC 4.5).
func CompareViews(subject Subject, s *Scenario) error {
	return compare(subject, s, (*comparison).views)
}

func compare(subject Subject, s *Scenario, run func(*comparison) error) error {
	set, err := s.Load()
	if err != nil {
		return fmt.Errorf("the scenario does not load: %w", err)
	}
	var answers Answers
	if err := caught(func() (err error) { answers, err = subject(s.kinds, set); return err }); err != nil {
		return fmt.Errorf("the subject refuses the scenario: %w", err)
	}
	for _, dp := range set.Dataplanes {
		for _, opt := range []naive.Options{{Explain: true}, {Shadow: true}} {
			c := &comparison{kinds: s.kinds, set: set, dp: dp, opt: opt, subject: answers}
			if err := caught(func() error { return run(c) }); err != nil {
				return fmt.Errorf("dataplane %q of namespace %q in mesh %q, %+v: %w", dp.Name, dp.Namespace, dp.Mesh, opt, err)
			}
		}
	}
	return nil
}

// comparison is of one dataplane with one set of options.
type comparison struct {
	kinds   *resource.Kinds
	set     *resource.Set
	dp      *resource.Dataplane
	opt     naive.Options
	subject Answers
}

func (c *comparison) answers() error {
	want, err := c.reference()
	if err != nil {
		return err
	}
	dropEmptyFields(want)
	for _, ordered := range []bool{false, true} {
		got, err := c.ask(ordered)
		if err != nil {
			return err
		}
		if err := c.clients(got, ordered); err != nil {
			return err
		}
		views := dropFrom(got)
		dropEmptyFields(got)
		if diff := difference(want, got); diff != "" {
			return fmt.Errorf("the answers differ (-reference +subject):\n%s", diff)
		}
		if views == 0 {
			break // both forms are empty
		}
	}
	return nil
}

func (c *comparison) views() error {
	for _, ordered := range []bool{false, true} {
		got, err := c.ask(ordered)
		if err != nil {
			return err
		}
		if err := c.clients(got, ordered); err != nil {
			return err
		}
	}
	return c.outboundViews()
}

func (c *comparison) selection() error {
	want, err := c.reference()
	if err != nil {
		return err
	}
	got, err := c.ask(false)
	if err != nil {
		return err
	}
	if diff := difference(matchedByKind(want), matchedByKind(got)); diff != "" {
		return fmt.Errorf("the matched policies differ (-reference +subject):\n%s", diff)
	}
	return nil
}

func matchedByKind(answer map[string]any) map[any]any {
	matched := map[any]any{}
	for _, policy := range list(answer, "policies") {
		matched[policy["kind"]] = policy["matched"]
	}
	return matched
}

func (c *comparison) reference() (map[string]any, error) {
	answer, err := naive.Inspect(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.opt)
	if err != nil {
		return nil, fmt.Errorf("the reference fails: %w", err)
	}
	return asTree(answer)
}

func (c *comparison) ask(ordered bool) (map[string]any, error) {
	answer, err := c.subject.Inspect(c.dp, c.inspectOptions("", ordered))
	if err != nil {
		return nil, fmt.Errorf("the subject fails: %w", err)
	}
	return asTree(answer)
}
