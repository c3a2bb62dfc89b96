# The rows of a result of Scripts/bench that have goals, as a table for docs/performance.md; $name is its file.

include "result";

def cell: gsub("\\|"; "\\|");

checked($name)
| ("Commit \(.commit | shown), \(.cpu | shown), \(.processors | shown) processors, load average \(.load.before | figure) before and \(.load.after | figure) after"
  + if .quick then "; A QUICK RUN, WHICH HAS NO GOALS" else "" end + ":",
  "",
  "| measurement | value | beside | ratio | goal | |",
  "|---|---|---|---|---|---|",
  (.rows[] | select(.goal)
   | "| \(.name | cell) | \(.value | figure) \(.unit) | \(.limit_or_peer | cell) | \(.ratio // "" | if . == "" then . else figure end) "
     + "| \(.goal_is) \(.goal | figure) | \(if .missed then "**missed**" else "" end) |"))
