package main

import (
	"os"

	"github.com/meshmatch/meshmatch/bench/gate"
	"github.com/meshmatch/meshmatch/core/app/internal/benchworld"
)

func main() { benchworld.Main(nil, nil, gate.LineOn(os.Stderr).Step) }
