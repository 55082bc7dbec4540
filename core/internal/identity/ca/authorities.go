package ca

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/regular"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/resource"
)

// ErrNotKept indicates that a generated authority will be lost at a restart,
// because there is no directory in which to save it.
var ErrNotKept = errors.New("there is no directory for the generated CA, so after a restart proxies do not trust the certificates that it has issued")

// Authorities returns the authorities of Bundled MeshIdentities. It is safe for
// concurrent use.
type Authorities struct {
	dir    string
	shared Shared // nil: authorities are not shared

	mu     sync.Mutex
	known  map[resource.ID]entry
	failed map[resource.ID]failure // of shared
}

// entry is the authority of a MeshIdentity and the PEM text from which it was
// parsed, which is empty for a generated one.
type entry struct {
	authority    *Authority
	certificates []byte
	key          []byte
}

// NewAuthorities returns authorities that are saved in a directory when they are
// generated. If the directory does not exist, it is made with mode 0700. If dir is
// empty, nothing is saved.
func NewAuthorities(dir string) *Authorities {
	return &Authorities{dir: dir, known: map[resource.ID]entry{}}
}

// AuthorityFor returns the authority of a MeshIdentity of type Bundled. It reads the files of
// the identity at each call, and returns the same pointer until their content changes.
// The error [ErrNotKept] is returned once; the authority is then valid. With any other
// error, AuthorityFor returns the previous authority of the identity, or nil.
func (a *Authorities) AuthorityFor(source *resource.MeshIdentity, now time.Time) (*Authority, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.known[source.ID]
	next, err := a.load(source, before, now)
	if next.authority == nil {
		return before.authority, fmt.Errorf("%s: %w", source.ID, err)
	}
	a.known[source.ID] = next
	if err != nil {
		err = fmt.Errorf("%s: %w", source.ID, err)
	}
	return next.authority, err
}

// load returns the authority of a MeshIdentity as it is now. Before is the previous one, which may be
// zero.
func (a *Authorities) load(source *resource.MeshIdentity, before entry, now time.Time) (entry, error) {
	bundled := source.Spec.Provider.Bundled
	switch {
	case bundled.CA != nil:
		return readReferred(bundled.CA, before)
	case before.authority != nil && before.key == nil:
		return before, nil
	case a.shared != nil:
		authority, err := a.fromShared(source, now)
		return entry{authority: authority}, err
	case a.dir == "":
		authority, err := Generate(source.Name, now)
		if err != nil {
			return entry{}, err
		}
		return entry{authority: authority}, ErrNotKept
	}
	authority, err := a.readOrGenerate(source, now)
	return entry{authority: authority}, err
}

// readReferred reads the authority to which a MeshIdentity refers.
func readReferred(source *spiffe.CertificateAuthority, before entry) (entry, error) {
	certificates, err := read(&source.Certificate)
	if err != nil {
		return entry{}, fmt.Errorf("ca.certificate: %w", err)
	}
	key, err := read(&source.PrivateKey)
	if err != nil {
		return entry{}, fmt.Errorf("ca.privateKey: %w", err)
	}
	if before.key != nil && bytes.Equal(before.certificates, certificates) && bytes.Equal(before.key, key) {
		return before, nil
	}
	authority, err := Parse(certificates, key)
	if err != nil {
		return entry{}, fmt.Errorf("ca: %w", err)
	}
	return entry{authority, certificates, key}, nil
}

// maxFile is the size of a file with certificates or a key.
const maxFile = 1 << 20

// read returns the content of a data source. The author of the MeshIdentity chooses the path
// of a file, and all certificates wait while it is read.
func read(s *spiffe.DataSource) ([]byte, error) {
	switch {
	case s.File != nil:
		return regular.ReadFile(nil, string(s.File.Path), maxFile)
	case s.EnvVar != nil:
		value, present := os.LookupEnv(s.EnvVar.Name)
		if !present {
			return nil, fmt.Errorf("the environment variable %q is not set", s.EnvVar.Name)
		}
		return []byte(value), nil
	case s.InsecureInline != nil:
		return []byte(s.InsecureInline.Value), nil
	}
	return nil, errors.New("secrets of a platform cannot be read here; use a file")
}

// readOrGenerate reads a generated authority from the directory, or generates one and writes it
// there. If several processes do so at the same time, one writes, and all use its
// authority.
func (a *Authorities) readOrGenerate(source *resource.MeshIdentity, now time.Time) (*Authority, error) {
	path := filepath.Join(a.dir, fileName(source.ID))
	authority, err := readKept(path)
	if !errors.Is(err, os.ErrNotExist) {
		return authority, err
	}
	text, err := generateText(source, now)
	if err == nil {
		err = createFile(path, text)
	}
	if err != nil {
		return nil, err
	}
	return readKept(path)
}

// generateText returns the text of a new authority.
func generateText(source *resource.MeshIdentity, now time.Time) ([]byte, error) {
	authority, err := Generate(source.Name, now)
	if err != nil {
		return nil, err
	}
	certificates, key, err := authority.PEM()
	return append(bytes.Clone(key), certificates...), err
}

// fileName returns the name of the file of a MeshIdentity's authority.
func fileName(id resource.ID) string {
	parts := []string{"ca", id.Mesh, id.Namespace, id.Name}
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.PathEscape(part), "_", "%5F")
	}
	return strings.Join(parts, "_") + ".pem"
}

func readKept(path string) (*Authority, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has the mode %v, so others may have read the key; make a new one, or chmod 600", path, info.Mode())
	}
	text, err := regular.ReadFile(nil, path, maxFile)
	if err != nil {
		return nil, err
	}
	authority, err := Parse(text, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return authority, nil
}

// createFile writes a file of mode 0600, in a directory of mode 0700, unless it already exists; it
// never changes an existing file.
func createFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".ca-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Sync()
	}
	if errClose := temporary.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		return err
	}
	if err := os.Link(temporary.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}
