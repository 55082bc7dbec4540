package meshmetric

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshMetric for a proxy.
//
//confgen:conf schema
type Conf struct {
	// Sidecar selects metrics of the proxy itself.
	Sidecar *Sidecar `json:"sidecar,omitzero"`
	// Applications are programs whose metrics the proxy scrapes.
	Applications []Application `json:"applications,omitzero"`
	// Backends are the destinations to which metrics are sent; an empty list disables
	// metrics.
	Backends []Backend `json:"backends,omitzero"`
}

// Sidecar selects metrics of the proxy itself.
type Sidecar struct {
	Profiles *Profiles `json:"profiles,omitzero"`
	// IncludeUnused includes metrics that never changed; nil means false.
	IncludeUnused *bool `json:"includeUnused,omitzero"`
}

// Profiles determine the metrics: the metrics of AppendProfiles without the metrics
// of Exclude, plus the metrics of Include. AppendProfiles concatenates the lists of
// all policies.
type Profiles struct {
	AppendProfiles []Profile  `json:"appendProfiles,omitzero"`
	Exclude        []Selector `json:"exclude,omitzero"`
	Include        []Selector `json:"include,omitzero"`
}

// Profile is a set of metrics with a name.
type Profile struct {
	Name ProfileName `json:"name"`
}

// ProfileName names a set of metrics.
type ProfileName string

// The profiles.
const (
	AllProfile   ProfileName = "All"
	BasicProfile ProfileName = "Basic"
	NoProfile    ProfileName = "None"
)

// Enum returns the allowed values.
func (ProfileName) Enum() []string { return conf.Words(AllProfile, BasicProfile, NoProfile) }

// Selector selects metrics by name.
type Selector struct {
	Type  SelectorType `json:"type"`
	Match string       `json:"match"`
}

// SelectorType determines how a [Selector] compares names.
type SelectorType string

// The types of selectors. Regular expressions have RE2's syntax.
const (
	PrefixSelector   SelectorType = "Prefix"
	RegexSelector    SelectorType = "Regex"
	ExactSelector    SelectorType = "Exact"
	ContainsSelector SelectorType = "Contains"
)

// Enum returns the allowed values.
func (SelectorType) Enum() []string {
	return conf.Words(PrefixSelector, RegexSelector, ExactSelector, ContainsSelector)
}

// Application is a program on the machine of the proxy that serves metrics.
//
//confgen:openapi {"allOf": [{"properties": {"address": {"minLength": 1}}}]}
type Application struct {
	Name *string `json:"name,omitzero"`
	// Path is /metrics/prometheus by default. It may be relative.
	Path *string `json:"path,omitzero"`
	// Address is the proxy's inbound address if it is nil.
	Address *string   `json:"address,omitzero"`
	Port    conf.Port `json:"port"`
}

// Selects reports whether the selector selects a metric by its Prometheus name. The
// selector must be valid.
func (s *Selector) Selects(name string) bool {
	switch s.Type {
	case ExactSelector:
		return name == s.Match
	case PrefixSelector:
		return strings.HasPrefix(name, s.Match)
	case ContainsSelector:
		return strings.Contains(name, s.Match)
	default:
		return regexp.MustCompile(`\A(?:` + s.Match + `)\z`).MatchString(name)
	}
}
