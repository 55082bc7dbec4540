package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/meshmatch/meshmatch/core/app/internal/replay"
)

// showProgress shows on a terminal how much of the logs is read, each second, until the
// returned function is called. In a pipe it shows nothing.
func showProgress(w io.Writer, progress *replay.Progress) (end func()) {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return func() {}
	}
	ticker, ended := time.NewTicker(time.Second), make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprint(w, progressLine(progress))
			case <-ended:
				fmt.Fprint(w, "\r\x1b[K")
				return
			}
		}
	})
	return func() {
		close(ended)
		shown.Wait()
	}
}

// progressLine returns a line that replaces the one of the cursor.
func progressLine(progress *replay.Progress) string {
	return fmt.Sprintf("\r\x1b[Kread %d lines, %d MB", progress.Lines.Load(), progress.Bytes.Load()/1e6)
}
