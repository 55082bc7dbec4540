// Package cli is the command line of meshmatch, for the program of that name
// and for embedders with policy kinds of their own:
//
//	func main() { cli.Main(upstreamtimeout.Kind()) }
package cli

import (
	"context"
	"os"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Main runs the command line that the program was started with and exits. It
// reads policies of the built-in kinds and of those given in addition. Commands that
// make Envoy resources have translators of the built-in kinds only.
//
// An interrupt ends the program at once, as commands only read and print; serve ends
// its streams first.
func Main(additional ...*resource.Kind) {
	all := resource.NewKinds(append(kinds.BuiltIn(), additional...)...)
	os.Exit(run(context.Background(), all, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
