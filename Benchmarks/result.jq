# What the programs that read a result of Scripts/bench share.

def is_result:
  type == "object" and (.rows | type == "array")
  and all(.rows[]; type == "object" and (.name | type == "string") and (.value | type == "number") and (.unit | type == "string"));

# The result, or an end with a sentence.
def checked($name):
  if is_result then . else "\($name) is no result of Scripts/bench: it has no rows with name, value and unit.\n" | halt_error(65) end;

def shown: if . == null then "unknown" else tostring end;

# About three digits that count.
def figure:
  if . == null then shown
  else (if . < 0 then -. else . end) as $size
  | if $size >= 100 then round elif $size >= 10 then (. * 10 | round) / 10 else (. * 100 | round) / 100 end
  | tostring
  end;
