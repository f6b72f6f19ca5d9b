-- Returns a tenant's ledger as the next command would find it.
--
-- Guarantee: reads only.
-- KEYS[1]  the pool
-- ARGV     now_ms, {tenant}
-- Reply    {limit|false, held, spent, overrun, late, held_before, spent_before, spent_total, period_end}, or false
-- Events   none
--- @include ledger
local t = load_tenant(request.tenant)
if not t then
  return cmsgpack.pack(false)
end
return cmsgpack.pack({ t.budget >= 0 and whole_budget(t), held_of(t), t.spent, t.overrun, t.late, t.held_before,
  t.spent_before, t.spent_total, t.period_end })
