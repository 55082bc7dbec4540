package usage

import "runtime"

// Heap returns the bytes of the heap that are in use after a collection. They are a float64, so
// that the difference of two measurements may be negative.
func Heap() float64 {
	m := collected()
	return float64(m.HeapAlloc)
}

// Memory is [Heap] with the bytes of stacks.
func Memory() float64 {
	m := collected()
	return float64(m.HeapAlloc + m.StackInuse)
}

// collected collects garbage. The second collection frees what finalizers and pools held.
func collected() runtime.MemStats {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m
}
