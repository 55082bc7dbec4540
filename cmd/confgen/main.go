package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/meshmatch/meshmatch/gen"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `usage: confgen [-check] [packages]

Generates zz_generated.conf.go and zz_generated.conf_test.go for each package
(default: .) with a struct type that has the line //confgen:conf in its doc
comment, zz_generated.schema.go and .json for those with //confgen:conf schema or
//confgen:schema, and removes them from other packages.

  -check   change nothing; list the files that are missing, stale or superfluous

Exit status: 0 done, or all files are up to date; 1 errors in the source, or
-check lists files; 2 wrong usage.

Examples:

  go get -tool github.com/meshmatch/meshmatch/cmd/confgen
                         once, in a module that has confs
  //go:generate go tool confgen
                         in each package with confs
  go tool confgen ./...  generate for all packages below this directory
  go tool confgen -check ./...
                         for CI: fail if a file is not up to date
`

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
