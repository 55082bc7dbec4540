package each_test

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/each"
)

func Example() {
	names := []string{"web", "backend", "worker"}
	short := each.That(names, func(name string) bool { return len(name) < 7 })
	fmt.Println(short, each.Of(short, strings.ToUpper), each.At(short, func(name *string) int { return len(*name) }))
	fmt.Println(each.Of([]string{}, strings.ToUpper) == nil, each.That(names, func(string) bool { return false }) == nil)
	// Output:
	// [web worker] [WEB WORKER] [3 6]
	// true true
}
