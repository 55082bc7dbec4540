package main

import (
	"example.com/kind/budget"
	"github.com/meshmatch/meshmatch/core/app"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

func main() {
	app.Program{
		Kinds:       []*resource.Kind{budget.Kind()},
		Translators: []xds.Translator{budget.Translator()},
	}.Main()
}
