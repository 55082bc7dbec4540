package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// sarifSchema is the URL of the schema of SARIF 2.1.0, which identifies the
// format of a log.
const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID                   string        `json:"id"`
	ShortDescription     sarifText     `json:"shortDescription"`
	FullDescription      sarifText     `json:"fullDescription"`
	Help                 sarifText     `json:"help"`
	DefaultConfiguration sarifSettings `json:"defaultConfiguration"`
	Properties           sarifTags     `json:"properties"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifSettings struct {
	Level string `json:"level"`
}

type sarifTags struct {
	Tags []string `json:"tags"`
}

type sarifResult struct {
	RuleID              string            `json:"ruleId"`
	RuleIndex           int               `json:"ruleIndex"`
	Level               string            `json:"level"`
	Message             sarifText         `json:"message"`
	Locations           []sarifLocation   `json:"locations"`
	PartialFingerprints map[string]string `json:"partialFingerprints"`
}

type sarifLocation struct {
	Physical sarifPhysical  `json:"physicalLocation"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
}

// fingerprint is the name of the fingerprints of results. If their computation changes,
// the number in it must change.
const fingerprint = "meshmatchFinding/v1"

// SARIF returns the findings as a log of one run. Version is the version of the
// program, or empty.
func SARIF(findings []diag.Diagnostic, version string) ([]byte, error) {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "meshmatch", Version: version,
			InformationURI: "https://github.com/meshmatch/meshmatch/blob/main/core/diag/FINDINGS.md",
			Rules:          []sarifRule{},
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	rules := map[diag.Code]int{}
	codes := lists.MapPointers(findings, func(d *diag.Diagnostic) diag.Code { return d.Code })
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		rules[code] = len(run.Tool.Driver.Rules)
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(code.Definition()))
	}
	prints := fingerprints(findings)
	for i, d := range findings {
		run.Results = append(run.Results, sarifResult{
			RuleID: d.Code.String(), RuleIndex: rules[d.Code], Level: level(d),
			Message:             sarifText{diag.OneLine(textOf(d))},
			Locations:           sarifLocations(d),
			PartialFingerprints: map[string]string{fingerprint: prints[i]},
		})
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
	return b.Bytes(), err
}

func sarifRuleOf(d *diag.Definition) sarifRule {
	help := "Mend: " + d.Mend
	if d.Example != "" {
		help += "\n\nExample:\n\n" + d.Example
	}
	return sarifRule{
		ID: d.Code.String(), ShortDescription: sarifText{d.Title}, FullDescription: sarifText{d.Means}, Help: sarifText{help},
		DefaultConfiguration: sarifSettings{levelOf(d.Class)}, Properties: sarifTags{[]string{string(d.Class)}},
	}
}

// sarifLocations returns where a finding is. Code hosts refuse a log in which a result has no
// location. So a finding about the input as a whole is at the directory of the run.
func sarifLocations(d diag.Diagnostic) []sarifLocation {
	if d.Pos.File == "" {
		d.Pos = diag.Position{File: ".", Line: 1, Column: 1}
	}
	location := sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(d.Pos.File)}}}
	if d.Pos.Line > 0 {
		location.Physical.Region = &sarifRegion{d.Pos.Line, d.Pos.Column}
	}
	if d.Path != "" {
		location.Logical = []sarifLogical{{diag.OneLine(d.Path)}}
	}
	return []sarifLocation{location}
}

// uriOf returns a file as a reference relative to the directory of the run, or as a file
// URL if its path is absolute.
func uriOf(file string) string {
	if filepath.IsAbs(file) {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
	}
	path := &url.URL{Path: filepath.ToSlash(file)}
	return strings.TrimPrefix(path.String(), "./")
}

// fingerprints returns a text for each finding that stays the same if lines move: it
// depends on the code, the file, the path, and the message without positions. Equal
// texts get a number.
func fingerprints(findings []diag.Diagnostic) []string {
	prints := make([]string, len(findings))
	count := map[string]int{}
	for i, d := range findings {
		key := d.Pos.File + "\x00" + d.Key()
		count[key]++
		sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(count[key])))
		prints[i] = hex.EncodeToString(sum[:16])
	}
	return prints
}
