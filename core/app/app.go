package app

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/benchworld"
	"github.com/meshmatch/meshmatch/core/app/internal/cli"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
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
// An interrupt ends the program at once, as commands only read and print. The commands
// serve and relay end their streams first.
func (p Program) Main() { cli.Program(p).Main() }

// Main is [Program.Main] of a program with additional kinds that have no translators.
func Main(additional ...*resource.Kind) { Program{Kinds: additional}.Main() }

// Answers returns a function that answers questions about a view as JSON. A query is a path of the
// Inspect API with its parameters (core/SPEC.md, section 12), such as
//
//	/meshes/default/dataplanes/web-1/_access?inbound=http&method=GET
//
// An error says what is wrong with the query, or is the cause of the context. A diff with the
// parameter policy is not answered: a view does not have the resources that it was made from.
//
// The function may be called concurrently. Make it once for a view: that visits all dataplanes.
func (p Program) Answers(view *core.View) func(ctx context.Context, query string) ([]byte, error) {
	return inspectapi.Answers(view, slices.Concat(translators.All(), p.Translators))
}

// Answer answers one question. It is [Program.Answers] of a program without translators of its own.
func Answer(ctx context.Context, view *core.View, query string) ([]byte, error) {
	return Program{}.Answers(view)(ctx, query)
}

// BenchWorld runs the command benchworld, which measures an engine with large meshes, and exits. The
// policies are of a kind with `to`. Conf returns the conf of policy number i, which no other policy has.
func BenchWorld(kind *resource.Kind, conf func(i int) resource.Conf) {
	benchworld.Main(kind, conf, func(string, ...any) {})
}
