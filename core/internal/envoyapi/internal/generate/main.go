package main

import (
	"log"
	"os"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi/internal/descriptors"
)

func main() {
	set, err := descriptors.Set()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], set, 0o644); err != nil {
		log.Fatal(err)
	}
	additions, err := descriptors.Additions(os.Args[3:])
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[2], additions, 0o644); err != nil {
		log.Fatal(err)
	}
}
