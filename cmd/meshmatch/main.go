package main

import "github.com/meshmatch/meshmatch/core/app"

func main() { app.Main() }
