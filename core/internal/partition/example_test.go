package partition_test

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// actions is the smallest algebra: contents override each other completely. Items
// are indexes into it.
type actions []string

func (actions) Start() string { return "" }

func (a actions) Add(content string, item int) string {
	if content != "" {
		return content
	}
	return a[item]
}

// Every client except a and b may call.
func ExampleOrdered() {
	items := []partition.Tags{{}, {"kuma.io/service": "a"}, {"kuma.io/service": "b"}}
	rules, err := partition.Ordered(items, actions{"Allow", "Deny", "Deny"}, partition.Limits{})
	if err != nil {
		panic(err)
	}
	for _, rule := range rules {
		fmt.Println(rule.Selector, rule.Content)
	}
	// Output:
	// kuma.io/service=b Deny
	// kuma.io/service=a Deny
	// {} Allow
}

func ExamplePartition_Disjoint() {
	items := []partition.Predicate{
		partition.True(),
		partition.Tags{"kuma.io/service": "web", "version": partition.Any}.Predicate(),
	}
	p, err := partition.Build(items, actions{"Allow", "Deny"}, partition.Limits{})
	if err != nil {
		panic(err)
	}
	rules, err := p.Disjoint()
	if err != nil {
		panic(err)
	}
	for _, rule := range rules {
		text, _ := rule.Selector.MarshalJSON()
		fmt.Println(rule.Content, string(text))
	}
	content, _ := p.Evaluate(map[string]string{"kuma.io/service": "web"})
	fmt.Println("web without version:", content)
	// Output:
	// Deny {"tags":{"kuma.io/service":"web","version":"*"}}
	// Allow {"tags":{"kuma.io/service":"web"},"absent":["version"]}
	// Allow {"notTags":{"kuma.io/service":["web"]}}
	// web without version: Allow
}

// The example of xRFC TP2: two routes make four variants of a resource.
func ExampleRegions() {
	fragments := []partition.Predicate{
		partition.Equal("env", "prod"),
		partition.Equal("version", "v1"),
	}
	p, err := partition.Build(fragments, routes{"prod", "v1"}, partition.Limits{})
	if err != nil {
		panic(err)
	}
	contents, choice, err := partition.Regions(p, func(names string) string { return names })
	if err != nil {
		panic(err)
	}
	for i, clients := range choice.Sets() {
		fmt.Printf("%q for %s\n", contents[i], clients.Predicate())
	}
	// Output:
	// "" for NOT env=prod AND NOT version=v1
	// "v1" for NOT env=prod AND version=v1
	// "prod" for env=prod AND NOT version=v1
	// "prod v1" for env=prod AND version=v1
}

// routes collects the names of all items.
type routes []string

func (routes) Start() string { return "" }

func (r routes) Add(content string, item int) string {
	if content == "" {
		return r[item]
	}
	return r[item] + " " + content
}

func ExampleNewChoice() {
	prod, test, qa := partition.Equal("env", "prod"), partition.Equal("env", "test"), partition.Equal("env", "qa")

	_, overlap, err := partition.NewChoice([]partition.Predicate{
		partition.Or(prod, test),
		partition.Or(qa, test),
	}, partition.Limits{})
	fmt.Println(overlap.First, overlap.Second, overlap.Witness, err)

	choice, _, err := partition.NewChoice([]partition.Predicate{prod, partition.Or(qa, test)}, partition.Limits{})
	if err != nil {
		panic(err)
	}
	index, ok := choice.Choose(map[string]string{"env": "qa", "unused": "x"})
	fmt.Println(index, ok, choice.Uncovered())
	// Output:
	// 0 1 map[env:test] <nil>
	// 1 true map[]
}
