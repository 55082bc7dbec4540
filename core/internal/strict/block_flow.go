package strict

// Mappings and lists in flow style, within one line, as people write them:
//
//	{kind: MeshService, name: backend, tags: {version: v2}}
//
// Each element and each field has a value, and the name of a field has no quotes. So a colon
// only separates if a space follows, and what begins like a pair in a list is refused.

// flow reads a mapping or list in flow style that begins at an offset, and returns its end
// or -1.
func (r *blockReader) flow(at, depth int) (end int) {
	kind, last := Mapping, byte('}')
	if r.data[at] == '[' {
		kind, last = List, ']'
	}
	this := len(r.parts)
	r.add(part{begin: int32(at), end: int32(at), kind: kind})
	if at = r.skipSpaces(at + 1); at < r.end && r.data[at] == last {
		return at + 1
	}
	if depth >= r.depth {
		return -1
	}
	for {
		if kind == Mapping {
			if at = r.flowName(at); at < 0 {
				return -1
			}
		}
		if at = r.flowValue(at, depth+1); at < 0 {
			return -1
		}
		at = r.skipSpaces(at)
		if at == r.end {
			return -1
		}
		switch r.data[at] {
		case last:
			r.close(this)
			return at + 1
		case ',':
			at = r.skipSpaces(at + 1)
		default:
			return -1
		}
	}
}

// flowName reads the name of a field and the colon and space after it, and returns the offset
// of the value.
func (r *blockReader) flowName(begin int) int {
	end := begin
	for end < r.end && classes[r.data[end]]&inName != 0 {
		end++
	}
	if end == begin || end-begin > maxKey || classes[r.data[begin]]&beginsText == 0 || end+1 >= r.end || r.data[end] != ':' || r.data[end+1] != ' ' {
		return -1
	}
	r.addText(begin, end)
	return r.skipSpaces(end + 1)
}

// flowValue reads the value of a field, or an element, and returns its end.
func (r *blockReader) flowValue(begin, depth int) int {
	if begin == r.end {
		return -1
	}
	switch r.data[begin] {
	case '"', '\'':
		return r.quoted(begin)
	case '{', '[':
		return r.flow(begin, depth)
	}
	if !r.beginsPlain(begin) {
		return -1
	}
	end := begin
	for ; end < r.end && classes[r.data[end]]&inFlow != 0; end++ {
		if r.data[end] == ':' && (end+1 == r.end || classes[r.data[end+1]]&beginsText == 0) {
			return -1
		}
	}
	for r.data[end-1] == ' ' {
		end--
	}
	r.addScalar(begin, end)
	return end
}
