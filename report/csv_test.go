package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
)

func records(t *testing.T, data []byte, err error) [][]string {
	t.Helper()
	must(t, err)
	out, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	must(t, err)
	return out
}

func TestCSVGolden(t *testing.T) {
	r := oneArm(t)
	metrics, err := CSV(r)
	must(t, err)
	golden(t, "metrics.csv", string(metrics))
	a := &r.Arms[0].Series
	a.Names, a.Values = a.Names[:2], a.Values[:2]
	a.Values[1][3] = nil
	series, err := SeriesCSV(r)
	must(t, err)
	golden(t, "series.csv", string(series))
}

func TestCSVHasEveryFigureOnceWithItsUnit(t *testing.T) {
	r := sample(t)
	data, err := CSV(r)
	rows := records(t, data, err)
	want := 1
	for _, a := range r.Arms {
		want += len(a.Metrics) + len(a.Absent)
		for _, f := range a.Phases {
			want += len(f.Metrics) + len(f.Absent)
		}
	}
	if len(rows) != want {
		t.Errorf("got %d rows, want %d", len(rows), want)
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		if key := strings.Join(row[:3], "|"); seen[key] {
			t.Errorf("%s stands twice", key)
		} else {
			seen[key] = true
		}
		if row[4] == "" {
			t.Errorf("%s has no unit", row[2])
		}
	}
	for _, line := range []string{
		"uncontained,fault,blast_radius.collateral,0.956,share\n",
		"uncontained,fault,blast_radius.time_to_contain,,seconds\n",
		"contained,fault,blast_radius.time_to_contain,1.6,seconds\n",
		"contained,all,dependency.payments.breaker.opens,6,count\n",
	} {
		if !strings.Contains(string(data), line) {
			t.Errorf("no %q", line)
		}
	}
}

func TestALayerWithANameOfItsOwnHasItsKindsUnits(t *testing.T) {
	r := oneArm(t)
	r.Arms[0].Layers[1].Name = "outer"
	r.Arms[0].Metrics["dependency.payments.outer.time_open_share"] = 0.25
	data, err := CSV(r)
	must(t, err)
	if want := "contained,all,dependency.payments.outer.time_open_share,0.25,share\n"; !strings.Contains(string(data), want) {
		t.Errorf("no %q", want)
	}
}

func TestSeriesCSVHasARowPerBin(t *testing.T) {
	r := sample(t)
	data, err := SeriesCSV(r)
	rows := records(t, data, err)
	want := 1
	for _, a := range r.Arms {
		want += len(a.Series.Names) * sampleBins
	}
	if len(rows) != want {
		t.Errorf("got %d rows, want %d", len(rows), want)
	}
	if last := rows[sampleBins]; last[1] != "595" || last[2] != "process.parked_mean" {
		t.Errorf("last bin is %v", last)
	}
}

func TestNumbersInCSVHaveNoExponent(t *testing.T) {
	r := oneArm(t)
	r.Arms[0].Metrics["process.lost_rate"] = 1e-9
	r.Arms[0].Metrics["process.parked_max"] = 1e21
	data, err := CSV(r)
	must(t, err)
	for _, want := range []string{",process.lost_rate,0.000000001,", ",process.parked_max,1000000000000000000000,"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %q", want)
		}
	}
}
