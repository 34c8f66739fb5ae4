// Package arch holds no code: its tests hold the rules that keep the packages
// apart and the results repeatable. Who may import whom is the table in
// imports_test.go; what the simulated system may call is in calls_test.go.
package arch
