package main

import (
	"fmt"
	"log"
	"os"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi/internal/descriptors"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: news VERSION VERSION, such as v1.40.0 latest")
	}
	lines, err := descriptors.News(os.Args[1], os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	if len(lines) == 0 {
		fmt.Printf("%s has nothing that %s does not have\n", os.Args[2], os.Args[1])
	}
	for _, line := range lines {
		fmt.Println(line)
	}
}
