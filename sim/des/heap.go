package des

import "math/bits"

// A 4-ary heap of value entries: half the depth of a binary one and the four
// children of a node share a cache line or two.

func (k *Kernel) push(e entry) {
	k.heap = append(k.heap, e)
	k.up(len(k.heap)-1, e)
}

func (k *Kernel) up(i int, e entry) {
	h := k.heap
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// pop removes the top.
func (k *Kernel) pop() {
	n := len(k.heap) - 1
	last := k.heap[n]
	k.heap = k.heap[:n]
	if n > 0 {
		k.down(0, last)
	}
}

// replaceTop puts e in place of the top.
func (k *Kernel) replaceTop(e entry) { k.down(0, e) }

func (k *Kernel) down(i int, e entry) {
	h := k.heap
	for {
		child := 4*i + 1
		if child+4 > len(h) {
			break
		}
		four := h[child : child+4 : child+4]
		a := less(&four[1], &four[0])
		b := 2 + less(&four[3], &four[2])
		least := child + int(a^(a^b)&-less(&four[b&3], &four[a&3]))
		if !h[least].before(e) {
			h[i] = e
			return
		}
		h[i] = h[least]
		i = least
	}
	if child := 4*i + 1; child < len(h) { // the last of the tree has fewer children
		least := child
		for j := child + 1; j < len(h); j++ {
			if h[j].before(h[least]) {
				least = j
			}
		}
		if h[least].before(e) {
			h[i] = h[least]
			i = least
		}
	}
	h[i] = e
}

// less is 1 when a comes before b and 0 when not, without a branch: which of
// four children is the least is as good as random, and would be mispredicted.
// Instants are never negative.
func less(a, b *entry) uint64 {
	_, borrow := bits.Sub64(a.key, b.key, 0)
	_, borrow = bits.Sub64(uint64(a.at), uint64(b.at), borrow)
	return borrow
}

// sweepHeap drops the cancelled entries and restores the heap order. Each
// sweep removes at least half of the entries, so a Stop costs O(1) amortised.
func (k *Kernel) sweepHeap() {
	live := k.heap[:0]
	for _, e := range k.heap {
		if e.slot() >= laneSlots || k.live(e) {
			live = append(live, e)
		}
	}
	k.heap = live
	k.heapStale = 0
	for i := min(len(live)-1, len(live)/4); i >= 0; i-- {
		k.down(i, live[i])
	}
}
