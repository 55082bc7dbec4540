package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errDraining = status.Error(codes.Unavailable, "the server is shutting down; connect again")

// Drain ends all streams with UNAVAILABLE and a message, and refuses new ones. It
// returns at once; grpc.Server.GracefulStop then waits until the statuses are written.
// Streams whose clients do not read end with grpc.Server.Stop only.
func (s *Server) Drain() {
	if s.draining.Swap(true) {
		return
	}
	for _, c := range s.streams.cursors() {
		for st := c.next(); st != nil; st = c.next() {
			st.end(errDraining)
		}
	}
}

// An ender ends a call with a status.
//
// The handler of a stream waits in RecvMsg, and gRPC has no public method that makes it
// return with a status: if the context of the call ends, RecvMsg itself writes CANCELLED.
// The usual way is a second goroutine for each stream, which receives; its stack would be
// more than all else that a stream needs. The transport stream in the context of a call has
// this method, which sends the status and ends the context. TestGRPCHasWriteStatus fails if
// a version of gRPC lacks it.
type ender interface {
	WriteStatus(*status.Status) error
}

// enderOf returns the ender of a call, nil if it does not come from gRPC.
func enderOf(ctx context.Context) ender {
	e, _ := grpc.ServerTransportStreamFromContext(ctx).(ender)
	return e
}

// end ends the call with the status of an error, or with OK. Recv and SendMsg return
// then.
func (s *stream) end(err error) {
	if s.ender != nil {
		_ = s.ender.WriteStatus(status.Convert(err)) // fails if the call has ended
	}
}
