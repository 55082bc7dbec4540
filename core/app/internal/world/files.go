package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/resource"
)

// resourcesPerFile keeps each file below the loader's limit.
const resourcesPerFile = 10_000

// loadFiles writes the resources to JSON files, and replaces them by the resources
// that the loader reads from the files. It sets the fields of the report about
// files.
func (w *world) loadFiles(ctx context.Context, r *Report) (err error) {
	dir, err := os.MkdirTemp("", "meshmatch-world-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if r.FileBytes, err = writeFiles(dir, w.set); err != nil {
		return err
	}
	w.set = nil
	before := usage.Heap()
	loader := resource.Loader{Kinds: w.kinds, MaxBytes: int64(r.FileBytes)}
	start := time.Now()
	set, err := loader.Load(ctx, dir)
	if err != nil {
		return err
	}
	r.Load = time.Since(start)
	w.set = set
	r.Loaded = (usage.Heap() - before) / float64(w.Dataplanes)
	return nil
}

// writeFiles writes a set to files in dir and returns the sum of their sizes.
func writeFiles(dir string, set *resource.Set) (size int, err error) {
	var parts []resource.Set
	for chunk := range slices.Chunk(set.Dataplanes, resourcesPerFile) {
		parts = append(parts, resource.Set{Dataplanes: chunk})
	}
	for chunk := range slices.Chunk(set.Policies, resourcesPerFile) {
		parts = append(parts, resource.Set{Policies: chunk})
	}
	write := func(name string, data []byte, err error) error {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		size += len(data)
		return err
	}
	for i := range parts {
		data, err := shape.JSON(&parts[i])
		if err := write(fmt.Sprintf("%05d.json", i), data, err); err != nil {
			return 0, err
		}
	}
	data, err := destinationsJSON(set.Objects)
	err = write("destinations.json", data, err)
	return size, err
}

// destinationsJSON returns a file with objects, destinations with their status, which they
// do not print themselves.
func destinationsJSON(objects []resource.Object) ([]byte, error) {
	var file bytes.Buffer
	encoder := json.NewEncoder(&file)
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		document := map[string]any{}
		if err := json.Unmarshal(text, &document); err != nil {
			return nil, err
		}
		if d, is := o.(resource.Destination); is {
			vips := []any{}
			for _, vip := range d.State().VIPs {
				vips = append(vips, map[string]any{"ip": vip})
			}
			document["status"] = map[string]any{"vips": vips}
		}
		if err := encoder.Encode(document); err != nil {
			return nil, err
		}
	}
	return file.Bytes(), nil
}
