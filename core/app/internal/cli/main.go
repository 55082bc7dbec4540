package cli

import (
	"context"
	"os"
	"slices"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// Program is what an embedder adds to the command line.
type Program struct {
	// Kinds are policy kinds in addition to the built-in ones.
	Kinds []*resource.Kind
	// Translators are called after the translators of the built-in kinds. A kind without one has
	// no effect on proxies, which is a warning.
	Translators []xds.Translator
}

// Main runs the command line that the program was started with and exits.
//
// An interrupt ends the program at once, as commands only read and print; serve ends
// its streams first.
func (p Program) Main() {
	os.Exit(p.run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// globals returns what all commands share, before the flags are parsed.
func (p Program) globals() *globals {
	return &globals{
		kinds:       resource.NewKinds(slices.Concat(kinds.BuiltIn(), p.Kinds)...),
		translators: slices.Concat(translators.All(), p.Translators),
		output:      choice{"table", outputs},
		semantics:   choice{autoSemantics, semanticsNames},
	}
}
