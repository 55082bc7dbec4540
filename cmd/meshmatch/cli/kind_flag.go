package cli

import (
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

// kindFlag is the value of --kind: a policy kind by its name or short name.
type kindFlag struct {
	kinds *resource.Kinds
	kind  *resource.Kind // nil: not given
}

func (f *kindFlag) String() string { return f.name() }

func (f *kindFlag) Set(s string) (err error) {
	f.kind, err = inspect.FindKind(f.kinds, s)
	return err
}

func (*kindFlag) Type() string { return "kind" }

// name returns the kind's name, or "" if the flag is not given.
func (f *kindFlag) name() string {
	if f.kind == nil {
		return ""
	}
	return f.kind.Name
}

// register adds the flag to those of a command.
func (f *kindFlag) register(flags *pflag.FlagSet, kinds *resource.Kinds, usage string) {
	f.kinds = kinds
	flags.Var(f, "kind", usage)
}
