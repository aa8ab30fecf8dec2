package auth

import "container/list"

// lru is a map of limited size: a new entry evicts the least recently used one. It does not lock.
type lru[K comparable, V any] struct {
	max   int
	order *list.List // of *entry[K, V], the latest used first
	byKey map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newLRU[K comparable, V any](size int) *lru[K, V] {
	return &lru[K, V]{max: size, order: list.New(), byKey: map[K]*list.Element{}}
}

func (l *lru[K, V]) get(key K) (V, bool) {
	e, ok := l.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	l.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

func (l *lru[K, V]) put(key K, value V) {
	if e, ok := l.byKey[key]; ok {
		e.Value.(*entry[K, V]).value = value
		l.order.MoveToFront(e)
		return
	}
	for l.order.Len() >= l.max {
		oldest := l.order.Back()
		delete(l.byKey, oldest.Value.(*entry[K, V]).key)
		l.order.Remove(oldest)
	}
	l.byKey[key] = l.order.PushFront(&entry[K, V]{key, value})
}

func (l *lru[K, V]) drop(key K) {
	if e, ok := l.byKey[key]; ok {
		delete(l.byKey, key)
		l.order.Remove(e)
	}
}
