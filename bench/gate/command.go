package gate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// grace is the time that an interrupted command may take to end.
const grace = 5 * time.Second

// run executes a command in dir and returns its standard output. When ctx ends,
// it interrupts the command, and kills it after a grace period. An error
// includes the last lines of the command's output.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		end := lastLines(stdout.String()+stderr.String(), 20)
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, end)
	}
	return stdout.Bytes(), nil
}

// lastLines returns the last n lines of text, indented to follow an error.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-n):]
	return "\t" + strings.Join(lines, "\n\t")
}
