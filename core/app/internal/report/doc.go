// Package report writes findings in the formats that CI systems read: SARIF 2.1.0, JUnit,
// annotations of GitHub, and Markdown for a comment (SPEC 13.5).
//
// The caller passes findings in the order of [diag.Sorted]. All formats contain the same
// findings in the same order, and the same findings give the same bytes. A format has two
// levels, error and warning: findings of [diag.ClassError] are errors.
//
// Text of the input is escaped as the format requires, so that it cannot add a finding, an
// annotation or markup.
package report
