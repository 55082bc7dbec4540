package shapes

import (
	"github.com/meshmatch/meshmatch/gen/internal/shapes/shared"
)

// All has every shape except unions.
//
//confgen:conf hash clone
type All struct {
	// Leaves.
	Flag    *bool            `json:"flag,omitzero"`
	Count   *uint32          `json:"count,omitzero"`
	Ratio   *float64         `json:"ratio,omitzero"`
	Name    *string          `json:"name,omitzero"`
	Mode    Mode             `json:"mode,omitzero" policyMerge:"omitzero"`
	Weight  int              `json:"weight,omitzero" policyMerge:"omitzero"`
	On      bool             `json:"on,omitzero" policyMerge:"omitzero"`
	Percent *shared.Percent  `json:"percent,omitzero"`
	Host    *shared.Host     `json:"host,omitzero"`
	Headers []shared.Header  `json:"headers,omitzero"`
	Words   *Words           `json:"words,omitzero"`
	Tree    []Tree           `json:"a~tree/list,omitzero"`
	Pointed []*shared.Header `json:"pointed,omitzero"`

	// Structs.
	Inner  Inner          `json:"inner,omitzero"`
	HTTP   *Inner         `json:"http,omitzero"`
	Limits *shared.Limits `json:"limits,omitzero"`
	Empty  *Empty         `json:"empty,omitzero"`
	Rate   *Rate          `json:"rate,omitzero"`

	// Lists and maps that grow.
	AppendProfiles []Profile           `json:"appendProfiles,omitzero"`
	Filters        []string            `json:"filters,omitzero" policyMerge:"concat"`
	Rules          []Rule              `json:"rules,omitzero" policyMerge:"mergeValuesByKey"`
	Routes         []*Route            `json:"routes,omitzero" policyMerge:"mergeValuesByKey"`
	AppendBehind   *Profiles           `json:"appendBehind,omitzero"`
	FiltersBehind  *Words              `json:"filtersBehind,omitzero" policyMerge:"concat"`
	RulesBehind    *Rules              `json:"rulesBehind,omitzero" policyMerge:"mergeValuesByKey"`
	RoutesBehind   *[]*Route           `json:"routesBehind,omitzero" policyMerge:"mergeValuesByKey"`
	Labels         map[string]string   `json:"labels,omitzero"`
	Lists          map[Mode][]string   `json:"lists,omitzero"`
	Services       map[string]Inner    `json:"services,omitzero"`
	Pointers       map[string]*Service `json:"pointers,omitzero"`
}

// Words is a named list.
type Words []string

// Profiles is a named list.
type Profiles []Profile

// Rules is a named list.
type Rules []Rule

// Mode is a named string.
type Mode string

// Inner is merged field by field, both embedded by value and by pointer.
type Inner struct {
	Timeout *Duration `json:"timeout,omitzero"`
	Codes   []int32   `json:"codes,omitzero"`
	Deeper  *Deeper   `json:"deeper,omitzero"`
}

// Deeper is a struct in a struct.
type Deeper struct {
	Retries *int64 `json:"retries,omitzero"`
}

// Empty can only be present or absent.
type Empty struct{}

// Rate is set as a whole, because its scalars always replace.
type Rate struct {
	Num      uint32   `json:"num" policyMerge:"replace"`
	Interval Duration `json:"interval" policyMerge:"replace"`
}

// Profile is an element of a list that is appended to.
type Profile struct {
	Name    string            `json:"name"`
	Options map[string]*int   `json:"options,omitzero"`
	Nested  map[Mode][]string `json:"nested,omitzero"`
}

// Tree is a value that contains itself.
type Tree struct {
	Label    string          `json:"label"`
	Children []Tree          `json:"children,omitzero"`
	ByName   map[string]Tree `json:"byName,omitzero"`
}

// Rule is an element that merges by two keys, one of them a list.
type Rule struct {
	Matches []Match `json:"matches,omitzero" policyMerge:"mergeKey"`
	Section string  `json:"section,omitzero" policyMerge:"mergeKey"`
	Default Inner   `json:"default,omitzero"`
}

// Match is a part of a key.
type Match struct {
	Path   string `json:"path"`
	Method *Mode  `json:"method,omitzero"`
}

// Route is an element of a list of pointers, and contains a list that merges by key.
type Route struct {
	Name  Mode     `json:"name" policyMerge:"mergeKey"`
	Rate  *Rate    `json:"rate,omitzero"`
	Rules []Rule   `json:"rules,omitzero" policyMerge:"mergeValuesByKey"`
	Tags  []string `json:"tags,omitzero" policyMerge:"concat"`
}

// Service is an entry of a map.
type Service struct {
	Port   *uint16         `json:"port,omitzero"`
	Zones  map[string]*int `json:"zones,omitzero"`
	Rate   *Rate           `json:"rate,omitzero"`
	Extras []string        `json:"extras,omitzero" policyMerge:"concat"`
}
