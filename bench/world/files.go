package world

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// resourcesPerFile keeps each file below the loader's limit.
const resourcesPerFile = 10_000

// loadFiles writes the resources to JSON files, and replaces them by those that the
// loader reads from the files. It sets the fields of the report about files.
func (w *world) loadFiles(ctx context.Context, r *Report) (err error) {
	dir, err := os.MkdirTemp("", "meshmatch-world-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if r.FileBytes, err = writeFiles(dir, w.set); err != nil {
		return err
	}
	objects := w.set.Objects // their status is in no file that they print
	w.set = nil
	before := heap()
	loader := resource.Loader{Kinds: w.kinds, MaxBytes: int64(r.FileBytes)}
	start := time.Now()
	set, err := loader.Load(ctx, dir)
	if err != nil {
		return err
	}
	r.Load = time.Since(start)
	w.set = set
	w.set.Objects = objects
	r.Loaded = (heap() - before) / float64(w.Dataplanes)
	return nil
}

// writeFiles writes a set to files in dir and returns the sum of their sizes.
func writeFiles(dir string, set *resource.Set) (bytes int, err error) {
	var parts []resource.Set
	for chunk := range slices.Chunk(set.Dataplanes, resourcesPerFile) {
		parts = append(parts, resource.Set{Dataplanes: chunk})
	}
	for chunk := range slices.Chunk(set.Policies, resourcesPerFile) {
		parts = append(parts, resource.Set{Policies: chunk})
	}
	for i := range parts {
		data, err := shape.JSON(&parts[i])
		if err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.json", i)), data, 0o600); err != nil {
			return 0, err
		}
		bytes += len(data)
	}
	return bytes, nil
}
