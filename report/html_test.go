package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func samplePage(t *testing.T, change func(*Result)) string {
	t.Helper()
	r := sampleResult(t)
	if change != nil {
		change(r)
	}
	page, err := HTML(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestPageFetchesNothing(t *testing.T) {
	page := samplePage(t, nil)
	data := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(page, "")
	for _, bad := range []string{"http://", "https://", "//cdn", "@import", "url("} {
		if i := strings.Index(strings.ReplaceAll(data, "http://www.w3.org/", ""), bad); i >= 0 {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(page, "default-src &#39;none&#39;") {
		t.Error("the page has no strict policy")
	}
	if len(page) > 400<<10 {
		t.Errorf("the page is %d KB, more than 400", len(page)>>10)
	}
}

func TestPageSectionsStandInOrder(t *testing.T) {
	page := samplePage(t, nil)
	at := 0
	for _, id := range []string{"first", "h-table", "h-time", "h-find", "h-exp", "h-break", "h-size", "h-law", "h-trace", "h-file", "h-not", "h-again"} {
		i := strings.Index(page, `id="`+id+`"`)
		if i < at {
			t.Errorf("section %s is missing or out of order", id)
		}
		at = max(at, i)
	}
}

func TestHostileNamesStayText(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>"'é`
	page := samplePage(t, func(r *Result) {
		r.Scenario.Title, r.Scenario.About = evil, evil
		r.Arms[0].Name = evil
		r.Scenario.EffectiveYAML = evil
	})
	if strings.Contains(page, "<img src=x") {
		t.Error("a name became markup")
	}
	if n := strings.Count(page, "</script>"); n != 3 {
		t.Errorf("%d scripts end, want 3", n)
	}
}

// TestUplotIsTheReleasedFile holds the embedded library to the bytes of uPlot
// 1.6.32 as npm has them.
func TestUplotIsTheReleasedFile(t *testing.T) {
	for name, want := range map[string]string{
		"uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
		"uPlot.min.css":     "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
		"LICENSE":           "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
	} {
		b, err := os.ReadFile(filepath.Join("third_party/uplot", name))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has changed: %x", name, sum)
		}
	}
}

// TestPageRunsInABrowser opens the page in headless Chromium: the script
// reaches its end, the console stays silent, and no host is asked.
func TestPageRunsInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		if os.Getenv("BLASTRADIUS_NEED_BROWSER") != "" {
			t.Fatal("no Chromium, and BLASTRADIUS_NEED_BROWSER is set")
		}
		t.Skip("no Chromium on this machine: the page is not opened")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(samplePage(t, nil)), 0o644); err != nil {
		t.Fatal(err)
	}
	net := filepath.Join(dir, "net.json")
	for _, size := range []string{"1280,720", "360,740"} {
		cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
			"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
			"--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+filepath.Join(dir, "profile"+size[:3]), "--window-size="+size,
			"--enable-logging=stderr", "--log-level=0", "--log-net-log="+net, "--virtual-time-budget=4000", "--dump-dom", "file://"+file)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(60 * time.Second):
			_ = cmd.Process.Kill()
			t.Fatalf("the browser did not end: %s", errs.String())
		}
		if !strings.Contains(out.String(), `data-ready="yes"`) {
			t.Errorf("%s: the script did not reach its end", size)
		}
		for _, line := range strings.Split(errs.String(), "\n") {
			if strings.Contains(line, "CONSOLE") {
				t.Errorf("%s: console: %s", size, line)
			}
		}
		if n := strings.Count(out.String(), `class="uplot`); n < 4 {
			t.Errorf("%s: %d charts were drawn", size, n)
		}
		log, err := os.ReadFile(net)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range regexp.MustCompile(`"url":"(https?:[^"]*)"`).FindAllStringSubmatch(string(log), -1) {
			if !strings.Contains(u[1], "google") && !strings.Contains(u[1], "gvt1") {
				t.Errorf("%s: the page asked for %s", size, u[1])
			}
		}
	}
}

func TestPicturesAreTheSameBytesTwice(t *testing.T) {
	r := sampleResult(t)
	for _, name := range PictureNames() {
		for _, format := range []string{"svg", "png"} {
			a, err := DrawPicture(r, name, format)
			if err != nil {
				t.Fatal(err)
			}
			b, err := DrawPicture(r, name, format)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s.%s differs from itself", name, format)
			}
			if format == "svg" && (!bytes.Contains(a, []byte("<title>")) || !bytes.Contains(a, []byte("<desc>")) || bytes.Contains(a, []byte("Liberation-Sans"))) {
				t.Errorf("%s.svg lacks its title or a font that browsers have", name)
			}
		}
	}
}

// TestPicturesOfOddResults draws what a result can lack.
func TestPicturesOfOddResults(t *testing.T) {
	for name, change := range map[string]func(*Result){
		"no arms":      func(r *Result) { r.Arms = nil },
		"no pool":      func(r *Result) { r.Scenario.Pools = nil },
		"no fault":     func(r *Result) { r.Scenario.Faults = nil },
		"no endpoints": func(r *Result) { r.Scenario.Endpoints = nil },
		"no series": func(r *Result) {
			for i := range r.Arms {
				r.Arms[i].Series.Names, r.Arms[i].Series.Values = nil, nil
			}
		},
		"no audit, no sizing": func(r *Result) {
			for i := range r.Arms {
				r.Arms[i].Audit, r.Arms[i].Sizing = nil, nil
			}
		},
		"seven arms": func(r *Result) {
			for len(r.Arms) < 7 {
				a := r.Arms[len(r.Arms)%3]
				a.Name = "timeout=" + string(rune('a'+len(r.Arms)))
				r.Arms = append(r.Arms, a)
			}
		},
		"all zero": func(r *Result) {
			zero := 0.0
			for i := range r.Arms {
				for _, row := range r.Arms[i].Series.Values {
					for j := range row {
						row[j] = &zero
					}
				}
			}
		},
	} {
		r := sampleResult(t)
		change(r)
		for _, p := range PictureNames() {
			if _, err := DrawPicture(r, p, "svg"); err != nil {
				t.Errorf("%s: %s: %v", name, p, err)
			}
		}
		if _, err := HTML(r); err != nil {
			t.Errorf("%s: page: %v", name, err)
		}
	}
}
