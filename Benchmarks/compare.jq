# Compares two results of Scripts/bench: $old and $new are arrays with one each, $old_name and $new_name their files. A line for each
# row that both have, then what only one of them has, and what figures depend on besides the program.

include "result";

def earlier: $old[0] | checked($old_name);
def later: $new[0] | checked($new_name);

def padded(width): . + " " * (width - length);
def padded_left(width): " " * (width - length) + .;

def change($from; $to):
  if $from == 0 then "-"
  else ($to - $from) / $from * 1000 | round / 10 | (if . > 0 then "+" else "" end) + tostring + " %"
  end;

def cells($from; $to):
  if $from.unit == $to.unit then [$to.name, $to.unit, ($from.value | figure), ($to.value | figure), change($from.value; $to.value)]
  else [$to.name, "\($from.unit), now \($to.unit)", ($from.value | figure), ($to.value | figure), "-"]
  end;

def table:
  . as $lines
  | [range(5) as $column | [$lines[][$column] | length] | max] as $widths
  | $lines[]
  | [range(5) as $column | .[$column] | if $column > 1 then padded_left($widths[$column]) else padded($widths[$column]) end]
  | join("  ");

def only_in($name; $these; $others):
  ($others.rows | map(.name)) as $known | $these.rows[].name | select(. as $name | $known | index($name) | not) | "Only in \($name): \(.)";

def circumstance($title; path):
  (earlier | path | shown) as $from | (later | path | shown) as $to
  | select($from != $to) | "\($title): \($from), now \($to)";

(reduce later.rows[] as $row ({}; .[$row.name] = $row)) as $now
| ([["measurement", "unit", "old", "new", "change"]]
   + [earlier.rows[] | . as $row | $now[.name] | values | cells($row; .)] | table),
  only_in($old_name; earlier; later),
  only_in($new_name; later; earlier),
  circumstance("Another commit"; .commit),
  circumstance("Other flags of the compiler"; .flags),
  circumstance("ANOTHER PROCESSOR"; .cpu),
  circumstance("ANOTHER NUMBER OF PROCESSORS"; .processors),
  circumstance("Another load average before"; .load.before),
  (select([earlier.quick, later.quick] | any) | "A quick run is among them: its figures are not to be compared.")
