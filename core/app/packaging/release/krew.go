package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// A manifest is a plugin as krew reads it (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest).
// Krew's own package requires versions of Kubernetes that do not build with this program's versions.
type manifest struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       struct {
		Version          string           `json:"version"`
		Homepage         string           `json:"homepage"`
		ShortDescription string           `json:"shortDescription"`
		Description      string           `json:"description"`
		Platforms        []pluginPlatform `json:"platforms"`
	} `json:"spec"`
}

type pluginPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string              `json:"uri"`
	SHA256 string              `json:"sha256"`
	Bin    string              `json:"bin"`
	Files  []map[string]string `json:"files"`
}

// plugin writes the manifest of the plugin: kubectl krew install --manifest=FILE.
func (r *release) plugin(built []binary) error {
	m := manifest{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin",
		Metadata: map[string]string{"name": "meshmatch"},
	}
	m.Spec.Version, m.Spec.Homepage = r.version, "https://github.com/meshmatch/meshmatch"
	m.Spec.ShortDescription = "Show which mesh policies select a proxy, and why"
	m.Spec.Description = "Matches, orders and merges the policies of a service mesh, with reasons: which policies\n" +
		"select a proxy, who may call an inbound, and what a change opens or closes.\n"
	for _, b := range built {
		p := pluginPlatform{
			URI: r.url + "/" + path.Base(filepath.ToSlash(b.archive)), SHA256: fmt.Sprintf("%x", b.sum), Bin: b.name(),
			Files: []map[string]string{{"from": b.name(), "to": "."}, {"from": "LICENSE", "to": "."}},
		}
		p.Selector.MatchLabels = map[string]string{"os": b.os, "arch": b.arch}
		m.Spec.Platforms = append(m.Spec.Platforms, p)
	}
	content, err := yaml.Marshal(m)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, "meshmatch.krew.yaml"), content, 0o644)
}
