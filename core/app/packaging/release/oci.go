package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
	"sigs.k8s.io/yaml"
)

// certificates returns the roots of Mozilla as PEM, of a pinned module. Those of this machine
// would make another image on another one. Roots with a constraint are left out, because a
// file of PEM cannot state it.
func certificates() ([]byte, error) {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			if err := pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

// image writes an OCI layout of the image for each platform of Linux: the program, the roots and
// a user without rights, no shell.
func (r *release) image(built []binary, roots []byte) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range built {
		if b.os != "linux" {
			continue
		}
		image, err := r.platformImage(b, roots)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{
			MediaType: types.OCIManifestSchema1, Platform: &v1.Platform{OS: b.os, Architecture: b.arch},
		}})
	}
	_, err := layout.Write(filepath.Join(r.out, "image"), index)
	return err
}

func (r *release) platformImage(b binary, roots []byte) (v1.Image, error) {
	content, err := tarred(map[string]file{
		"meshmatch":                         {b.content, 0o755},
		"etc/passwd":                        {[]byte("meshmatch:x:65532:65532:meshmatch:/:/sbin/nologin\n"), 0o644},
		"etc/ssl/certs/ca-certificates.crt": {roots, 0o644},
	}, r.commit)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	environment, err := r.environment()
	if err != nil {
		return nil, err
	}
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.commit}
	config.Config = v1.Config{
		Entrypoint: []string{"/meshmatch"}, User: "65532:65532", WorkingDir: "/",
		Env: environment, Labels: map[string]string{"org.opencontainers.image.version": r.version},
	}
	return mutate.ConfigFile(image, config)
}

// environment returns the variables that the Dockerfile sets, so the two images have the same.
func (r *release) environment() ([]string, error) {
	content, err := os.ReadFile(filepath.Join(r.root, "core/app/packaging/Dockerfile"))
	var variables []string
	for _, m := range regexp.MustCompile(`(?m)^ENV (.*)$`).FindAllStringSubmatch(string(content), -1) {
		variables = append(variables, m[1])
	}
	return variables, err
}

// The media types of a chart: https://helm.sh/docs/topics/registries.
const (
	chartConfig  types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	chartContent types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// chart writes the chart as helm packages it, and as an OCI layout.
func (r *release) chart() error {
	const source = "core/app/packaging/chart"
	files := map[string]file{}
	root := filepath.Join(r.root, source)
	if err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		files["meshmatch/"+filepath.ToSlash(name)] = file{content, 0o644}
		return err
	}); err != nil {
		return err
	}
	var metadata map[string]any
	if err := yaml.Unmarshal(files["meshmatch/Chart.yaml"].content, &metadata); err != nil {
		return err
	}
	version := strings.TrimPrefix(r.version, "v")
	metadata["version"], metadata["appVersion"] = version, version
	content, err := yaml.Marshal(metadata)
	if err != nil {
		return err
	}
	files["meshmatch/Chart.yaml"] = file{content, 0o644}
	packed, err := compressed(files, r.commit)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.out, "meshmatch-"+version+".tgz"), packed, 0o644); err != nil {
		return err
	}
	config, err := json.Marshal(metadata)
	if err != nil {
		return err
	}
	return r.chartLayout(version, config, packed)
}

// chartLayout writes the OCI layout of a chart: a manifest, its configuration and one layer.
func (r *release) chartLayout(version string, config, packed []byte) error {
	path, err := layout.Write(filepath.Join(r.out, "chart"), empty.Index)
	if err != nil {
		return err
	}
	write := func(mediaType types.MediaType, content []byte) (v1.Descriptor, error) {
		hash, size, err := v1.SHA256(bytes.NewReader(content))
		if err != nil {
			return v1.Descriptor{}, err
		}
		return v1.Descriptor{MediaType: mediaType, Digest: hash, Size: size}, path.WriteBlob(hash, io.NopCloser(bytes.NewReader(content)))
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Layers: make([]v1.Descriptor, 1)}
	if manifest.Config, err = write(chartConfig, config); err != nil {
		return err
	}
	if manifest.Layers[0], err = write(chartContent, packed); err != nil {
		return err
	}
	content, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	descriptor, err := write(types.OCIManifestSchema1, content)
	if err != nil {
		return err
	}
	descriptor.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	return path.AppendDescriptor(descriptor)
}
