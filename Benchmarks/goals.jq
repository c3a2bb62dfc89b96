# The rows of a result of Scripts/bench that have goals, as a table for docs/performance.md.

def figure:
  if . >= 100 then round elif . >= 10 then (. * 10 | round) / 10 else (. * 100 | round) / 100 end | tostring;

def cell: gsub("\\|"; "\\|");

"Commit \(.commit), \(.cpu), \(.processors) processors, load average \(.load.before | figure) before and \(.load.after | figure) after"
+ if .quick then "; A QUICK RUN, WHICH HAS NO GOALS" else "" end + ":",
"",
"| measurement | value | beside | ratio | goal | |",
"|---|---|---|---|---|---|",
(.rows[] | select(.goal)
 | "| \(.name | cell) | \(.value | figure) \(.unit) | \(.limit_or_peer | cell) | \(.ratio // "" | if . == "" then . else figure end) "
   + "| \(.goal_is) \(.goal | figure) | \(if .missed then "**missed**" else "" end) |")
