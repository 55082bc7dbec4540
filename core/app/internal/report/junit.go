package report

import (
	"encoding/xml"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Suite is the XML form of JUnit results.
type Suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Cases    []Case   `xml:"testcase"`
}

// Case is a test of a [Suite]. It passed if it has neither Failure nor Error.
type Case struct {
	Name    string  `xml:"name,attr"`
	Class   string  `xml:"classname,attr"`
	Failure *Result `xml:"failure,omitempty"`
	Error   *Result `xml:"error,omitempty"`
	Out     string  `xml:"system-out,omitempty"`
}

// Result describes why a case did not pass.
type Result struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// XML returns the suite as a document, with the number of its cases.
func (s *Suite) XML() ([]byte, error) {
	s.Tests, s.Failures, s.Errors = len(s.Cases), 0, 0
	for _, c := range s.Cases {
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		}
	}
	data, err := xml.MarshalIndent(s, "", "  ")
	return append([]byte(xml.Header), append(data, '\n')...), err
}

// JUnit returns a suite with one test for each finding: a failed one, or a passed one for
// information.
func JUnit(findings []diag.Diagnostic) ([]byte, error) {
	suite := Suite{Name: "meshmatch"}
	for _, d := range findings {
		c := Case{Name: fmt.Sprintf("%s %s", d.Code, lineOf(d)), Class: d.Pos.File}
		result := &Result{Type: string(d.Code.Class()), Message: diag.OneLine(textOf(d)), Text: d.Line()}
		if d.Code.Class() == diag.ClassInfo {
			c.Out = result.Text // it passed
		} else {
			c.Failure = result
		}
		suite.Cases = append(suite.Cases, c)
	}
	return suite.XML()
}

// lineOf returns file:line, and the path if there is one.
func lineOf(d diag.Diagnostic) string {
	text := d.Pos.File
	if d.Pos.Line > 0 {
		text += fmt.Sprintf(":%d", d.Pos.Line)
	}
	if d.Path != "" {
		text += " " + d.Path
	}
	return diag.OneLine(text)
}
