// Meshmatch reports which policies select a proxy, in which order, and what the
// merged result is. See `meshmatch --help`.
package main

import "github.com/meshmatch/meshmatch/cmd/meshmatch/cli"

func main() { cli.Main() }
