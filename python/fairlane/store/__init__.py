"""The only place that knows Redis: keys, Lua scripts, their messages, and the client that runs them."""
