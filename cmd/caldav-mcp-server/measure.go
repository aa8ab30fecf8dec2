package main

import (
	"sync/atomic"

	"caldav-mcp-server/server"
)

// measures shows what the house counts, once there is one.
type measures struct{ house atomic.Pointer[house] }

func (m *measures) read() []server.Measure {
	h := m.house.Load()
	if h == nil {
		return nil
	}
	pool, logins := h.store.Pool(), h.auth.Load()
	return []server.Measure{
		{Name: "caldav_mcp_db_connections", Kind: "gauge", Help: "Connections to the database that are open.", Value: float64(pool.OpenConnections)},
		{Name: "caldav_mcp_db_connections_in_use", Kind: "gauge", Help: "Connections to the database that are at work.", Value: float64(pool.InUse)},
		{Name: "caldav_mcp_db_connections_max", Kind: "gauge", Help: "Connections to the database that there may be.", Value: float64(pool.MaxOpenConnections)},
		{Name: "caldav_mcp_db_waits_total", Kind: "counter", Help: "Times that a connection was waited for.", Value: float64(pool.WaitCount)},
		{Name: "caldav_mcp_db_wait_seconds_total", Kind: "counter", Help: "Time that connections were waited for.", Value: pool.WaitDuration.Seconds()},
		{Name: "caldav_mcp_login_hashes_total", Kind: "counter", Help: "Passwords that were checked by their hash.", Value: float64(logins.Hashed)},
		{Name: "caldav_mcp_login_hashes_in_work", Kind: "gauge", Help: "Hashes that are being computed.", Value: float64(logins.Hashing)},
		{Name: "caldav_mcp_logins_waiting", Kind: "gauge", Help: "Logins that wait for their hash to be computed.", Value: float64(logins.Waiting)},
		{Name: "caldav_mcp_logins_busy_total", Kind: "counter", Help: "Logins that were sent away since too many waited.", Value: float64(logins.Busy)},
	}
}
