package resource

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/strict"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Loader reads resources from files.
type Loader struct {
	Kinds  *Kinds
	Limits strict.Limits // zero: [strict.DefaultLimits]
	Stdin  io.Reader     // nil: "-" is an error
}

// Input is one file that was read.
type Input struct {
	Name string // for positions
	Data []byte
}

// Load reads files, directory trees (every .yaml, .yml and .json below them,
// hidden ones and directories behind links left out) and "-". Every error of
// every file is in the returned [strict.Errors]; with any error there are no
// resources (SPEC 1.2).
func (l *Loader) Load(paths ...string) (*Set, error) {
	var sink strict.Sink
	var inputs []Input
	given := map[string]string{}
	for _, path := range paths {
		for _, input := range l.read(path, &sink) {
			name := filepath.Clean(input.Name)
			if first, twice := given[name]; twice {
				sink.Error(strict.Diagnostic{Pos: strict.Position{File: input.Name}, What: "is given twice", Hint: fmt.Sprintf("%s has it already", first)})
				continue
			}
			given[name] = path
			inputs = append(inputs, input)
		}
	}
	return l.decode(inputs, &sink)
}

// Decode is [Loader.Load] for content that is in memory already.
func (l *Loader) Decode(inputs ...Input) (*Set, error) {
	return l.decode(inputs, &strict.Sink{})
}

func (l *Loader) read(path string, sink *strict.Sink) []Input {
	fail := func(name string, err error, hint string) {
		sink.Error(strict.Diagnostic{Pos: strict.Position{File: name}, What: readError(err), Hint: hint})
	}
	if path == Stdin {
		if l.Stdin == nil {
			fail("<stdin>", fmt.Errorf("there is no standard input"), "")
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(l.Stdin, int64(l.limits().Bytes)+1))
		if err != nil {
			fail("<stdin>", err, "")
		}
		return []Input{{Name: "<stdin>", Data: data}}
	}
	var inputs []Input
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path += string(filepath.Separator) // follows a link to a directory
	}
	_ = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			fail(name, err, "give a file, a directory or -")
			return nil // go on with what else there is
		case name != path && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir(), name != path && !isResourceFile(name):
			return nil
		}
		data, err := l.readFile(name)
		if err != nil {
			fail(name, err, "")
			return nil
		}
		inputs = append(inputs, Input{Name: filepath.ToSlash(name), Data: data})
		return nil
	})
	return inputs
}

// readFile reads one byte more than the limit at most; the parser then
// reports the excess.
func (l *Loader) readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, int64(l.limits().Bytes)+1))
}

func readError(err error) string {
	if pathErr, ok := err.(*fs.PathError); ok {
		return "can not be read: " + pathErr.Err.Error()
	}
	return "can not be read: " + err.Error()
}

func isResourceFile(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func (l *Loader) limits() strict.Limits {
	if l.Limits == (strict.Limits{}) {
		return strict.DefaultLimits
	}
	return l.Limits
}

// part is a piece of an input that is decoded by itself.
type part struct {
	name  string
	chunk strict.Chunk
	sink  strict.Sink
	out   Set
}

// smallest input that is worth cutting into pieces
const parallelBytes = 256 << 10

// decode parses and decodes the inputs in parallel; the result does not
// depend on how the work was cut, as parts are joined in input order.
func (l *Loader) decode(inputs []Input, sink *strict.Sink) (*Set, error) {
	var parts []*part
	for _, in := range inputs {
		if limit := l.limits().Bytes; len(in.Data) > limit {
			sink.Error(strict.Diagnostic{Pos: strict.Position{File: in.Name}, What: fmt.Sprintf("the file is larger than the limit of %d bytes", limit), Hint: "split it"})
			continue
		}
		pieces := 1
		if len(in.Data) >= parallelBytes {
			pieces = 4 * runtime.GOMAXPROCS(0)
		}
		for _, chunk := range strict.Chunks(in.Data, pieces) {
			parts = append(parts, &part{name: in.Name, chunk: chunk})
		}
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, p := range parts {
		group.Go(func() error {
			d := decoder{kinds: l.Kinds}
			for doc := range strict.Documents(p.name, p.chunk, l.limits(), &p.sink) {
				d.document(doc.Root())
			}
			p.out = d.out
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors; complaints are in the sinks
	set := &Set{}
	for _, p := range parts {
		sink.Join(&p.sink)
		set.join(p.out)
	}
	set.sortUnique(sink)
	if err := sink.Err(); err != nil {
		return nil, err
	}
	return set, nil
}
