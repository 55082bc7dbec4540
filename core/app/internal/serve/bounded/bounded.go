package bounded

import (
	"context"
	"errors"
	"time"
)

// ErrBusy indicates that no slot became free in time.
var ErrBusy = errors.New("other questions are being answered; ask again later")

// Slots limits how many answers are computed at once: its capacity.
type Slots chan struct{}

// Limits are the times of an answer.
type Limits struct {
	Wait    time.Duration // for a slot
	Longest time.Duration // of the computation
	TooLong error         // what is returned after Longest
}

// Answer computes an answer in a slot. It returns [ErrBusy], l.TooLong, the cause of the
// context, or what compute returns. If compute panics in time, so does Answer.
func Answer[T any](ctx context.Context, s Slots, l Limits, compute func(context.Context) (T, error)) (T, error) {
	var none T
	waiting, stop := context.WithTimeout(ctx, l.Wait)
	defer stop()
	select {
	case s <- struct{}{}:
	case <-waiting.Done():
		return none, ErrBusy
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.Longest, l.TooLong)
	type answer struct {
		value  T
		err    error
		failed any // the reason of a panic
	}
	made := make(chan answer, 1)
	go func() {
		var m answer
		defer func() {
			m.failed = recover()
			<-s
			made <- m
			cancel()
		}()
		m.value, m.err = compute(ctx)
	}()
	select {
	case m := <-made:
		if m.failed != nil {
			panic(m.failed)
		}
		if m.err != nil && context.Cause(ctx) == l.TooLong {
			m.err = l.TooLong
		}
		return m.value, m.err
	case <-ctx.Done():
		select {
		case m := <-made: // it ended at the same moment
			if m.failed == nil {
				return m.value, m.err
			}
		default:
		}
		return none, context.Cause(ctx)
	}
}
