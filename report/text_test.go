package report

import (
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
)

// noFault is the sample as a run in which nothing breaks.
func noFault(t testing.TB) *Result {
	r := sample(t)
	r.Scenario.Faults = nil
	r.Scenario.Phases = r.Scenario.Phases[:1]
	for i := range r.Scenario.Endpoints {
		r.Scenario.Endpoints[i].Direct = false
	}
	for i := range r.Scenario.Dependencies {
		r.Scenario.Dependencies[i].Faulted = false
	}
	for i := range r.Arms {
		a := &r.Arms[i]
		a.Metrics = a.Phases["before"].Metrics
		a.Absent = a.Phases["before"].Absent
		a.Phases = nil
	}
	r.Findings, r.Expectations = nil, nil
	return r
}

// fiveArms is the sample with two arms that --vs added.
func fiveArms(t testing.TB) *Result {
	r := sample(t)
	for _, name := range []string{"payments.timeout=1.2s", "payments.timeout=1.3s"} {
		a := sample(t).Arms[1]
		a.Name, a.About = name, "keep: timeout; set dependencies."+strings.Replace(name, "=", ": ", 1)
		r.Arms = append(r.Arms, a)
	}
	return r
}

// oneArm is the sample with the file as it stands alone.
func oneArm(t testing.TB) *Result {
	r := sample(t)
	r.Arms = r.Arms[2:]
	r.Expectations = r.Expectations[:2]
	return r
}

// strange has wide letters, long names and values that need room.
func strange(t testing.TB) *Result {
	r := renamed(t, "payments", "payments-gateway-of-the-eu-west-region", "search", "full-text-search", `"name": "contained"`, `"name": "contained-with-a-very-long-name"`)
	r.Scenario.Title = "支払いが遅い – 検索は気づいてはならない、たとえ三分間続いても、絶対に気づいてはならない 😀"
	r.Warnings = []string{"fault slow of payments was armed and met no call: \x1b[31mno red\x1b[0m", "endpoint idle had no request"}
	worst := uint64(49)
	low, high := 0.39, 0.78
	r.Expectations[0].OK = false
	r.Expectations[0].Of, r.Expectations[0].Holds, r.Expectations[0].Worst, r.Expectations[0].Low, r.Expectations[0].High = 20, 12, &worst, &low, &high
	r.Expectations[1].OK, r.Expectations[1].Actual, r.Expectations[1].Why = false, nil, "no breaker layer"
	for i := range r.Arms {
		r.Arms[i].Phases["fault"].Metrics["process.parked_mean"] = 1234567.8
		r.Arms[i].Phases["fault"].Metrics["process.parked_max"] = 9876543
	}
	return r
}

func TestTextGolden(t *testing.T) {
	partial := oneArm(t)
	partial.Partial = "interrupted"
	for name, text := range map[string]string{
		"text.txt":    Text(sample(t), TextOptions{}),
		"ascii.txt":   Text(sample(t), TextOptions{ASCII: true}),
		"wide.txt":    Text(fiveArms(t), TextOptions{Wide: true}),
		"quiet.txt":   Text(strange(t), TextOptions{Quiet: true}),
		"five.txt":    Text(fiveArms(t), TextOptions{}),
		"nofault.txt": Text(noFault(t), TextOptions{}),
		"onearm.txt":  Text(partial, TextOptions{}),
		"strange.txt": Text(strange(t), TextOptions{}),
		"several.txt": Text(severalFaults(t), TextOptions{}),
		"every.txt":   EveryLines(oneArm(t), 30*time.Second, TextOptions{}),
		"report.md":   Markdown(sample(t)),
		"strange.md":  Markdown(strange(t)),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, text) })
	}
}

// severalFaults has one that is too short for its words, two that overlap, one
// that lasts to the end.
func severalFaults(t testing.TB) *Result {
	r := sample(t)
	slow := 2.0
	r.Scenario.Faults = []Fault{
		{Dependency: "payments", Kind: "down", Text: "down", From: 0, To: 10},
		{Dependency: "payments", Kind: "slow", Text: "slow: 2s", From: 60, To: 300, Latency: &slow},
		{Dependency: "index", Kind: "error", Text: "error: 40% server_error", From: 200, To: 600},
	}
	return r
}

func TestTheRowsOfTheMock(t *testing.T) {
	text := Text(sample(t), TextOptions{})
	for _, want := range []string{
		"payments-slow  10m, 200 requests/s, 3 arms meet the same requests, seed 42\n",
		"DURING THE FAULT, 2m..5m    uncontained     timeouts   contained\n",
		strings.Repeat("─", 80) + "\n",
		"          p50 / p99         710ms/1.07s  401ms/753ms  30ms/119ms\n",
		"checkout  live/cached/lost     0/0/100%     0/0/100%    0/90/10%  late = lost\n",
		"blast     collateral            ! 95.6%      ! 66.3%        0.0%  ! spread\n",
		"          contain / recover  never/5.9s   never/0.0s   1.6s/9.3s\n"[10:],
		"                     0m      2m└─payments 8s─┘5m                    10m\n",
		"   0.2%, not 66.3% (simulated).              --vs timeouts:payments.timeout=1.2s\n",
		"met   contained    endpoint.search.slo_rate@fault >= 99.9%                100.0%\n",
		"again  blastradius run payments-slow --seed 42    v0.2.0  scenario 7c1e90ab5d21\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestColourOnlyAdds(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, r := range map[string]*Result{"sample": sample(t), "strange": strange(t), "five": fiveArms(t)} {
		for _, o := range []TextOptions{{}, {ASCII: true}, {Wide: true}, {Quiet: true}} {
			plain := Text(r, o)
			o.Color = true
			painted := Text(r, o)
			if painted == plain {
				t.Errorf("%s %+v: no colour", name, o)
			}
			if escape.ReplaceAllString(painted, "") != plain {
				t.Errorf("%s %+v: colour changes more than colour", name, o)
			}
		}
		every := EveryLines(r, 30*time.Second, TextOptions{})
		if painted := EveryLines(r, 30*time.Second, TextOptions{Color: true}); escape.ReplaceAllString(painted, "") != every || painted == every {
			t.Errorf("%s: status lines", name)
		}
	}
}

func TestASCIIReportsAreASCII(t *testing.T) {
	for name, r := range map[string]*Result{"sample": sample(t), "strange": strange(t), "several": severalFaults(t), "none": noFault(t)} {
		text := Text(r, TextOptions{ASCII: true}) + EveryLines(r, time.Minute, TextOptions{ASCII: true})
		for i, c := range text {
			if c > unicode.MaxASCII || c < ' ' && c != '\n' {
				t.Fatalf("%s: %q at byte %d", name, c, i)
			}
		}
	}
}

func TestQuietSaysOnlyWhatIsWrong(t *testing.T) {
	r := sample(t)
	if text := Text(r, TextOptions{Quiet: true}); strings.Contains(text, "met ") || strings.Contains(text, "again") || !strings.Contains(text, "What ran out") {
		t.Errorf("got %s", text)
	}
	r.Expectations[1].OK = false
	text := Text(r, TextOptions{Quiet: true})
	if !strings.Contains(text, "\nUNMET contained    dependency.payments.breaker.opens <= 8") || strings.Contains(text, "slo_rate") {
		t.Errorf("got %s", text)
	}
}

// Two changes of one field were both shown as payments.time… once.
func TestArmsThatDifferAtTheEndStayApart(t *testing.T) {
	text := Text(fiveArms(t), TextOptions{})
	for _, want := range []string{"timeout=1.2s", "timeout=1.3s"} {
		if strings.Count(text, want) < 4 {
			t.Errorf("%s is not told apart in\n%s", want, text)
		}
	}
}

func TestStatusLinesSumTheWholeRunWhateverTheStep(t *testing.T) {
	r := oneArm(t)
	count := regexp.MustCompile(`payments +\d [a-z-]+ +([\d,]+)`)
	total := 0.0
	for _, v := range r.Arms[0].series("dependency.payments.calls") {
		total += *v
	}
	for _, step := range []time.Duration{time.Millisecond, 5 * time.Second, 7 * time.Second, 30 * time.Second, 599 * time.Second, time.Hour} {
		sum := 0.0
		lines := count.FindAllStringSubmatch(EveryLines(r, step, TextOptions{}), -1)
		for _, m := range lines {
			n := 0.0
			for _, c := range strings.ReplaceAll(m[1], ",", "") {
				n = n*10 + float64(c-'0')
			}
			sum += n
		}
		if sum != total {
			t.Errorf("step %s: %d lines sum to %v calls, want %v", step, len(lines), sum, total)
		}
	}
}

func TestStatusLinesSayTheStateInWords(t *testing.T) {
	text := EveryLines(oneArm(t), 30*time.Second, TextOptions{})
	for _, want := range []string{"     2m  payments      0 closed ", "  2m30s  payments      2 open ", "     6m  payments      0 closed "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !regexp.MustCompile(`payments +2 open .* \d+/20\n`).MatchString(text) {
		t.Errorf("no permits in\n%s", text)
	}
	if text := EveryLines(&Result{Arms: []Arm{{Name: "a"}}}, time.Second, TextOptions{}); !strings.Contains(text, "no series was recorded") {
		t.Errorf("got %q", text)
	}
}

func TestFullAxisKeepsItsTimes(t *testing.T) {
	text := Text(severalFaults(t), TextOptions{})
	for _, want := range []string{"└", "payments 2s", "index 40% server_error", "0s..10s payments down"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestALongCommandStaysOneCommand(t *testing.T) {
	r := sample(t)
	r.Scenario.Source = "./folder with spaces/and $signs/" + strings.Repeat("very-long/", 12) + "file.yaml"
	r.Scenario.Args = []string{"--set", "payments.breaker.cooldown=5s", "--vs", "contained:payments.latency={p50: 10ms}"}
	text := Text(r, TextOptions{})
	_, tail, _ := strings.Cut(text, "again  ")
	joined := strings.ReplaceAll(tail, "\\\n       ", "")
	want := `blastradius run ./folder\ with\ spaces/and\ \$signs/` + strings.Repeat("very-long/", 12) + `file.yaml --set payments.breaker.cooldown=5s --vs contained:payments.latency=\{p50:\ 10ms\} --seed 42`
	if !strings.HasPrefix(joined, want) {
		t.Errorf("got  %s\nwant %s", joined, want)
	}
}
