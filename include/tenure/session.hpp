#pragma once

/// Runtime, sessions and slots, with the coroutine library.
#include <tenure/coro.hpp>
#include <tenure/session/load.hpp>
#include <tenure/session/runtime.hpp>
#include <tenure/session/session.hpp>
#include <tenure/session/session_slot.hpp>
