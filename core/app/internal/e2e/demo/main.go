package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

func main() {
	envoy := flag.String("envoy", os.Getenv("ENVOY"), "the `FILE` of Envoy")
	mesh := flag.String("f", "testdata/demo", "the `DIRECTORY` of the mesh")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *envoy, *mesh); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
