#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tenure/base/atomic.hpp>
#include <tenure/base/lock.hpp>
#include <tenure/engine/engine.hpp>
#include <tenure/resource/ledger.hpp>

namespace tenure {

class DeviceTable;

/// The right to use a device; the device lives until its last lease is gone. Move-only.
class [[nodiscard]] DeviceLease {
 public:
  DeviceLease(DeviceLease&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }
  DeviceLease(const DeviceLease&) = delete;
  DeviceLease& operator=(const DeviceLease&) = delete;
  ~DeviceLease();

  [[nodiscard]] EngineDevice& device() const noexcept;
  [[nodiscard]] std::uint64_t ledger_id() const noexcept;

 private:
  friend class DeviceTable;
  struct Slot;
  explicit DeviceLease(Slot& slot) noexcept : slot_(&slot) {}
  Slot* slot_;
};

/// The devices in use, one of each engine and name.
///
/// Returns   `acquire`: a lease; the device is opened for the first and freed by the last.
/// Errors    what opening it throws; kUnavailable where it isn't here.
/// Cancel    no cancellation point; opening may take long, so it is a lane's work.
/// Threads   any; whoever asks for a device that is being opened or freed waits for that.
class DeviceTable {
 public:
  explicit DeviceTable(Ledger& ledger) noexcept;
  DeviceTable(const DeviceTable&) = delete;
  DeviceTable& operator=(const DeviceTable&) = delete;
  ~DeviceTable();

  DeviceLease acquire(Engine& engine, const std::string& device, const std::string& creator);

 private:
  friend class DeviceLease;
  Ledger& ledger_;
  Lock lock_;
  std::map<std::pair<Engine*, std::string>, std::unique_ptr<DeviceLease::Slot>> slots_ TENURE_GUARDED_BY(lock_);
};

class ContextTier;

/// Tier 2: a loaded model, with the lease on its device that it needs. Freed where its end is: on the lane's thread.
class InstanceTier {
 public:
  InstanceTier(DeviceLease lease, std::unique_ptr<EngineInstance> instance, Ledger& ledger, std::string name,
               std::string creator);
  InstanceTier(const InstanceTier&) = delete;
  InstanceTier& operator=(const InstanceTier&) = delete;
  ~InstanceTier();

  [[nodiscard]] EngineInstance& engine_instance() const noexcept { return *instance_; }
  [[nodiscard]] const LedgerRecord& record() const noexcept { return record_; }

 private:
  friend class ContextTier;
  // Released backwards, also where the constructor fails half-way; the destructor frees the instance before its entry.
  DeviceLease lease_;
  std::unique_ptr<EngineInstance> instance_;
  LedgerRecord record_;
  Atomic<int> contexts_{0};
};

/// Tier 3: what one run needs, holding the instance that it was made from.
class ContextTier {
 public:
  ContextTier(InstanceTier& instance, Ledger& ledger, std::string name, std::string creator);
  ContextTier(const ContextTier&) = delete;
  ContextTier& operator=(const ContextTier&) = delete;
  ~ContextTier();

  [[nodiscard]] EngineContext& engine_context() const noexcept { return *context_; }
  [[nodiscard]] const LedgerRecord& record() const noexcept { return record_; }

 private:
  InstanceTier& instance_;
  LedgerRecord record_;
  std::unique_ptr<EngineContext> context_;
};

}  // namespace tenure
