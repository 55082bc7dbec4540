package ocm

import (
	"fmt"
	"regexp"
	"strings"
)

// The syntax of labels in Kubernetes: a key is NAME or PREFIX/NAME, where the prefix is a DNS
// subdomain, and a value is empty or has the form of a name. Source: "Labels and Selectors",
// Kubernetes documentation.
const (
	maxLabelName   = 63
	maxLabelPrefix = 253
)

var (
	labelName    = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// labelKeyProblems returns what is wrong with the key of a label, or nil.
func labelKeyProblems(key string) []string {
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		return nameProblems("a label key", key)
	}
	var problems []string
	if len(prefix) > maxLabelPrefix || !dnsSubdomain.MatchString(prefix) {
		problems = append(problems, fmt.Sprintf("the prefix %q of a label key must be a DNS subdomain of at most %d bytes, such as example.com", prefix, maxLabelPrefix))
	}
	return append(problems, nameProblems("the name after the prefix", name)...)
}

// labelValueProblems returns what is wrong with the value of a label, or nil.
func labelValueProblems(value string) []string {
	if value == "" {
		return nil
	}
	return nameProblems("a label value", value)
}

func nameProblems(what, name string) []string {
	if len(name) > maxLabelName || !labelName.MatchString(name) {
		return []string{fmt.Sprintf("%s has 1 to %d letters, digits, '-', '_' or '.', and starts and ends with a letter or digit", what, maxLabelName)}
	}
	return nil
}
