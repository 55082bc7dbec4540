package source

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/app/internal/kept"
	"github.com/meshmatch/meshmatch/core/resource"
)

// StoreKeeper keeps the last state of a store in one file (SPEC 14.3). So a server can start
// without the store, and the last good versions of objects outlive a restart.
//
// The file (package kept) is a tar archive. The first entry is the revision and when it was
// confirmed; each other one is an object in effect.
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

// rememberSetBack remembers over a restart whether the store was set back. Without
// the directory, which is reported elsewhere, it is remembered until the process ends.
func (k *StoreKeeper) rememberSetBack(setBack bool) {
	switch {
	case k == nil:
	case setBack:
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
// [kept.ErrDamaged] with the path.
func (k *StoreKeeper) load() (*keptState, error) {
	state := &keptState{}
	err := eachEntry(k.path, func(header *tar.Header, text []byte) error {
		record, isObject := header.PAXRecords[objectRecord]
		if !isObject {
			number, err := strconv.ParseInt(string(text), 10, 64)
			if err != nil {
				return kept.ErrDamaged
			}
			state.revision, state.at = Revision(number), header.ModTime
			return nil
		}
		var o keptObject
		if err := json.Unmarshal([]byte(record), &o); err != nil {
			return fmt.Errorf("%w: %w", kept.ErrDamaged, err)
		}
		if o.Bytes != nil {
			o.Key = string(o.Bytes)
		}
		state.objects = append(state.objects, Object{Key: o.Key, At: header.Name, Data: text, ID: o.ID, AnyMesh: o.AnyMesh, Whole: o.Whole, Flaw: o.Flaw})
		return nil
	})
	if err == nil && state.revision == 0 {
		err = fmt.Errorf("%s: %w", k.path, kept.ErrDamaged)
	}
	return state, err
}

// save replaces the file.
func (k *StoreKeeper) save(state *keptState) error {
	file, err := kept.Create(k.path)
	if err != nil {
		return err
	}
	if err := state.write(file); err != nil {
		file.Discard()
		return err
	}
	return file.Keep()
}

func (s *keptState) write(file io.Writer) error {
	archive := tar.NewWriter(file)
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
		identity := keptObject{Key: plain(o.Key), ID: o.ID, AnyMesh: o.AnyMesh, Whole: o.Whole, Flaw: o.Flaw}
		if identity.Key != o.Key {
			identity.Bytes = []byte(o.Key)
		}
		record, err := json.Marshal(identity)
		if err != nil {
			return err
		}
		if err := entry(plain(o.At), o.Data, map[string]string{objectRecord: string(record)}); err != nil {
			return err
		}
	}
	return archive.Close()
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
