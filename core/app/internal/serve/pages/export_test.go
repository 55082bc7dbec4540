package pages

import "net/http"

// NewChanged returns the pages, whose data a function changes before a template shows it.
func NewChanged(o Options, change func(data any) any) http.Handler {
	s := newSite(o)
	paths := s.pages()
	for path, p := range paths {
		paths[path] = page{func(a *ask) (*view, error) {
			v, err := p.answer(a)
			if err == nil && v.Data != nil {
				v.Data = change(v.Data).(content)
			}
			return v, err
		}, p.long}
	}
	return s.handler(paths)
}
