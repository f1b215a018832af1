#include <mutex>
#include <tenure/base/check.hpp>
#include <tenure/resource/tiers.hpp>

namespace tenure {

struct DeviceLease::Slot {
  explicit Slot(Ledger& ledger) noexcept : ledger(ledger) {}
  Ledger& ledger;
  // A mutex and not a Lock: it is held while the device is opened or freed, which may take seconds.
  std::mutex opening;
  int leases = 0;
  LedgerRecord record;
  std::unique_ptr<EngineDevice> device;
};

DeviceTable::DeviceTable(Ledger& ledger) noexcept : ledger_(ledger) {}
DeviceTable::~DeviceTable() = default;

DeviceLease DeviceTable::acquire(Engine& engine, const std::string& device, const std::string& creator) {
  DeviceLease::Slot* slot = nullptr;
  {
    const LockGuard guard(lock_);
    std::unique_ptr<DeviceLease::Slot>& found = slots_[{&engine, device}];
    if (found == nullptr) found = std::make_unique<DeviceLease::Slot>(ledger_);
    slot = found.get();
  }
  const std::lock_guard guard(slot->opening);
  if (slot->leases == 0) {
    slot->device = engine.open_device(device);
    const std::string name = std::string(engine.name()) + " " + device;
    slot->record = LedgerRecord(ledger_, ledger_.add(Tier::kDevice, 0, name, creator, slot->device->bytes()));
  }
  ++slot->leases;
  return DeviceLease(*slot);
}

DeviceLease::~DeviceLease() {
  if (slot_ == nullptr) return;
  const std::lock_guard guard(slot_->opening);
  if (--slot_->leases > 0) return;
  slot_->device.reset();
  slot_->record = LedgerRecord();
}

EngineDevice& DeviceLease::device() const noexcept { return *slot_->device; }
std::uint64_t DeviceLease::ledger_id() const noexcept { return slot_->record.id(); }

InstanceTier::InstanceTier(DeviceLease lease, std::unique_ptr<EngineInstance> instance, Ledger& ledger,
                           std::string name, std::string creator)
    : lease_(std::move(lease)),
      instance_(std::move(instance)),
      record_(ledger, ledger.add(Tier::kInstance, lease_.ledger_id(), std::move(name), std::move(creator),
                                 instance_->bytes())) {}

InstanceTier::~InstanceTier() {
#if !defined(TENURE_MUTATION_INSTANCE_FIRST)
  TENURE_CHECK(contexts_.load(std::memory_order_acquire) == 0, "an instance is freed after its contexts (I13)");
#endif
  instance_.reset();
}

ContextTier::ContextTier(InstanceTier& instance, Ledger& ledger, std::string name, std::string creator)
    : instance_(instance), context_(instance.engine_instance().create_context()) {
  record_ = LedgerRecord(ledger, ledger.add(Tier::kContext, instance.record().id(), std::move(name), std::move(creator),
                                            context_->bytes()));
  instance_.contexts_.fetch_add(1, std::memory_order_relaxed);
}

ContextTier::~ContextTier() {
  context_.reset();
#if !defined(TENURE_MUTATION_INSTANCE_FIRST)
  // release: the instance's end sees that the context is gone.
  instance_.contexts_.fetch_sub(1, std::memory_order_release);
#endif
}

}  // namespace tenure
