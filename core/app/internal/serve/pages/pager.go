package pages

import "strconv"

// pager divides rows into pages.
type pager struct {
	Number, Pages  int
	Total          int
	Previous, Next string // links; "" if there is none
	from, to       int
}

// From and To are the numbers of the first and the last row, from 1.
func (p pager) From() int { return min(p.from+1, p.Total) }

// To is the number of the last row.
func (p pager) To() int { return p.to }

// pager returns page n of a number of rows.
func (a *ask) pager(n, total int) pager {
	p := pager{Number: n, Pages: max(1, (total+perPage-1)/perPage), Total: total}
	p.from = min((n-1)*perPage, total)
	p.to = min(p.from+perPage, total)
	if n > 1 {
		previous := ""
		if n > 2 {
			previous = strconv.Itoa(min(n-1, p.Pages))
		}
		p.Previous = a.here("page", previous)
	}
	if p.to < total {
		p.Next = a.here("page", strconv.Itoa(n+1))
	}
	return p
}
