package identity

import (
	"github.com/meshmatch/meshmatch/core/resource"
)

// Files are the paths of an identity of provider Extension.
type Files struct{ Certificate, Key, TrustBundle string }

// FilesOf returns the files of a dataplane's identity, whose provider must be
// Extension. It returns an error if the dataplane has no value for a part of a
// path.
func FilesOf(d *resource.Dataplane, id *Identity) (files Files, err error) {
	config := id.Source.Spec.Provider.Extension.Config
	if files.Certificate, err = Expand(config.Certificate, d); err != nil {
		return files, err
	}
	if files.Key, err = Expand(config.PrivateKey, d); err != nil {
		return files, err
	}
	files.TrustBundle, err = Expand(config.TrustBundle, d)
	return files, err
}
