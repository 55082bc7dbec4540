package regex

// Authority returns the expression to compare with the authority of a request: a host
// with or without a port. It matches if and only if e matches one of the forms of the
// authority with its final dot and its port, or without one or both of them. The final
// dot is at the end of the host, in front of the port (SPEC 7.2).
//
// So a colon that e matches may have the dot in front of it, and after a match of e
// there may be the dot and a port.
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
