// Meshmatch answers which policies hit a proxy, in which order, and what the
// merged result is. See `meshmatch --help`.
package main

import (
	"context"
	"os"
)

// An interrupt ends the program at once: commands only read and print, so
// there is nothing to clean up.
func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
