package fuzz

import "fmt"

// ruleView is the `from` of an answer (SPEC 10).
type ruleView struct {
	rules   []map[string]any
	ordered bool // the first that matches counts, not the only one
}

// conf returns the C of a client, empty where no rule matches.
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
		return nil, fmt.Errorf("rules %v match, in a view where one does", matching)
	}
	c := map[string]any{}
	for name, value := range v.rules[matching[0]] {
		if name != "selector" {
			c[name] = value
		}
	}
	return c, nil
}

// matches evaluates a selector: tags that the client has, * for any value;
// values that it has not; keys that it has not.
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
