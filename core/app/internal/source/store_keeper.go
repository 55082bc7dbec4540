package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/resource"
)

// StoreKeeper keeps the last state of a store in one file, so that a server can start
// without the store, and keeps the last good versions of objects over a restart (SPEC 14.3).
//
// The file is a tar archive and a line with its checksum, like the file of a [Keeper]. The first
// entry is the revision and when it was confirmed; each other one is an object in effect. It
// is only ever replaced as a whole.
type StoreKeeper struct{ path string }

// NewStoreKeeper returns a keeper for the store of that name. It has its file in a
// directory, which is created when something is kept.
func NewStoreKeeper(dir, store string) *StoreKeeper {
	sum := sha256.Sum256([]byte(store))
	return &StoreKeeper{filepath.Join(dir, "last-state-"+hex.EncodeToString(sum[:6])+".tar")}
}

// Path returns the path of the file.
func (k *StoreKeeper) Path() string { return k.path }

// isSetBack reports whether the store was set back after the state was kept. Nil keeps nothing.
func (k *StoreKeeper) isSetBack() bool {
	if k == nil {
		return false
	}
	_, err := os.Lstat(k.path + setBackSuffix)
	return err == nil
}

// rememberSetBack remembers over a restart that the store was set back, or forgets it. Without
// the directory, which is reported elsewhere, it is remembered until the process ends.
func (k *StoreKeeper) rememberSetBack(is bool) {
	switch {
	case k == nil:
	case is:
		// What is in its place remembers it too. It may be a FIFO, which waits for a reader.
		if file, err := os.OpenFile(k.path+setBackSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = file.Close()
		}
	default:
		_ = os.Remove(k.path + setBackSuffix)
	}
}

const setBackSuffix = ".set-back"

// keptState is what a file contains.
type keptState struct {
	revision Revision
	at       time.Time // when it was confirmed
	objects  []Object
}

// objectRecord is the name of the PAX record with the identity of an object.
const objectRecord = "MESHMATCH.object"

// keptObject is the identity of an object in an archive.
type keptObject struct {
	Key     string      `json:"key"`
	Bytes   []byte      `json:"bytes,omitempty"` // of a key that no text can have
	ID      resource.ID `json:"id"`
	AnyMesh bool        `json:"anyMesh,omitempty"`
	Whole   bool        `json:"whole,omitempty"`
	Flaw    string      `json:"flaw,omitempty"` // of a permission that denies
}

// load returns the state that is kept. The error is [fs.ErrNotExist] if there is none, or
// [ErrDamaged] with the path.
func (k *StoreKeeper) load() (*keptState, error) {
	data, err := readState(k.path)
	if err != nil {
		return nil, err
	}
	state, err := unpackState(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.path, err)
	}
	return state, nil
}

func unpackState(data []byte) (*keptState, error) {
	content, err := verified(data)
	if err != nil {
		return nil, err
	}
	state := &keptState{}
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if header.Size > int64(len(content)) {
			return nil, ErrDamaged
		}
		text := make([]byte, header.Size)
		if _, err := io.ReadFull(archive, text); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		record, isObject := header.PAXRecords[objectRecord]
		if !isObject {
			number, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return nil, ErrDamaged
			}
			state.revision, state.at = Revision(number), header.ModTime
			continue
		}
		var kept keptObject
		if err := json.Unmarshal([]byte(record), &kept); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if kept.Bytes != nil {
			kept.Key = string(kept.Bytes)
		}
		state.objects = append(state.objects, Object{Key: kept.Key, At: header.Name, Data: text, ID: kept.ID, AnyMesh: kept.AnyMesh, Whole: kept.Whole, Flaw: kept.Flaw})
	}
	if state.revision == 0 {
		return nil, ErrDamaged
	}
	return state, nil
}

// save replaces the file.
func (k *StoreKeeper) save(state *keptState) error {
	dir := filepath.Dir(k.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, filepath.Base(k.path)+"-*.tmp")
	if err != nil {
		return err
	}
	err = errors.Join(state.write(file), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), k.path)
	}
	if err != nil {
		os.Remove(file.Name())
	}
	return err
}

// removeAbandoned removes the temporary files of servers that were killed.
func (k *StoreKeeper) removeAbandoned() {
	paths, _ := filepath.Glob(k.path + "-*.tmp")
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > abandoned {
			os.Remove(path)
		}
	}
}

func (s *keptState) write(file io.Writer) error {
	h := sha256.New()
	buffer := bufio.NewWriterSize(io.MultiWriter(file, h), 64<<10)
	archive := tar.NewWriter(buffer)
	entry := func(name string, data []byte, records map[string]string) error {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: s.at, Format: tar.FormatPAX, PAXRecords: records})
		if err == nil {
			_, err = archive.Write(data)
		}
		return err
	}
	if err := entry("revision", []byte(strconv.FormatInt(int64(s.revision), 10)), nil); err != nil {
		return err
	}
	slices.SortFunc(s.objects, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	for i := range s.objects {
		o := &s.objects[i]
		kept := keptObject{Key: o.Key, ID: o.ID, AnyMesh: o.AnyMesh, Whole: o.Whole, Flaw: o.Flaw}
		if kept.Key = plain(o.Key); kept.Key != o.Key {
			kept.Bytes = []byte(o.Key)
		}
		record, err := json.Marshal(kept)
		if err != nil {
			return err
		}
		if err := entry(plain(o.At), o.Data, map[string]string{objectRecord: string(record)}); err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), buffer.Flush()); err != nil {
		return err
	}
	_, err := io.WriteString(file, checksumLine(h))
	return err
}

// plain returns a text that an archive can have: a key may have any bytes.
func plain(text string) string {
	if utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

// saver saves states, one after the other, and at most a twentieth of the time.
type saver struct {
	keeper  *StoreKeeper
	dirty   bool      // the state differs from what was saved
	due     time.Time // of the next save
	running chan saveResult
}

type saveResult struct {
	took time.Duration
	err  error
}

// begin saves a state in a goroutine, if the previous one was saved.
func (s *saver) begin(state *keptState) {
	s.dirty = false
	running := make(chan saveResult, 1)
	s.running = running
	go func() {
		begin := time.Now()
		err := s.keeper.save(state)
		running <- saveResult{time.Since(begin), err}
	}()
}

// end handles the end of a save.
func (s *saver) end(r saveResult) {
	s.running = nil
	s.due = time.Now().Add(20 * r.took)
	if r.err != nil {
		s.dirty = true
		s.due = time.Now().Add(max(time.Second, 20*r.took))
	}
}
