package main

import "github.com/meshmatch/meshmatch/core/app/internal/cli"

func main() { cli.Main() }
