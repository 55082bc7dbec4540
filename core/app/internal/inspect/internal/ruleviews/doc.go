// Package ruleviews builds the rule views of an answer within the answer's limits
// (SPEC 5.5).
package ruleviews
