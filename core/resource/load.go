package resource

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/regular"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Loader reads resources from files.
type Loader struct {
	Kinds *Kinds
	// Documents are the types of documents to read in addition to the resources
	// of a mesh.
	Documents []DocumentType
	Limits    strict.Limits // of each file; zero: [strict.DefaultLimits]
	MaxBytes  int64         // of all files together; zero: 1 GiB
	Stdin     io.Reader     // nil: "-" is an error
	// Load calls Read with the content of each file, in the order in which the files
	// are read. Read must neither change nor retain the data. It may be nil.
	Read func(Input)
	// KeepGoing leaves inputs with errors out of the set, and returns no error for
	// them; see [Set.LeftOut]. An answer about such a set is incomplete.
	KeepGoing bool
	// Claimed means that the inputs are objects with keys. The keys decide between
	// objects with one identity, so these are no error. It needs KeepGoing.
	Claimed bool
	// Strict makes errors of what is left out otherwise: stored documents that a control plane
	// does not load, files of a directory without a resource, and unread kinds of a known API
	// group. See [Set.LeftOut] and [Set.NoResources].
	Strict bool
	// Exclude are patterns of files and directories that a directory tree has and the load
	// leaves out, as in `--exclude` (SPEC 1.1). A malformed one matches nothing.
	Exclude []string
	// As is how documents are read; 0: it is not known yet. What depends on it is then in
	// [Set.Depending] until [Set.ReadAs] is called.
	As diag.Reading
	// KeepSources keeps the original documents; see [Set.Sources].
	KeepSources bool
	// Cache keeps decoded files, so that a later load decodes only the files
	// that changed; nil: every load decodes every file.
	Cache *Cache
}

// defaultMaxBytes is the default limit of a load, in bytes.
const defaultMaxBytes = 1 << 30

// Input is one file that was read.
type Input struct {
	Name   string // for positions
	Data   []byte
	Origin InputOrigin
	// Walked means that a directory was given and not the file: what is no resource there is
	// left out (SPEC 1.1).
	Walked bool
}

// Load reads files, directory trees and "-" (SPEC 1.1). From a directory tree
// it reads every .yaml, .yml and .json file, except hidden files and files in
// linked directories. Every error of every file is in the returned
// [diag.Errors]; with any error there are no resources (SPEC 1.2).
//
// Load reads only regular files, and follows a link in a directory tree only if
// it stays in the tree. At any time, the load has in memory only the content of
// the files that it decodes in parallel or, if they are small, next.
func (l *Loader) Load(ctx context.Context, paths ...string) (*Set, error) {
	return l.LoadWith(ctx, nil, paths...)
}

// LoadWith is [Loader.Load] of files and, after them, of content in memory.
func (l *Loader) LoadWith(ctx context.Context, inputs []Input, paths ...string) (*Set, error) {
	d := l.decoding(ctx)
	list := files{ctx: ctx, sink: &d.sink, given: map[string]string{}, exclude: &exclusions{patterns: l.Exclude, used: make([]bool, len(l.Exclude))}}
	defer list.close()
	for _, path := range paths {
		list.add(path)
	}
	for _, f := range list.list {
		if ctx.Err() != nil {
			break
		}
		data, err := l.read(&f)
		if errors.Is(err, regular.ErrTooLarge) {
			d.tooLarge(f.name)
			continue
		}
		if err != nil {
			list.errorf(diag.UnreadableFile, f.name, "", "%s", readError(err))
			continue
		}
		in := Input{Name: f.name, Data: data, Walked: f.root != nil && !l.Strict}
		if l.Read != nil {
			l.Read(in)
		}
		if !d.input(in) {
			break
		}
	}
	for _, in := range inputs {
		if ctx.Err() != nil || !d.input(in) {
			break
		}
	}
	set, err := d.set()
	if set != nil {
		set.Excluded = list.exclude.matched()
	}
	return set, err
}

// Decode is [Loader.Load] for content in memory.
func (l *Loader) Decode(ctx context.Context, inputs ...Input) (*Set, error) {
	return l.LoadWith(ctx, inputs)
}

func (l *Loader) read(f *file) ([]byte, error) {
	limit := int64(l.limits().Bytes)
	switch {
	case f.path != "":
		return regular.ReadFile(f.root, f.path, limit)
	case l.Stdin == nil:
		return nil, errors.New("there is no standard input")
	}
	return regular.ReadAll(l.Stdin, 0, limit)
}

func (l *Loader) limits() strict.Limits { return cmp.Or(l.Limits, strict.DefaultLimits) }

func (l *Loader) maxBytes() int64 { return cmp.Or(l.MaxBytes, defaultMaxBytes) }

// decoding is a load. It splits inputs into parts and decodes them in parallel.
// The parts are joined in the order of the input, so the result does not depend
// on how the input was split.
type decoding struct {
	ctx    context.Context // of the load
	loader *Loader
	sink   diag.Sink
	group  errgroup.Group
	parts  []*part
	bytes  int64 // so far
	// small is work of inputs that are too small for a goroutine each, and smallBytes the
	// size of these inputs. The latest of them may share a part.
	small      []func(*worker)
	smallBytes int
	shared     *sharedPart // nil: none
	// workers contains the idle workers. The total number of workers limits the
	// parts that are decoded at the same time.
	workers chan *worker
	// inputs are the inputs of this load, for the cache of the loader.
	inputs map[string]*decoded

	mu sync.Mutex
	// large are documents whose memory is worth using again, when all of them are decoded.
	large []*strict.Document
}

// worker contains the state that parts share if they are decoded in sequence.
type worker struct {
	reader strict.Reader
	shared *sharedLists
	prober Prober
	// Room for documents. Each one is only used until the resource has its values.
	universalDoc  universalDoc
	kubernetesDoc kubernetesDoc
	policyDoc     policyDoc
	dataplaneDocs [2]dataplaneDoc // at the top level and in spec
	networking    networkingDoc
	outboundDocs  []outboundDoc
}

// part is a piece of an input that is decoded separately.
type part struct {
	sink   diag.Sink
	out    Set
	unused unusedList // fields of dataplanes that have no effect
	inputFacts
	after []*part // the parts that were split off, and the following ones
}

// inputFacts are facts about the input of a part.
type inputFacts struct {
	// annotated reports that documents of the input may have an ignoreAnnotation.
	annotated bool
	origin    InputOrigin
	walked    bool // see Input
	// inRESTList reports that the documents are items of a list that a control plane's API
	// returned.
	inRESTList bool
}

// leavesOutStored reports whether documents of a control plane that do not load are left out.
func (l *Loader) leavesOutStored() bool {
	return !l.Strict && (l.As == 0 || l.As&diag.AsKuma != 0)
}

const (
	// parallelBytes is the minimum size of an input that is split into pieces.
	parallelBytes = 256 << 10
	// togetherBytes is the maximum size of inputs that one goroutine decodes in sequence. A
	// goroutine for each object of a store took 15 % of the time of a list, most of it for
	// the growth of its stack.
	togetherBytes = 64 << 10
)

func (l *Loader) decoding(ctx context.Context) *decoding {
	parallel := runtime.GOMAXPROCS(0)
	d := &decoding{ctx: ctx, loader: l, workers: make(chan *worker, parallel), inputs: map[string]*decoded{}}
	d.group.SetLimit(parallel)
	strings := &strict.Strings{}
	for range parallel {
		d.workers <- &worker{reader: strict.Reader{Limits: l.limits(), Strings: strings}, shared: newSharedLists()}
	}
	return d
}

// input starts to decode an input, once fewer parts than processors are being
// decoded. It returns false if the load should read no more inputs.
func (d *decoding) input(in Input) bool {
	limits := d.loader.limits()
	if len(in.Data) > limits.Bytes {
		d.tooLarge(in.Name)
		return true
	}
	if d.bytes += int64(len(in.Data)); d.bytes > d.loader.maxBytes() {
		d.errorf(diag.InputTooLarge, in.Name, "give fewer files", "the files up to this one are larger than the limit of %d bytes", d.loader.maxBytes())
		return false
	}
	if d.loader.Cache == nil {
		d.parts = append(d.parts, d.decode(in)...)
		return true
	}
	known := d.loader.Cache.lookup(in)
	if known.parts == nil {
		known.parts = d.decode(in)
	}
	d.parts = append(d.parts, known.parts...)
	d.inputs[in.Name] = known
	return true
}

// decode starts to decode an input, and returns its parts.
func (d *decoding) decode(in Input) []*part {
	var parts []*part
	pieces := 1
	if len(in.Data) >= parallelBytes {
		pieces = 4 * runtime.GOMAXPROCS(0)
	}
	chunks := strict.Chunks(in.Data, pieces)
	facts := inputFacts{annotated: bytes.Contains(in.Data, []byte(ignoreAnnotation)), origin: in.Origin, walked: in.Walked}
	if diag.HasIgnoreComments(in.Data) {
		comments := &part{}
		comments.out.Ignores = diag.IgnoreComments(in.Name, in.Data, &comments.sink)
		parts = append(parts, comments)
	} else if pieces == 1 && d.loader.Cache == nil {
		return d.together(in.Name, chunks[0], len(in.Data), facts)
	}
	d.shared = nil // the next inputs have parts of their own
	for _, chunk := range chunks {
		p := &part{inputFacts: facts}
		parts = append(parts, p)
		d.start(len(in.Data)/len(chunks), d.work(p, func(decoder *decoder) {
			documents := decoder.reader.Documents(in.Name, chunk, &p.sink)
			if len(chunks) < pieces {
				decoder.stream(documents)
				return
			}
			decoder.documents(documents)
		}))
	}
	return parts
}

// sharedPart is the part of several small inputs, which are decoded in sequence. A list in
// one of them may divide it: the next input continues with the last part.
type sharedPart struct{ last *part }

// together starts to decode a small input into the part that small inputs before it have, and
// returns the part if it is new. A part for each object of a store took an eighth of the
// memory that decoding allocated.
func (d *decoding) together(name string, chunk strict.Chunk, bytes int, facts inputFacts) (added []*part) {
	if d.shared == nil {
		d.shared = &sharedPart{&part{}}
		added = []*part{d.shared.last}
	}
	shared := d.shared
	d.start(bytes, func(w *worker) {
		decoder := &decoder{load: d, worker: w, part: shared.last}
		decoder.inputFacts = facts
		decoder.documents(decoder.reader.Documents(name, chunk, &decoder.sink))
		shared.last = decoder.part
	})
	return added
}

// work returns a function that decodes a part.
func (d *decoding) work(p *part, decode func(*decoder)) func(*worker) {
	return func(w *worker) { decode(&decoder{load: d, worker: w, part: p}) }
}

// start starts work on an input, or on a piece of it, of some bytes. Work on small ones is
// collected, and started together.
func (d *decoding) start(bytes int, work func(*worker)) {
	d.small = append(d.small, work)
	if d.smallBytes += bytes; d.smallBytes >= togetherBytes {
		d.flush()
	}
}

// flush starts the work that was collected, once fewer goroutines than processors decode.
func (d *decoding) flush() {
	if len(d.small) == 0 {
		return
	}
	all := d.small
	d.small, d.smallBytes, d.shared = nil, 0, nil
	d.group.Go(d.sequence(all...))
}

// sequence returns a function that does work in sequence, when a worker is idle.
func (d *decoding) sequence(all ...func(*worker)) func() error {
	return func() error {
		worker := <-d.workers
		defer func() { d.workers <- worker }()
		for _, work := range all {
			work(worker)
		}
		return nil
	}
}

func (d *decoding) tooLarge(name string) {
	d.errorf(diag.InputTooLarge, name, "split it", "the file is larger than the limit of %d bytes", d.loader.limits().Bytes)
}

func (d *decoding) errorf(code diag.Code, name, hint, format string, args ...any) {
	d.sink.Error(diag.Diagnostic{Code: code, Pos: diag.Position{File: name}, What: fmt.Sprintf(format, args...), Hint: hint})
}

// set waits for the parts and joins them.
func (d *decoding) set() (*Set, error) {
	d.flush()
	_ = d.group.Wait() // the functions return no errors; diagnostics are in the sinks
	if d.ctx.Err() != nil {
		return nil, context.Cause(d.ctx) // and the cache keeps no incomplete part
	}
	if d.loader.Cache != nil {
		d.loader.Cache.files = d.inputs
	}
	set := &Set{}
	var unused unusedList
	for _, p := range d.parts {
		d.join(set, &unused, p)
	}
	if len(set.Documents) == 0 { // a document of a registered type may contain values
		for _, doc := range d.large {
			doc.Release()
		}
	}
	if d.loader.KeepGoing {
		if err := set.keepGoing(&d.sink, d.loader.Claimed); err != nil {
			return nil, err
		}
	} else {
		set.sortUnique(&d.sink)
		if d.sink.Failed() {
			set.failLeftOut(&d.sink) // all errors are reported together
		} else {
			_ = set.allLeftOut(&d.sink) // which is also the error of the sink
		}
	}
	if err := d.sink.Err(); err != nil {
		return nil, err
	}
	unused.warn(&d.sink)
	set.Warnings, set.Depending = d.sink.Warnings(), diag.SortedDepending(d.sink.Depending())
	if d.loader.As != 0 {
		return set.ReadAs(d.loader.As, d.loader.KeepGoing)
	}
	return set, nil
}

// releaseLater releases a large document when all workers are idle: until then, several of
// them may decode its items. Of many documents only the first ones are released, because a
// load must not have all of its files in memory.
func (d *decoding) releaseLater(doc *strict.Document) {
	if !doc.IsLarge() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.large) < cap(d.workers) {
		d.large = append(d.large, doc)
	}
}

// join adds a part, and the parts after it, to the set.
func (d *decoding) join(set *Set, unused *unusedList, p *part) {
	d.sink.Join(&p.sink)
	set.join(&p.out)
	for _, f := range p.unused {
		unused.add(f)
	}
	for _, next := range p.after {
		d.join(set, unused, next)
	}
}
