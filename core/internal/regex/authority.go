package regex

// Authority returns the expression to compare with the authority of a request: a host
// with or without a port. It matches if and only if e matches the authority itself, or
// the authority without its final dot, its port or both. The final dot is at the end
// of the host, before the port (SPEC 7.2).
//
// So the dot may precede a colon that e matches, and the dot and a port may follow
// a match of e.
func (e *Expr) Authority() *Expr {
	var dot, colon, digit set
	dot.add('.')
	colon.add(':')
	digit.addRange('0', '9')
	dotted := rewrite(e, func(leaf *Expr) *Expr {
		if leaf.op != opSet || !leaf.set.has(':') {
			return leaf
		}
		return alternate(leaf, concat(ofSet(dot), ofSet(colon)))
	})
	port := concat(ofSet(colon), repeat(ofSet(digit), 0, -1))
	return concat(withoutEnd(dotted), repeat(ofSet(dot), 0, 1), repeat(port, 0, 1))
}
