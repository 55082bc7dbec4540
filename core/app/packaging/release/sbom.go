package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
)

// A part is a module of a binary, or Go's standard library.
type part struct{ name, version, purl string }

// parts returns what a binary is made of, as its build recorded it.
func parts(info *buildinfo.BuildInfo) []part {
	list := []part{{"stdlib", strings.TrimPrefix(info.GoVersion, "go"), "pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}}
	for _, module := range info.Deps {
		if !ours(module.Path) {
			list = append(list, part{module.Path, module.Version, "pkg:golang/" + module.Path + "@" + module.Version})
		}
	}
	return list
}

// bills writes the lists of parts of a binary, in CycloneDX and in SPDX, beside its archive.
func (r *release) bills(b binary) error {
	list := parts(b.info)
	name := strings.TrimSuffix(strings.TrimSuffix(b.archive, ".zip"), ".tar.gz")
	var content bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&content, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(r.cycloneDX(list)); err != nil {
		return err
	}
	if err := os.WriteFile(name+".cdx.json", content.Bytes(), 0o644); err != nil {
		return err
	}
	content.Reset()
	if err := spdxjson.Write(r.spdx(filepath.Base(name), list), &content, spdxjson.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(name+".spdx.json", content.Bytes(), 0o644)
}

func (r *release) cycloneDX(list []part) *cyclonedx.BOM {
	bom := cyclonedx.NewBOM()
	own := "pkg:golang/github.com/meshmatch/meshmatch@" + r.version
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.commit.Format(time.RFC3339), Component: &cyclonedx.Component{
		BOMRef: own, Type: cyclonedx.ComponentTypeApplication, Name: "meshmatch", Version: r.version, PackageURL: own,
	}}
	components := make([]cyclonedx.Component, 0, len(list))
	for _, p := range list {
		components = append(components, cyclonedx.Component{
			BOMRef: p.purl, Type: cyclonedx.ComponentTypeLibrary, Name: p.name, Version: p.version, PackageURL: p.purl,
		})
	}
	bom.Components = &components
	return bom
}

func (r *release) spdx(name string, list []part) *spdx.Document {
	d := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: name,
		DocumentNamespace: r.url + "/" + name + ".spdx.json",
		CreationInfo:      &spdx.CreationInfo{Created: r.commit.Format(time.RFC3339), Creators: []spdx.Creator{{CreatorType: "Organization", Creator: "meshmatch"}}},
	}
	list = append([]part{{"github.com/meshmatch/meshmatch", r.version, "pkg:golang/github.com/meshmatch/meshmatch@" + r.version}}, list...)
	for i, p := range list {
		id := common.ElementID(fmt.Sprint("Package-", i))
		d.Packages = append(d.Packages, &spdx.Package{
			PackageName: p.name, PackageSPDXIdentifier: id, PackageVersion: p.version, PackageDownloadLocation: "NOASSERTION",
			PackageLicenseConcluded: "NOASSERTION", PackageLicenseDeclared: "NOASSERTION", PackageCopyrightText: "NOASSERTION",
			PackageExternalReferences: []*spdx.PackageExternalReference{{Category: "PACKAGE-MANAGER", RefType: "purl", Locator: p.purl}},
		})
		relationship := &spdx.Relationship{RefA: common.MakeDocElementID("", "DOCUMENT"), RefB: common.MakeDocElementID("", string(id)), Relationship: "DESCRIBES"}
		if i > 0 {
			relationship.RefA, relationship.Relationship = common.MakeDocElementID("", "Package-0"), "CONTAINS"
		}
		d.Relationships = append(d.Relationships, relationship)
	}
	return d
}
