// Command shopmesh is meshmatch with the kinds of this module in addition to the
// built-in ones.
package main

import (
	"example.com/meshkinds"

	"github.com/meshmatch/meshmatch/core/app"
)

func main() { app.Program{Kinds: meshkinds.Kinds(), Translators: meshkinds.Translators()}.Main() }
