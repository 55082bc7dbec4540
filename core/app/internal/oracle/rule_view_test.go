package oracle

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// ruleView is the rule view of `from` or of `to` in an answer: rules with
// selectors (SPEC 10).
type ruleView struct {
	rules   []map[string]any
	ordered bool // the first rule that matches applies; otherwise exactly one matches
}

// check checks that the view gives every client or outbound that could exist the same
// conf as the reference (SPEC 5.3). It also checks that the view has the form of SPEC 5.3
// and at most the number of rules of SPEC 5.4.
func (v *ruleView) check(reference *naive.Concatenation) error {
	distinct := map[string]bool{} // sets of items
	for _, tags := range reference.Clients() {
		if items := reference.Items(tags); len(items) > 0 {
			distinct[fmt.Sprint(items)] = true
		}
		got, err := v.conf(tags)
		if err == nil {
			err = sameConf(reference.C(tags), got)
		}
		if err != nil {
			return fmt.Errorf("tags %v: %w", tags, err)
		}
	}
	if v.ordered && !v.isPositive() {
		return errors.New("the ordered form has a selector that negates (SPEC 5.3)")
	}
	if (v.ordered || reference.RequiresAtMostOneTag()) && len(v.rules) > len(distinct) {
		return fmt.Errorf("there are %d rules for %d distinct sets of items (SPEC 5.4)", len(v.rules), len(distinct))
	}
	return nil
}

// sameConf compares two values of C in SPEC 10: a conf with its origins.
func sameConf(want, got any) error {
	a, b := parse(asText(want)), parse(asText(got))
	dropEmptyFields(a)
	dropEmptyFields(b)
	if diff := fuzz.Difference(a, b); diff != "" {
		return fmt.Errorf("the confs differ %s", diff)
	}
	return nil
}

// conf returns the C of a client. It is empty if no rule matches.
func (v *ruleView) conf(client map[string]string) (map[string]any, error) {
	matching := []int{}
	for i, rule := range v.rules {
		if matches(rule, client) {
			matching = append(matching, i)
		}
	}
	switch {
	case len(matching) == 0:
		return map[string]any{}, nil
	case len(matching) > 1 && !v.ordered:
		return nil, fmt.Errorf("rules %v match, but in this view exactly one may match", matching)
	}
	c := map[string]any{}
	for name, value := range v.rules[matching[0]] {
		if name != "selector" {
			c[name] = value
		}
	}
	return c, nil
}

func (v *ruleView) isPositive() bool {
	for _, rule := range v.rules {
		selector, _ := rule["selector"].(map[string]any)
		if selector["notTags"] != nil || selector["absent"] != nil {
			return false
		}
	}
	return true
}

// matches reports whether the selector of a rule holds for a client: the client has the
// tags (* is any value), none of the excluded values and none of the absent keys.
func matches(rule map[string]any, client map[string]string) bool {
	selector, _ := rule["selector"].(map[string]any)
	tags, _ := selector["tags"].(map[string]any)
	for key, want := range tags {
		value, present := client[key]
		if !present || want != "*" && want != value {
			return false
		}
	}
	notTags, _ := selector["notTags"].(map[string]any)
	for key, excluded := range notTags {
		value, present := client[key]
		if present && holds(excluded, value) {
			return false
		}
	}
	for _, key := range asList(selector["absent"]) {
		name, _ := key.(string)
		if _, present := client[name]; present {
			return false
		}
	}
	return true
}

func holds(values any, value string) bool {
	for _, v := range asList(values) {
		if v == value || v == "*" {
			return true
		}
	}
	return false
}
