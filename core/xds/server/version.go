package server

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// variantVersion returns the version that a variant is sent with: the version of the resource
// and, if there are constraints, a hash of them. A client that resumes gives versions and no
// constraints; if it held the same content with other constraints, the variant is
// sent to it, so that a later removal names what it holds.
func variantVersion(v wire.Variant) string {
	if v.Constraints == "" {
		return v.Resource.Version
	}
	var sum [8]byte
	binary.BigEndian.PutUint64(sum[:], xxhash.Sum64String(v.Constraints))
	return v.Resource.Version + "-" + hex.EncodeToString(sum[:])
}

// variantVersionSize returns the length of the version.
func variantVersionSize(v wire.Variant) int {
	if v.Constraints == "" {
		return len(v.Resource.Version)
	}
	return len(v.Resource.Version) + 1 + 16
}

// versionOf returns the version of a set of resources: a hash of their names and
// versions, or the word empty. It is the version_info of state of the world, so
// it is the same on all replicas.
func versionOf(resources []*wire.Resource, variants []wire.Variant) string {
	if len(resources)+len(variants) == 0 {
		return "empty"
	}
	var h xxhash.Digest
	h.Reset()
	separator := []byte{0}
	write := func(texts ...string) {
		for _, text := range texts {
			_, _ = h.WriteString(text)
			_, _ = h.Write(separator)
		}
	}
	for _, r := range resources {
		write(r.Name, r.Version)
	}
	for _, v := range variants {
		write(v.Resource.Name, v.Constraints, v.Resource.Version)
	}
	var sum [8]byte
	return hex.EncodeToString(h.Sum(sum[:0]))
}
