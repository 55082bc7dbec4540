package cli

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts has a file for each command, named by the words that call it.
//
//go:embed help
var helpTexts embed.FS

// withHelp adds to a command what its file in help has: how it is used in the first line, what it
// does in the second, then the rest and the examples.
func withHelp(name string, c *cobra.Command) *cobra.Command {
	text, err := helpTexts.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // it is in the program
	}
	about, examples, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "\nExamples:\n")
	c.Use, about, _ = strings.Cut(about, "\n")
	c.Short, about, _ = strings.Cut(about, "\n")
	c.Long, c.Example = strings.TrimSpace(about), examples
	return c
}
