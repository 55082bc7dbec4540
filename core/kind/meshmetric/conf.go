package meshmetric

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a MeshMetric sets for a proxy.
//
//confgen:conf
type Conf struct {
	// Sidecar is the proxy's own metrics.
	Sidecar *Sidecar `json:"sidecar,omitzero"`
	// Applications are scraped by the proxy.
	Applications []Application `json:"applications,omitzero"`
	// Backends are where metrics go, all of them; an empty list switches
	// metrics off.
	Backends []Backend `json:"backends,omitzero"`
}

// Sidecar chooses among the proxy's own metrics.
type Sidecar struct {
	Profiles *Profiles `json:"profiles,omitzero"`
	// IncludeUnused keeps metrics that never changed; not set means false.
	IncludeUnused *bool `json:"includeUnused,omitzero"`
}

// Profiles are sets of metrics: those of AppendProfiles, which the policies
// add to, without those of Exclude, with those of Include.
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

// Enum returns the words.
func (ProfileName) Enum() []string { return conf.Words(AllProfile, BasicProfile, NoProfile) }

// Selector selects metrics by name.
type Selector struct {
	Type  SelectorType `json:"type"`
	Match string       `json:"match"`
}

// SelectorType is how a [Selector] compares names.
type SelectorType string

// The types of selectors. Regular expressions are RE2's.
const (
	PrefixSelector   SelectorType = "Prefix"
	RegexSelector    SelectorType = "Regex"
	ExactSelector    SelectorType = "Exact"
	ContainsSelector SelectorType = "Contains"
)

// Enum returns the words.
func (SelectorType) Enum() []string {
	return conf.Words(PrefixSelector, RegexSelector, ExactSelector, ContainsSelector)
}

// Application is a program next to the proxy that serves metrics.
type Application struct {
	Name *string `json:"name,omitzero"`
	// Path is /metrics/prometheus by default. It may be relative.
	Path *string `json:"path,omitzero"`
	// Address is the proxy's inbound address if it is not set.
	Address *string   `json:"address,omitzero"`
	Port    conf.Port `json:"port"`
}

// Selects reports whether the selector selects a metric, by the name that Prometheus
// sees. The selector must be valid.
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
