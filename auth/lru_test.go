package auth

import "testing"

func TestLRUDropsWhatWasUsedLongestAgo(t *testing.T) {
	t.Parallel()
	l := newLRU[string, int](2)
	l.put("a", 1)
	l.put("b", 2)
	l.get("a")
	l.put("c", 3)
	l.put("c", 4)
	for key, want := range map[string]int{"a": 1, "c": 4} {
		if got, ok := l.get(key); !ok || got != want {
			t.Errorf("get(%q) = %d, %v; want %d", key, got, ok, want)
		}
	}
	if _, ok := l.get("b"); ok || l.len() != 2 {
		t.Errorf("b is there: %v; %d entries, want 2", ok, l.len())
	}
}

func TestLRUForgets(t *testing.T) {
	t.Parallel()
	l := newLRU[int, int](100)
	for i := range 10 {
		l.put(i, i)
	}
	l.drop(3)
	l.drop(3)
	if _, ok := l.get(3); ok || l.len() != 9 {
		t.Errorf("after drop: %v, %d entries", ok, l.len())
	}
	l.put(3, 6)
	if got, ok := l.get(3); !ok || got != 6 {
		t.Errorf("after drop and put: %d, %v", got, ok)
	}
}

func (l *lru[K, V]) len() int { return l.order.Len() }
