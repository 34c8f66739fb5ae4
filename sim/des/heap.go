package des

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
	n := len(h)
	for {
		child := 4*i + 1
		if child >= n {
			break
		}
		least := child
		for j := child + 1; j < child+4 && j < n; j++ {
			if h[j].before(h[least]) {
				least = j
			}
		}
		if !h[least].before(e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// sweepHeap drops the cancelled entries and restores the heap order. Each
// sweep removes at least half of the entries, so a Stop costs O(1) amortised.
func (k *Kernel) sweepHeap() {
	live := k.heap[:0]
	for _, e := range k.heap {
		if e.slot == laneSlot || k.slots[e.slot].gen == e.gen {
			live = append(live, e)
		}
	}
	k.heap = live
	k.heapStale = 0
	for i := min(len(live)-1, len(live)/4); i >= 0; i-- {
		k.down(i, live[i])
	}
}
