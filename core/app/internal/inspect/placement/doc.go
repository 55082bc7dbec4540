// Package placement answers where policies are enforced and where they only inform, with
// the bindings that cause it ([New], SPEC 10). It plans a placement that enforces a policy
// on a growing share of the dataplanes that it selects ([NewPlan], SPEC 13.7).
package placement
