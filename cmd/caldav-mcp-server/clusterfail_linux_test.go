package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
)

// The leader of a Patroni cluster dies, freezes, is cut off from the others, and hands over. Meanwhile three servers
// use its standbys for large reads, with four writers over both protocols, two clients that synchronize and one that
// reads everything. If the leader waits for a standby, no acknowledged write is lost. If it does not, and both standbys
// are behind, unreplicated writes are lost. In no case is a client told of data that does not exist.
func TestCluster(t *testing.T) {
	slowtest.Skip(t, slowtest.Crash, "makes a cluster of three Postgres and takes its leader away four times")
	for _, program := range clusterPrograms {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	t.Run("synchronous", func(t *testing.T) {
		c := newCluster(t, true)
		l := c.newWitness(t)
		o := newOnlooker(t, l)
		work, looking := l.begin(t), o.begin(t)
		for _, end := range []struct {
			name string
			of   func(*cluster, *testing.T, *member) (back func())
		}{{"killed", (*cluster).killed}, {"frozen", (*cluster).frozen}, {"cut off", (*cluster).cutOff}, {
			"switched over", (*cluster).switchedOver,
		}} {
			l.await(t, calm)
			was := c.leader(t.Context(), nil)
			back := end.of(c, t, was)
			began := time.Now()
			until(t, "another leads", func() bool { return c.leader(t.Context(), was) != nil })
			l.await(t, calm)
			t.Logf("%s, %s: %s leads, and writes go on after %v", was.name, end.name, c.leader(t.Context(), was).name,
				time.Since(began).Round(time.Second))
			back()
			c.awaitWhole(t, true)
			o.await(t)
		}
		l.await(t, calm)
		work()
		looking()
		l.judge(t, true)
		o.judge(t, true)
	})
	t.Run("asynchronous", func(t *testing.T) {
		c := newCluster(t, false)
		l := c.newWitness(t)
		o := newOnlooker(t, l)
		work, looking := l.begin(t), o.begin(t)
		l.await(t, calm)
		o.await(t) // a standby that just runs has not even the tables
		was := c.leader(t.Context(), nil)
		was.followers.turn(true)
		l.await(t, behind)
		was.signal(syscall.SIGKILL)
		until(t, "another leads", func() bool { return c.leader(t.Context(), was) != nil })
		l.await(t, calm)
		o.await(t)
		work()
		looking()
		l.judge(t, false)
		o.judge(t, false)
	})
}

// newWitness starts servers that ask the standbys long questions.
func (c *cluster) newWitness(t *testing.T) *witness {
	t.Helper()
	return newWitness(t, c.leading, "DATABASE_READ_URL="+c.standby, "METRICS_ADDR=127.0.0.1:0")
}

// killed ends the leader's Postgres and Patroni at once.
func (c *cluster) killed(t *testing.T, m *member) (back func()) {
	m.signal(syscall.SIGKILL)
	_ = m.patroni.Wait()
	return func() { c.startPatroni(t, m) }
}

// frozen stops the leader where it is, as a machine that swaps or a disk that hangs: it comes back in the belief that
// it leads.
func (c *cluster) frozen(_ *testing.T, m *member) (back func()) {
	m.signal(syscall.SIGSTOP)
	return func() { m.signal(syscall.SIGCONT) }
}

// cutOff takes etcd from the leader, which still reaches its standbys and its clients.
func (c *cluster) cutOff(_ *testing.T, m *member) (back func()) {
	m.agreement.turn(true)
	return func() { m.agreement.turn(false) }
}

// switchedOver performs a switchover as an administrator would.
func (c *cluster) switchedOver(t *testing.T, m *member) (back func()) {
	t.Helper()
	url := fmt.Sprintf("http://127.0.0.1:%d/switchover", m.api)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url,
		strings.NewReader(`{"leader": "`+m.name+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal("the switchover was refused: ", answer.Status)
	}
	return func() {}
}
