// Package bounded limits how many answers are computed at once, and how long each takes. An
// answer that takes too long keeps its slot until its computation ends, so questions that are
// asked again do not add up.
package bounded
