package cli

import (
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/resource"
)

// kindFlag adds the flag --kind to a command: a policy kind by its name or short
// name, which set gets.
func (g *globals) kindFlag(flags *pflag.FlagSet, usage string, set func(*resource.Kind)) {
	flags.Func("kind", usage, func(name string) error {
		kind, err := find.Kind(g.kinds, name)
		if err == nil {
			set(kind)
		}
		return err
	})
}
