// What owner.cancel() costs its caller, in CPU time of its thread, with 100 requests queued.
#include <cstdio>
#include <cstdlib>
#include <tenure/session.hpp>
#include <thread>

#include "bench/benchmarks.hpp"
#include "bench/paired.hpp"
#include "engines/fake/fake_engine.hpp"

namespace tenure::bench {
namespace {

using namespace std::chrono_literals;
constexpr int kQueued = 100;

Task<void> run_once(Session session) {
  Inputs inputs;
  inputs.add(Tensor(session.signature().inputs[0]));
  Outputs outputs = co_await session.run(std::move(inputs));
}

std::vector<double> measure_cancel(Dispatcher& where, int rounds) {
  testing::FakeEngine engine{testing::FakeScript{.run_time = 100ms, .stops = Stops::kPerNode, .steps = 200}};
  Runtime runtime;
  runtime.add_engine(engine.share());
  std::vector<double> costs;
  Owner app = runtime.open("app");
  Session session = block_on(app.scope(), load_session(app.scope(), "slow.fake"));
  for (int round = 0; round < rounds; ++round) {
    Owner page = runtime.open("page", where);
    for (int i = 0; i < kQueued; ++i) page.launch(run_once, session);
    while (session.waiting() + session.running() < kQueued) {
      if (where.run_ready() == 0) std::this_thread::yield();
    }
    const Duration begin = os::thread_cpu_time();
    page.cancel();
    costs.push_back(static_cast<double>((os::thread_cpu_time() - begin).count()) / 1000);
    detail::wait_here(page.scope().node(), &where, -1ns);
    while (session.running() > 0) std::this_thread::yield();
  }
  return costs;
}

void print(const char* name, std::vector<double> costs) {
  std::sort(costs.begin(), costs.end());
  const std::size_t p99 = costs.size() * 99 / 100;
  std::printf("%-28s p50 %6.1f us, p99 %6.1f us, max %6.1f us\n", name, costs[costs.size() / 2], costs[p99],
              costs.back());
}

}  // namespace

void owner_cancel(int rounds) {
  LoopDispatcher screen;
  print("cancel, owner on its thread", measure_cancel(screen, rounds));
  ThreadPool pool(2);
  print("cancel, owner on the pool", measure_cancel(pool, rounds));
}

}  // namespace tenure::bench
