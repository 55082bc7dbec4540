package message

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
)

// set gives a new message the value of d, and returns it.
func set(m *durationpb.Duration, d time.Duration) *durationpb.Duration {
	m.Seconds, m.Nanos = int64(d/time.Second), int32(d%time.Second)
	return m
}
