package replay

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

const (
	// maxLine is the maximum length of a line. The headers of a request to Envoy have at
	// most 60 KiB, and JSON needs at most six bytes for each byte.
	maxLine = 1 << 20
	// batchSize is the size of a batch; its last line may exceed it.
	batchSize = 256 << 10
)

// Stdin is the name of standard input in a list of files.
const Stdin = "-"

// batch contains lines of a file, each with its line end.
type batch struct {
	file    int // index in the list of files
	first   int64
	text    []byte
	tooLong []int64 // the numbers of lines that are too long; they are empty in text
}

// Progress counts the parts of the logs that were read. It is safe for
// concurrent use.
type Progress struct {
	Lines, Bytes atomic.Int64 // bytes after decompression
}

// reader reads logs.
type reader struct {
	files    []string
	stdin    io.Reader
	progress *Progress
	batches  sync.Pool
}

// read sends the lines of all files.
func (r *reader) read(ctx context.Context, to chan<- *batch) error {
	for i, name := range r.files {
		if err := r.readFile(ctx, i, name, to); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) readFile(ctx context.Context, file int, name string, to chan<- *batch) error {
	in := r.stdin
	if name != Stdin {
		opened, err := os.Open(name)
		if err != nil {
			return err
		}
		defer opened.Close()
		in = opened
	}
	lines := bufio.NewReaderSize(in, maxLine+1)
	if magic, _ := lines.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(lines)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		lines = bufio.NewReaderSize(unzipped, maxLine+1)
	}
	for number := int64(1); ; {
		b, err := r.batch(lines, file, number)
		count := int64(bytes.Count(b.text, []byte{'\n'}))
		number += count
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
		if count > 0 {
			r.progress.Lines.Add(count)
			r.progress.Bytes.Add(int64(len(b.text)))
			select {
			case to <- b:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return nil
		}
	}
}

// batch reads the next lines. The error is io.EOF at the end of the file.
func (r *reader) batch(lines *bufio.Reader, file int, first int64) (*batch, error) {
	b, _ := r.batches.Get().(*batch)
	if b == nil {
		b = &batch{}
	}
	b.file, b.first, b.text, b.tooLong = file, first, b.text[:0], b.tooLong[:0]
	for number := first; len(b.text) < batchSize; number++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			b.tooLong = append(b.tooLong, number)
			for errors.Is(err, bufio.ErrBufferFull) {
				line, err = lines.ReadSlice('\n')
			}
			line = line[:0]
			if err == nil || errors.Is(err, io.EOF) {
				b.text = append(b.text, '\n')
			}
		}
		b.text = append(b.text, line...)
		if errors.Is(err, io.EOF) && len(line) > 0 {
			b.text = append(b.text, '\n')
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}
