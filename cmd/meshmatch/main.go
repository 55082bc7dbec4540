package main

import "github.com/meshmatch/meshmatch/cmd/meshmatch/cli"

func main() { cli.Main() }
