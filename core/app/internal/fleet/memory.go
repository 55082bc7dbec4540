package fleet

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

const gib = 1 << 30

// What a fleet takes at most: of the process, and of each stream with its clients, at the source and
// at a relay. It is more than what was measured.
const (
	baseBytes   = 300 << 20
	streamBytes = 170 << 10
)

// CheckMemory returns an error if a fleet may need more memory than the limit, in bytes; 0: there is
// none.
func CheckMemory(streams int, limit float64) error {
	if need := float64(baseBytes + streams*streamBytes); limit > 0 && need > limit {
		return fmt.Errorf("%d streams may need %.1f GiB, and the limit is %.1f GiB: use at most %d streams, or a higher limit",
			streams, need/gib, limit/gib, max(0, int(limit-baseBytes)/streamBytes))
	}
	return nil
}

// AvailableMemory returns the memory that can be used now, in bytes, on Linux, and 0 elsewhere.
func AvailableMemory() float64 { return memoryOf("/proc/meminfo", "MemAvailable:") }

// memoryOf returns a line of a file of Linux.
func memoryOf(file, line string) float64 {
	text, _ := os.ReadFile(file)
	_, after, _ := strings.Cut(string(text), line)
	var kib float64
	_, _ = fmt.Sscan(after, &kib)
	return kib * 1024
}

// guardMemory makes the collection of garbage keep the memory below a limit, in bytes. If it
// cannot, the context that is returned ends, with the reason. Stop is called at the end.
func guardMemory(ctx context.Context, limit float64) (_ context.Context, stop func()) {
	if limit <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if before := debug.SetMemoryLimit(-1); float64(before) > limit*0.9 {
		debug.SetMemoryLimit(int64(limit * 0.9))
		stop = func() { debug.SetMemoryLimit(before); cancel(nil) }
	} else {
		stop = func() { cancel(nil) }
	}
	go func() {
		every := time.NewTicker(time.Second)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if now := memoryOf("/proc/self/status", "VmRSS:"); now > limit {
				cancel(fmt.Errorf("stopped: the process has %.1f GiB, and the limit is %.1f GiB: use fewer streams, or a higher limit", now/gib, limit/gib))
			}
		}
	}()
	return ctx, stop
}
