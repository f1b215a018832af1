#pragma once

/// All of the coroutine library.
#include <tenure/coro/as_outcome.hpp>
#include <tenure/coro/channel.hpp>
#include <tenure/coro/completable_deferred.hpp>
#include <tenure/coro/confined_dispatcher.hpp>
#include <tenure/coro/delay.hpp>
#include <tenure/coro/finally.hpp>
#include <tenure/coro/limited_dispatcher.hpp>
#include <tenure/coro/mutex.hpp>
#include <tenure/coro/owner.hpp>
#include <tenure/coro/scopes.hpp>
#include <tenure/coro/start.hpp>
#include <tenure/coro/suspend.hpp>
#include <tenure/coro/thread_pool.hpp>
#include <tenure/coro/timer_thread.hpp>
#include <tenure/coro/when_all.hpp>
