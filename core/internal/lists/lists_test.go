package lists_test

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/lists"
)

func Example() {
	names := []string{"web", "backend", "worker"}
	short := lists.Filter(names, func(name string) bool { return len(name) < 7 })
	fmt.Println(short, lists.Map(short, strings.ToUpper), lists.MapPointers(short, func(name *string) int { return len(*name) }))
	fmt.Println(lists.Map([]string{}, strings.ToUpper) == nil, lists.Filter(names, func(string) bool { return false }) == nil)
	// Output:
	// [web worker] [WEB WORKER] [3 6]
	// true true
}
