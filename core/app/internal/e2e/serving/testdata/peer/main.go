// Peer is a gRPC client or a gRPC server of the tests, for a release of grpc-go that the modules
// of this repository do not require: make grpc-versions builds it in a module of its own. It
// reads its bootstrap from the file that GRPC_XDS_BOOTSTRAP names.
//
//	peer client TARGET         as grpc_client.py
//	peer server ADDRESS NAME   as grpc_server.py
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
)

// patience is how long a call may take.
const patience = 20 * time.Second

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "client":
		err = runClient(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "server":
		err = runServer(os.Args[2], os.Args[3])
	default:
		err = fmt.Errorf("usage: peer client TARGET, or peer server ADDRESS NAME")
	}
	if err != nil {
		log.Fatal(err)
	}
}

func runClient(target string) error {
	secured, err := xdscredentials.NewClientCredentials(xdscredentials.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(secured))
	if err != nil {
		return err
	}
	defer connection.Close()
	client := healthv1.NewHealthClient(connection)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(call(client, lines.Text()))
	}
	return nil
}

// call returns the header x-app of an answer, or its status.
func call(client healthv1.HealthClient, service string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var header metadata.MD
	if _, err := client.Check(ctx, &healthv1.HealthCheckRequest{Service: service}, grpc.Header(&header)); err != nil {
		s := status.Convert(err)
		return fmt.Sprintf("! %s %s", nameOf(s.Code()), strings.ReplaceAll(s.Message(), "\n", " "))
	}
	return strings.Join(header.Get("x-app"), ",")
}

// nameOf returns the name of a code in the specification, such as PERMISSION_DENIED.
func nameOf(code codes.Code) string {
	if code == codes.Canceled {
		return "CANCELLED"
	}
	var b strings.Builder
	for i, r := range code.String() {
		if i > 0 && r >= 'A' && r <= 'Z' && code != codes.OK {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

func runServer(address, name string) error {
	secured, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	named := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if err := grpc.SetHeader(ctx, metadata.Pairs("x-app", name)); err != nil {
			return nil, err
		}
		return handle(ctx, request)
	}
	server, err := xds.NewGRPCServer(grpc.Creds(secured), grpc.ChainUnaryInterceptor(named), xds.ServingModeCallback(func(_ net.Addr, args xds.ServingModeChangeArgs) {
		if args.Mode == connectivity.ServingModeServing {
			fmt.Println("started")
		}
	}))
	if err != nil {
		return err
	}
	healthv1.RegisterHealthServer(server, health.NewServer())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		server.Stop()
	}()
	return server.Serve(listener)
}
