package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress hears how far the work is. Nothing is shown of work that is done
// within progressDelay.
type progress interface {
	step(done, total int) // of the replications; from any goroutine
	stop()                // leaves nothing behind on a terminal
}

const (
	progressDelay = 500 * time.Millisecond
	progressEvery = 5 * time.Second
)

// newProgress picks a bar for a terminal, plain lines for a log, and silence
// for --quiet. CI systems offer terminals that nobody watches: plain lines too.
func (e *env) newProgress(quiet bool) progress {
	switch {
	case quiet:
		return silent{}
	case e.stderrTerminal && e.lookup("TERM") != "dumb" && e.lookup("CI") == "":
		return newBar(e.stderr.w)
	}
	return newLines(e.stderr)
}

type silent struct{}

func (silent) step(int, int) {}
func (silent) stop()         {}

// lines prints one line for every tenth of the work but the last, after which
// the result speaks, and one when nothing was printed for progressEvery.
type lines struct {
	mu          sync.Mutex
	w           io.Writer
	start, last time.Time // of the work, of the last line
	done, total int
	tenth       int
	end         chan struct{}
	ended       sync.WaitGroup
}

func newLines(w io.Writer) *lines {
	now := time.Now()
	l := &lines{w: w, start: now, last: now, end: make(chan struct{})}
	l.ended.Go(l.watch)
	return l
}

func (l *lines) watch() {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			l.mu.Lock()
			if time.Since(l.last) >= progressEvery {
				l.print()
			}
			l.mu.Unlock()
		case <-l.end:
			return
		}
	}
}

func (l *lines) step(done, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.total = done, total
	tenth := done * 10 / max(1, total)
	if tenth > l.tenth && done < total && time.Since(l.start) >= progressDelay {
		l.print()
	}
	l.tenth = tenth
}

func (l *lines) print() {
	l.last = time.Now()
	elapsed := l.last.Sub(l.start)
	if l.done == 0 {
		fmt.Fprintf(l.w, "no run finished yet, %s so far\n", wholeSeconds(elapsed))
		return
	}
	text := fmt.Sprintf("run %d/%d", l.done, l.total)
	if left := elapsed / time.Duration(l.done) * time.Duration(l.total-l.done); left > 0 {
		text += ", " + wholeSeconds(left) + " left"
	}
	fmt.Fprintln(l.w, text)
}

func (l *lines) stop() {
	close(l.end)
	l.ended.Wait()
}

// wholeSeconds rounds up: "0s left" is no help.
func wholeSeconds(d time.Duration) string {
	return ((d + time.Second - 1) / time.Second * time.Second).String()
}

// bar is a bar on a terminal that goes away when the work is done.
type bar struct {
	mu          sync.Mutex
	w           io.Writer
	timer       *time.Timer
	start       time.Time
	done, total int
	container   *mpb.Progress
	bar         *mpb.Bar
	stopped     bool
}

func newBar(w io.Writer) *bar {
	b := &bar{w: w, start: time.Now()}
	b.timer = time.AfterFunc(progressDelay, b.show)
	return b
}

func (b *bar) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return
	}
	b.container = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(72), mpb.ForceAutoRefresh())
	b.bar = b.container.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.CountersNoUnit("run %d/%d ")),
		mpb.AppendDecorators(decor.NewAverageETA(decor.ET_STYLE_GO, b.start, nil), decor.Name(" left")))
	b.update()
}

func (b *bar) step(done, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.total = done, total
	b.update()
}

func (b *bar) update() {
	if b.bar != nil && b.total > 0 {
		b.bar.SetTotal(int64(b.total), false)
		b.bar.SetCurrent(int64(b.done))
	}
}

func (b *bar) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	b.timer.Stop()
	if b.bar != nil {
		b.bar.Abort(true)
		b.container.Wait()
	}
}
