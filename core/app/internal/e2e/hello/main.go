package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/credentials/xds"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	_ "google.golang.org/grpc/xds" // resolves xds:///
)

func main() {
	credentials, err := xds.NewClientCredentials(xds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		log.Fatal(err)
	}
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(credentials))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := healthv1.NewHealthClient(connection).Check(context.Background(), &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Status)
}
