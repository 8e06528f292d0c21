#!/bin/sh
# The page of `ballast report`, generated from handwritten rows: report.sh TOOL. Checks the text, which is known in
# advance, and, if chromium is available, how a browser renders it. Exit status 77: gnuplot is missing.
set -u

tool=$1
# shellcheck source=tests/harness.sh
. "$(dirname "$0")/harness.sh"

has() { # NAME TEXT: the page contains this text on one line
    if grep -qF -e "$2" "$page"; then ok "$1"; else not_ok "$1" "expected in the page: $2"; fi
}

has_not() { # NAME TEXT
    if grep -qF -e "$2" "$page"; then not_ok "$1" "not expected in the page: $2"; else ok "$1"; fi
}

if ! command -v gnuplot >/dev/null 2>&1; then
    echo "skipped: no gnuplot"
    exit 77
fi

# ---- rows ----

head_of() { # SUITE
    cat <<END
# suite $1: for the test
# rows version 1
# command ballast bench $1 --out here
# date 2026-01-02 03:04:05 UTC
# version ballast 0.0.0, commit 1234567
# system Linux <6> & "more"
# processor Some CPU, 8 cores, compiler gcc 1, governor performance
# device cuda:0: Some GPU, 132 multiprocessors, driver 1 (CUDA 13.0), compiler nvcc 13.0
# device cpu: Some CPU, 8 cores, compiler gcc 1, governor performance
END
}

columns="device,queue,case,callers,threads,capacity,filled,push,pop,fma,repeat,seconds,pushes,pops,full,empty,mops,check,registers,resident"

pairs() { # DEVICE QUEUE CASE THREADS CHECK MOPS...: a row for each
    device=$1 queue=$2 case=$3 threads=$4 check=$5
    shift 5
    repeat=0
    for mops in "$@"; do
        repeat=$((repeat + 1))
        echo "$device,$queue,$case,thread,$threads,1024,0,1,1,0,$repeat,0.5,10,10,0,0,$mops,$check,0,64"
    done
}

mkdir "$tmp/rows"
{
    head_of kerbl-pairs
    echo "$columns"
    for threads in 32 1024 45056; do
        pairs cuda:0 faa pairs $threads none $threads
        pairs cuda:0 broker pairs $threads right $((threads / 2)) $((threads / 4)) $((threads * 3 / 4))
        pairs cuda:0 gottlieb pairs $threads right $((threads / 8)) $((threads / 8)) $((threads / 8))
        pairs cuda:0 lcrq pairs $threads right $((threads / 16)) 0.5 $((threads / 16))
        pairs cuda:0 broken pairs $threads WRONG 99999999
        pairs cuda:0 "<script>alert('&')</script>" pairs $threads right 0.125
        pairs cuda:0 broker "pairs per warp" $threads right 100 100 100
        pairs cuda:0 sfq "pairs per warp" $threads right 210 200 190
    done
    pairs cpu broker pairs 1 right 7.5
    pairs cpu tz pairs 1 right 15
    pairs cpu broker pairs 2 right 0 0 0
    pairs cpu tz pairs 2 right 15 15 16
    echo "# cpu, pairs, lcrq: left out: it <b>waits</b>"
    echo "# interrupted"
} >"$tmp/rows/kerbl-pairs.csv"
{
    head_of kerbl-faa
    echo "device,access,threads,repeat,times,nanoseconds,relative,mops,check"
    echo "cpu,plain,1,1,100,1,1,1,right"
    echo "cpu,faa,1,1,100,1,2,1,right"
    echo "cpu,faa,8,1,100,1,40,1,right"
    echo "cuda:0,plain,32,1,100,1,1,1,right"
    echo "cuda:0,faa,32,1,100,1,1.5,1,right"
    echo "cuda:0,faa,8192,1,100,1,10,1,right"
} >"$tmp/rows/kerbl-faa.csv"

grid="device,case,app,options,series,scheduler,axis,x,asked_workers,asked_lanes,pop,private,repeat,seconds,tasks,tasks_per_second,workers,lanes,ran,launches,peak_tasks,paper_tasks,peak_bytes,steals,steal_attempts,balance,check"

# Counts of findings: two that hold.
{
    head_of cederman2008
    echo "$grid"
    for series in uniform,7673,6 tube,15401,8; do
        tasks=${series#*,}
        for x in 50000 500000; do
            echo "cpu,fig5,octree,,${series%%,*},static,particles,$x,0,0,0,default,1,0.01,${tasks%,*},1,2,1,static:wave,${tasks#*,},1,1,1,0,0,1,twin"
        done
    done
} >"$tmp/rows/cederman2008.csv"

# Ten times the time for a hundred times the tasks; one scheduler's memory stays constant.
{
    head_of scale
    echo "$grid"
    for row in default,0.001,100,1000 default,0.01,10000,1000 static,0.002,100,4000 static,0.04,10000,500; do
        rest=${row#*,}
        tasks=${rest#*,}
        echo "cpu,fib,fib,,${row%%,*},x,n,1,0,0,0,default,1,${rest%%,*},${tasks%,*},1,2,1,x,1,1,1,${tasks#*,},0,0,1,twin"
    done
} >"$tmp/rows/scale.csv"

{
    head_of deques
    echo "$columns"
    echo "# cpu: left out: a file is missing"
} >"$tmp/rows/deques.csv"

# More queues than a plot can show, from 20 ms to 5.8 s. The page renames the terms of the rows.
{
    head_of kerbl-ratio
    echo "$columns"
    n=0
    for seconds in 0.0202 0.025 0.03 0.04 0.05 0.06 0.07 0.08 0.09 0.1 1 5.8; do
        n=$((n + 1))
        for push in 0.1 0.5 0.9; do
            echo "cuda:0,queue$n,ratio fma 0 1024 threads,thread,1024,1024,0,$push,1,0,1,$seconds,10,10,0,0,1,right,0,64"
        done
    done
} >"$tmp/rows/kerbl-ratio.csv"

# Long labels below an axis, and a bound that is the fastest.
{
    head_of peers
    echo "device,case,load,team,method,threads,repeat,seconds,processor_seconds,peak_bytes,tasks,check"
    for load in "regular 5.12M" "half 5.12M" "third 5.12M" "regular 51.20M" "half 51.20M" "third 51.20M"; do
        echo "cpu,foreach_peers,$load,one,sequential,1,1,0.01,0,0,0,right"
        echo "cpu,foreach_peers,$load,one,Ballast,1,1,0.02,0,0,0,right"
        echo "cpu,foreach_peers,$load,one,Thrust,1,1,0.03,0,0,0,right"
    done
    echo "cpu,queues_peers,8,all,faa,8,1,0.01,0,0,0,right"
    echo "cpu,queues_peers,8,all,wfq,8,1,0.06,0,0,0,right"
    echo "cpu,queues_peers,8,all,oneTBB,8,1,0.09,0,0,0,right"
} >"$tmp/rows/peers.csv"

span() { # NAME WORKER FROM TOOK, in microseconds
    echo ",{\"name\": \"$1\", \"ph\": \"X\", \"ts\": $3, \"dur\": $4, \"pid\": 1, \"tid\": $2, \"args\": {\"launch\": 0}}"
}
trace() { # SCHEDULER
    echo '{"displayTimeUnit": "ns", "otherData": {"app": "octree", "device": "cuda:0", "device_name": "<GPU>", "scheduler": "'"$1"'", "workers": 2,' \
        '"tasks": 77, "steals": 5, "version": "0"}, "traceEvents": ['
    echo '{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "cuda:0"}}'
}
{
    trace static:split
    span task 0 0 4000
    span task 1 0 1000
    span idle 1 1000.000 3000
    echo "]}"
} >"$tmp/rows/a-static.trace.json"
{
    trace "steal:<b>abp</b>"
    span task 0 0 2000
    span task 1 0 1000
    span search 1 1000 500
    span steal 1 1500 100
    span task 1 1600 400
    echo "]}"
} >"$tmp/rows/b-steal.trace.json"
{
    trace other | sed 's/"tasks": 77/"tasks": 78/'
    span task 0 0 40000
    span task 1 0 40000
    echo "]}"
} >"$tmp/rows/c-other.trace.json"

page=$tmp/rows/report.html
if ! timeout 60 "$tool" report "$tmp/rows" >"$tmp/out" 2>"$tmp/err"; then
    sed 's/^/  /' "$tmp/err"
    not_ok "a page is made" "expected status 0"
    finish
fi
ok "a page is made"

# ---- the text of the page ----

has "the summary: findings that hold" \
    "Of the 6 findings of the papers that these rows can test, <strong>5</strong> hold, <strong>0</strong> hold in part and <strong>1</strong> do not; 2 need"
has "the winner, over the second and the paper's" \
    "<small>cuda:0, threads 45,056</small></th><td class=\"winner\"><strong>broker</strong><small>22,528 million operations per second</small></td><td class=\"second\">gottlieb<small>5632 million operations per second</small></td><td class=\"lead\">4.000 ×</td><td class=\"range\">everywhere</td><td><span class=\"verdict yes\">holds</span><small>With 45056 threads broker does 4.000 times"
has "the winner by its median where the paper's method loses" \
    "<td class=\"winner\"><strong>sfq</strong><small>200 million operations per second</small></td><td class=\"second\">broker<small>100 million operations per second</small></td><td class=\"lead\">2.000 ×</td><td class=\"range\">everywhere</td><td><span class=\"verdict no\">does not hold</span>"
has "a bound does not win, however fast" \
    "<small>cpu, a loop, one worker, third 51.20M</small></th><td class=\"winner\"><strong>Ballast</strong><small>20 ms</small></td><td class=\"second\">Thrust<small>30 ms</small></td><td class=\"lead\">1.500 ×</td>"
has "a fetch-and-add is no queue" \
    "<small>cpu, queues alone, all workers, callers 8</small></th><td class=\"winner\"><strong>wfq</strong><small>60 ms</small></td><td class=\"second\">oneTBB<small>90 ms</small></td>"
has_not "a bound does not compete" "with sequential"
has "curves that are no rivals" \
    "A contended fetch-and-add</a><small>cpu</small></th><td colspan=\"4\" class=\"small\">not a contest: the curves do not compete</td>"
has "rows in groups, by suite" \
    "<tr class=\"group\"><th colspan=\"6\" scope=\"rowgroup\"><a href=\"#kerbl-pairs\">kerbl-pairs</a>"
has "words of the rows in words of people" "<h4>cuda:0, 1024 threads</h4>"
has "of many curves the best have a colour" "</svg>6 others: see the table</li>"
has "a count of what there is: neither more nor less is better" "tasks over particles; single measurements."
has "how much more the most work takes" \
    "From 100 to 10000 tasks, 100.0 times as many, the milliseconds grow 10.00 times for default, 20.00 times for static. Here default leads at tasks 10000 with 10.00 milliseconds, 4.000 times better than static."
has "a leader that is the reference, over the second" \
    "Here static leads at tasks 10000 with 0.0005 megabytes, 2.000 times better than default."
has "what no paper asks has its numbers" \
    "No paper asks this. Here Ballast leads at load third 51.20M with 20.00 milliseconds, 1.500 times better than Thrust."
has "a verdict with its numbers" \
    "With 45056 threads broker does 4.000 times what gottlieb does, the best of the others; broker does 4.000 times what gottlieb does."
has "a verdict over two devices" \
    "With about 10,000 threads on the GPU a fetch-and-add takes 10.00 times a plain access, with about 10 on the CPU 40.00 times."
has "a verdict where the paper's machine is missing" \
    "The paper measured a GPU. Here tz leads at threads 2 with 15.00 million operations per second."
has "the machine: processor" "<dt>Processor</dt>"
has "the machine: governor" "<dd>Some CPU, 8 cores, compiler gcc 1, governor performance</dd>"
has "the machine: GPU" "<dd>cuda:0: Some GPU, 132 multiprocessors, driver 1 (CUDA 13.0), compiler nvcc 13.0</dd>"
has "the machine: version and commit" "<dd>ballast 0.0.0, commit 1234567</dd>"
has "the machine is escaped" "<dd>Linux &lt;6&gt; &amp; &quot;more&quot;</dd>"
has "the question" "How many operations per second does a queue sustain when it never runs empty or full?"
has "what the paper found" "Kerbl et al. 2018, Figure 2a and 2c: the Broker Queue is the fastest"
has "the command" "reproduce with <code>ballast bench kerbl-pairs --out here</code>"
has "median and spread" "<td class=\"number best\">22,528<small>11,264–33,792</small></td>"
has "a table says what is in it" "<caption>million operations per second; columns: threads</caption>"
has "outliers stay" "<small>0.500–2816</small>"
has "a wrong row does not win" "<td class=\"number wrong\">WRONG</td>"
has "a wrong row is said" "a result failed verification: WRONG in the table"
has "bounds stand apart" "<tr class=\"bound\"><th scope=\"row\">faa</th>"
has "a zero on a logarithmic axis" "zeros (1) are drawn at the bottom"
has "remarks, escaped" "<li>cpu, pairs, lcrq: left out: it &lt;b&gt;waits&lt;/b&gt;</li>"
has "a suite that measured nothing" "<li>cpu: left out: a file is missing</li>"
has "an interrupted run" "The run was interrupted; these are the rows so far."
has "names from files are escaped" "<th scope=\"row\">&lt;script&gt;alert('&amp;')&lt;/script&gt;</th>"
has "a timeline" "<h4>a-static: octree, static:split, cuda:0</h4>"
has "a timeline, escaped" "<h4>b-steal: octree, steal:&lt;b&gt;abp&lt;/b&gt;, cuda:0</h4>"
has "a timeline in numbers" \
    "4 ms; 77 tasks by 2 workers, 5 steals; tasks 62.5 %, search and steal 0.0 %, idle 37.5 %, pause 0.0 % of their time; the least busy worker 25 %, the busiest 100 %."
has "stealing in numbers" "2 ms; 77 tasks by 2 workers, 5 steals; tasks 85.0 %, search and steal 15.0 %, idle 0.0 %"
has "timelines side by side in a sentence" \
    "octree on cuda:0: static:split took 4 ms, of which its workers ran tasks for 62 %; steal:&lt;b&gt;abp&lt;/b&gt; took 2 ms, of which its workers ran tasks for 85 %: <strong>2.000 times as fast</strong>."
has_not "timelines of another problem are not compared" "c-other took"
has_not "nothing of a file is a tag" "<script"
has_not "nothing is fetched" "url("
if grep -oi 'src=\|https\{0,1\}://[a-z.]*\|@import' "$page" | grep -q .; then
    not_ok "nothing is fetched from elsewhere" \
        "$(grep -oi 'src=\|https\{0,1\}://[a-z.]*\|@import' "$page" | sort | uniq -c)"
else
    ok "nothing is fetched from elsewhere"
fi
if [ "$(grep -c '<svg *$\|<div class="plot"' "$page")" -ge 15 ] &&
    [ "$(grep -o '</svg></div>' "$page" | wc -l)" -eq 15 ]; then
    ok "a plot for every panel"
else
    not_ok "a plot for every panel" "expected 15"
fi
twice=$(grep -o "id=['\"][^'\"]*['\"]" "$page" | tr -d "'\"" | sort | uniq -d | head -n 3)
if [ -z "$twice" ]; then ok "no name twice"; else not_ok "no name twice" "$twice"; fi

# ---- words with a special meaning to gnuplot or a browser, and many of them ----

mkdir "$tmp/hostile" "$tmp/many"
{
    head_of peers
    echo "device,case,load,team,method,threads,repeat,seconds,processor_seconds,peak_bytes,tasks,check"
    for load in '100%' '%999999999f' "''''" '""""' '`touch run`' '@x' 'a\' '<script>' '%s%n' '$(id)' '' '# no'; do
        printf 'cpu,foreach_peers,%s,one,Ballast,1,1,0.02,0,0,0,right\n' "$load"
        printf 'cpu,foreach_peers,%s,one,Thr`ust,1,1,0.03,0,0,0,right\n' "$load"
    done
} >"$tmp/hostile/peers.csv"
page=$tmp/hostile/report.html
status=0
(cd "$tmp" && timeout 60 "$tool" report "$tmp/hostile") >"$tmp/out" 2>"$tmp/err" || status=$?
if [ "$status" -eq 0 ] && [ ! -s "$tmp/err" ]; then
    ok "a page of hostile words"
else
    not_ok "a page of hostile words" "$(cat "$tmp/err")"
fi
for word in '100%' '%999999999f' "''''" '`touch run`' '@x' 'a\' '%s%n' '&lt;script>' '# no'; do
    has "the word $word at an axis" ">$word</text>"
done
has_not "no word is a tag" "<script"
if [ -e "$tmp/run" ]; then not_ok "no word is a command" "expected no file"; else ok "no word is a command"; fi

# Took 46 s for 200 curves while each was compared with every other, repeatedly.
{
    head_of kerbl-pairs
    echo "$columns"
    awk 'BEGIN { for (i = 1; i <= 3000; i++) {
        printf "cuda:0,q%d,pairs,thread,32,1024,0,1,1,0,1,0.5,10,10,0,0,%d,right,0,64\n", i, i
        printf "cuda:1,q%d,pairs,thread,%d,1024,0,1,1,0,1,0.5,10,10,0,0,7,right,0,64\n", i, i } }'
} >"$tmp/many/kerbl-pairs.csv"
page=$tmp/many/report.html
if timeout 60 "$tool" report "$tmp/many" >"$tmp/out" 2>"$tmp/err"; then
    ok "panels of 3000 curves in time"
else
    not_ok "panels of 3000 curves in time" "$(cat "$tmp/err")"
fi
has "the best of 3000" "<td class=\"winner\"><strong>q3000</strong><small>3000 million"
has "a table of 3000 curves with a place each is a list" \
    "<tr><th scope=\"row\">q2999</th><td class=\"number\">2999</td><td class=\"number best\">7</td></tr>"
page=$tmp/rows/report.html

# ---- how a browser renders it ----

browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name || true)
done
if [ -z "$browser" ]; then
    echo "skipped: no chromium to inspect the page"
    finish
fi

# A frame of the given width, and a script outside the page that measures its contents.
look() { # NAME WIDTH FLAGS...
    name=$1
    cat >"$tmp/look.html" <<END
<!DOCTYPE html><meta charset="utf-8"><meta name="color-scheme" content="light dark"><body style="margin:0">
<iframe id="f" src="file://$page" style="border:0;width:$2px;height:900px"></iframe><pre id="said">not yet</pre>
<script>
const wrong = [];
function inside(a, b, slack) { return a.left >= b.left - slack && a.right <= b.right + slack && a.top >= b.top - slack && a.bottom <= b.bottom + slack; }
/* The box of a text as it lies, slanted or not; letters do not fill its height. */
function corners(t) {
    const b = t.getBBox(), m = t.getScreenCTM(), top = b.y + 0.2 * b.height, foot = b.y + 0.8 * b.height;
    return [[b.x, top], [b.x + b.width, top], [b.x + b.width, foot], [b.x, foot]].map(p => [m.a * p[0] + m.c * p[1] + m.e, m.b * p[0] + m.d * p[1] + m.f]);
}
/* Two boxes are apart when a line along a side of one of them parts them. */
function over(a, b) {
    for (const box of [a, b])
        for (let i = 0; i < 4; i++) {
            const p = box[i], q = box[(i + 1) % 4], along = c => (q[1] - p[1]) * c[0] - (q[0] - p[0]) * c[1];
            const x = a.map(along), y = b.map(along);
            if (Math.max(...x) <= Math.min(...y) || Math.max(...y) <= Math.min(...x)) return false;
        }
    return true;
}
/* Labels of the y axis end where it begins; they must be spread over it. */
function scaled(texts, box) {
    const all = texts.filter(t => t.parentNode.getAttribute('text-anchor') === 'end' && !/rotate/.test(t.parentNode.getAttribute('transform'))).map(t => t.getBoundingClientRect().top);
    return all.length > 1 && Math.max(...all) - Math.min(...all) > 0.35 * box.height;
}
function look() {
    const d = document.getElementById('f').contentDocument, w = d.documentElement.clientWidth;
    if (d.documentElement.scrollWidth > w) wrong.push('the page is ' + d.documentElement.scrollWidth + ' wide');
    const plots = d.querySelectorAll('.plot svg');
    if (plots.length !== 15) wrong.push(plots.length + ' plots');
    for (const svg of plots) {
        const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')].filter(t => t.textContent.trim());
        if (box.width < 250 || box.height < 150 || box.right > w) wrong.push('a plot of ' + box.width + ' by ' + box.height);
        if (svg.querySelectorAll('path, polygon').length < 5 || texts.length < 5) wrong.push('a plot without curves or labels');
        for (const t of texts) {
            const r = t.getBoundingClientRect();
            if (!inside(r, box, 1)) wrong.push('clipped: ' + t.textContent);
            if (r.height < 9) wrong.push('small: ' + t.textContent);
            for (const o of texts) if (o !== t && over(corners(t), corners(o))) wrong.push('over each other: ' + t.textContent + ', ' + o.textContent);
        }
        if (!scaled(texts, box)) wrong.push('a y axis without labels over its length: ' + texts.map(t => t.textContent.trim()).join(' '));
        for (const u of svg.querySelectorAll('use')) if (!d.querySelector(u.getAttribute('href'))) wrong.push('no shape ' + u.getAttribute('href'));
    }
    for (const e of d.querySelectorAll('h1,h2,h3,h4,h5,p,li,dd,dt,figcaption,nav a,.finding,.scroll')) {
        const r = e.getBoundingClientRect();
        if (e.closest('details:not([open])')) continue;
        if (r.width === 0 || r.right > w + 1) wrong.push('beyond the edge: ' + e.textContent.slice(0, 40));
        if (!e.matches('.scroll') && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible') wrong.push('cut off: ' + e.textContent.slice(0, 40));
    }
    const fills = ['task', 'steal', 'idle', 'pause', 'back'].map(n => getComputedStyle(d.documentElement).getPropertyValue('--' + n));
    const light = fills.map(c => [1, 3, 5].reduce((sum, at, i) => sum + [0.3, 0.59, 0.11][i] * parseInt((c.length === 4 ? c.replace(/[^#]/g, '\$&\$&') : c).slice(at, at + 2), 16), 0)).sort((a, b) => a - b);
    for (let i = 1; i < light.length; i++) if (!(light[i] - light[i - 1] > 12)) wrong.push('timelines: two colours alike in grey: ' + fills.join(' '));
    const probe = getComputedStyle(d.querySelector('.plot svg path')).stroke, back = getComputedStyle(d.body).backgroundColor;
    if (probe === back) wrong.push('drawn in the colour of the page');
    document.getElementById('said').textContent = 'LOOKED ' + (wrong.length ? 'WRONG ' + [...new Set(wrong)].slice(0, 8).join('; ') : 'fine on ' + back);
}
window.addEventListener('load', look);
</script>
END
    width=$2
    shift 2
    timeout 120 "$browser" \
        --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$tmp/profile" \
        --allow-file-access-from-files --enable-logging=stderr --window-size=$((width > 500 ? width : 500)),1000 \
        --virtual-time-budget=5000 "$@" --dump-dom "file://$tmp/look.html" >"$tmp/dom" 2>"$tmp/log" || true
    said=$(sed -n 's/.*id="said">LOOKED \([^<]*\).*/\1/p' "$tmp/dom" | tail -n 1)
    errors=$(grep 'CONSOLE' "$tmp/log" | head -n 3)
    case "$said" in
    fine*) if [ -z "$errors" ]; then ok "$name: $said"; else not_ok "$name" "$errors"; fi ;;
    *) not_ok "$name" "${said:-the browser said nothing: $(tail -n 2 "$tmp/log")} $errors" ;;
    esac
}

dark="--blink-settings=preferredColorScheme=0"
look "a phone" 390
look "a phone in the dark" 390 $dark
look "a screen" 1280
look "a screen in the dark" 1280 $dark
if timeout 120 "$browser" \
    --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$tmp/profile" \
    --print-to-pdf="$tmp/page.pdf" "file://$page" >"$tmp/out" 2>"$tmp/log" && [ "$(head -c 4 "$tmp/page.pdf")" = "%PDF" ]; then
    ok "it prints"
else
    not_ok "it prints" "$(tail -n 2 "$tmp/log")"
fi
finish
