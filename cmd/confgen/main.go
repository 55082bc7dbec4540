package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/meshmatch/meshmatch/gen"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

//go:embed usage.txt
var usage string

// run runs the command and returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("confgen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {}
	check := flags.Bool("check", false, "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		fmt.Fprint(stderr, usage)
		return 2
	}
	patterns := flags.Args()
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	files, err := gen.Generate(gen.Config{Patterns: patterns})
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	if *check {
		return report(files, stderr)
	}
	if err := gen.Write(files); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// report lists the files that are not up to date, and returns the exit status.
func report(files []gen.File, stderr io.Writer) int {
	status := 0
	for _, file := range files {
		hint := "run go generate"
		switch file.State {
		case gen.Fresh:
			continue
		case gen.Superfluous: // its go:generate line may be gone too, so go generate may not remove it
			hint = "remove it"
		}
		fmt.Fprintf(stderr, "%s: %s; %s\n", gen.Relative(file.Path), file.State, hint)
		status = 1
	}
	return status
}
