#include "cli/storm/naive.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

namespace tenure::cli {
namespace {

/// The hand-made thread pool that everybody writes.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      is_stopping_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  void submit(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    ready_.notify_one();
  }

 private:
  void work() {
    while (true) {
      std::function<void()> next;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return is_stopping_ || !queue_.empty(); });
        if (queue_.empty()) return;
        next = std::move(queue_.front());
        queue_.pop_front();
      }
      next();
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> queue_;
  bool is_stopping_ = false;
  std::vector<std::thread> threads_;
};

/// The page that everybody writes.
class NaivePage {
 public:
  NaivePage(Engine& engine, const ModelSpec& model, Pool& pool) : pool_(pool) {
    StopSignal never;
    device_ = engine.open_device(model.device);
    instance_ = device_->load(ModelSource{model.file, nullptr}, InstanceOptions{}, never);
    context_ = instance_->create_context();
  }
  NaivePage(const NaivePage&) = delete;
  NaivePage& operator=(const NaivePage&) = delete;

  void run_inference() {
    auto cancelled = cancelled_;
    EngineContext* context = context_.get();
    const ModelSignature* signature = &instance_->signature();
    pool_.submit([cancelled, context, signature] {
      if (*cancelled) return;  // "future.cancel": of no use once native code runs
      TensorList inputs;
      TensorList outputs;
      for (const TensorSpec& spec : signature->inputs) inputs.add(Tensor(spec));
      for (const TensorSpec& spec : signature->outputs) outputs.add(Tensor(spec));
      std::vector<ConstTensorView> in;
      std::vector<TensorView> out;
      for (const Tensor& tensor : inputs) in.push_back({&tensor.spec(), tensor.bytes()});
      for (Tensor& tensor : outputs) out.push_back({&tensor.spec(), tensor.bytes()});
      StopSignal never;
      context->run(in, out, never);
    });
  }
  ~NaivePage() { *cancelled_ = true; }  // and the interpreter goes, while the pool may be inside it

 private:
  Pool& pool_;
  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<EngineDevice> device_;
  std::unique_ptr<EngineInstance> instance_;
  std::unique_ptr<EngineContext> context_;
};

}  // namespace

std::uint64_t run_naive_storm(const std::vector<ModelSpec>& models, Engine& engine, std::uint64_t pages,
                              std::uint64_t seed, const std::function<void(double)>& progress) {
  std::mt19937_64 random(seed);
  Pool pool(2);
  std::uint64_t left = 0;
  for (; left < pages; ++left) {
    const ModelSpec& model = models[random() % models.size()];
    NaivePage page(engine, model, pool);
    for (int i = 0; i < 4; ++i) page.run_inference();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    progress(static_cast<double>(left) / static_cast<double>(pages));
  }
  return left;
}

}  // namespace tenure::cli
